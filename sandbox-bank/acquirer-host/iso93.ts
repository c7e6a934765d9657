/**
 * The host's dialect of ISO 8583:1993. A request is converted to the fields and message types of
 * 1987, in which the host decides, and its answer is converted back. All ports therefore decide
 * alike.
 */
import { type IsoMessage, iso93Ascii, responseMti } from "@tollgate/protocols/iso8583";
import { parseAmount } from "../money.ts";
import { ascii, type HostDialect, type HostRequest } from "./dialects.ts";
import { totalsFields } from "./totals.ts";

export const iso93: HostDialect = {
  ...ascii,
  gate: "sandbox-iso93",
  specification: iso93Ascii,
  framing: "ascii-4",
  answersInquiries: false,
  answersTotals: true,
  authenticatesNetwork: true,
  keys: {
    ask: "161",
    write: (key) => ({
      96: key.length > 60 ? Buffer.from(key).toString("hex").toUpperCase() : key,
    }),
    deliver({ trace, iso }) {
      const at = iso.replace(/\D/g, "").slice(2, 14);
      return { mti: "1804", fields: { 7: at.slice(2), 11: trace, 12: at, 24: "811" } };
    },
  },
  read,
  write,
};

/** Fields that mean the same in both editions. */
const sharedFields = [
  2,
  3,
  4,
  7,
  11,
  14,
  32,
  37,
  38,
  41,
  42,
  43,
  48,
  49,
  62,
  63,
  120,
  ...totalsFields,
];

/** Fields that are returned unchanged. Hosts of this edition echo the card number too. */
const echoedFields = [2, 12, 28, 59];

const networkCodes: ReadonlyMap<string, string> = new Map([
  ["801", "001"],
  ["802", "002"],
  ["831", "301"],
  ["811", "161"],
]);

/** Entry modes by position 7 of field 22. */
const entryModes: ReadonlyMap<string, string> = new Map([
  ["1", "010"],
  ["7", "100"],
  ["S", "810"],
]);

/**
 * Reads a request. One that lacks a field which this edition demands becomes one that the host
 * cannot read.
 */
function read(raw: IsoMessage): HostRequest {
  const fields: { [field: number]: string } = {};
  for (const field of isComplete(raw) ? sharedFields : [3, 7, 37, 41, 42]) {
    const value = raw.fields[field];
    if (value !== undefined) fields[field] = value;
  }
  const {
    12: at = "",
    22: places,
    24: code = "",
    25: reason,
    26: category,
    28: reconciliationDay = "",
    30: amounts,
    56: named = "",
  } = raw.fields;
  fields[12] = at.slice(6);
  fields[13] = at.slice(2, 6);
  if (places !== undefined) fields[22] = entryModes.get(places[6] ?? "") ?? "000";
  if (category !== undefined) fields[18] = category;
  if (places?.[4] === "3") fields[25] = "08";
  if (code === "108") fields[25] = "51";
  if (raw.mti === "1500") fields[15] = reconciliationDay.slice(2);
  if (raw.mti === "1804") fields[70] = networkCodes.get(code) ?? "000";
  if (code === "401" && amounts !== undefined) {
    fields[95] = (raw.fields[4] ?? "").padEnd(42, "0");
    fields[4] = amounts.slice(0, 12);
  }
  const mti = mtiOf(raw.mti, reason);
  if (!mti.startsWith("040")) return { mti, fields, raw };
  const changed = { mti: `0${named.slice(1, 4)}`, trace: named.slice(4, 10) };
  return { mti, fields, raw, changed: { ...changed, amount: parseAmount(amounts?.slice(0, 12)) } };
}

/**
 * Returns the message type of 1987. A reversal because the customer cancels is a return, which the
 * host may refuse.
 */
function mtiOf(mti: string, reason: string | undefined): string {
  if (mti === "1804" || mti === "1814") return mti === "1804" ? "0800" : "0810";
  return mti.startsWith("142") && reason === "4000" ? `040${mti[3]}` : `0${mti.slice(1)}`;
}

const localTime = /^\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d){2}$/;
const originalData = /^1\d{3}\d{6}\d{12}(0[1-9]|1[01])\d{1,11}$/;

function isComplete({ mti, fields }: IsoMessage): boolean {
  const { 12: at = "", 24: code, 25: reason = "", 30: amounts = "", 56: original = "" } = fields;
  if (!localTime.test(at) || code === undefined) return false;
  if (mti === "1804") return true;
  if (mti === "1500") return /^50[0-3]$/.test(code) && fields[28] !== undefined;
  if (fields[26] === undefined || fields[32] === undefined) return false;
  // A payout names no other message, also when it is repeated.
  const isPayout = mti === "1201" && fields[3]?.startsWith("26") === true;
  if (mti === "1100" || mti === "1200" || isPayout) return fields[22]?.length === 12;
  if (!originalData.test(original)) return false;
  const needsAmounts = code === "401" || code === "202";
  if (needsAmounts && amounts === "") return false;
  return !mti.startsWith("142") || /^4\d{3}$/.test(reason);
}

// biome-ignore format: a table
const actionCodes: ReadonlyMap<string, string> = new Map([
  ["00", "000"], ["10", "002"],
  ["04", "200"], ["05", "100"], ["12", "902"], ["13", "110"], ["14", "111"], ["1A", "161"],
  ["25", "914"], ["30", "904"], ["41", "208"], ["43", "209"], ["46", "163"], ["51", "116"],
  ["54", "101"], ["57", "119"], ["58", "120"], ["59", "202"], ["61", "121"], ["62", "104"],
  ["65", "123"], ["N7", "160"],
  ["06", "909"], ["98", "916"], ["09", "923"], ["68", "911"], ["91", "912"], ["94", "913"], ["95", "501"], ["96", "909"],
]);

/** The action code of an accepted message by its class. A charge or capture has 000. */
const acceptedByClass: Readonly<Record<string, string>> = { "4": "400", "5": "500", "8": "800" };

function write({ fields: answered }: IsoMessage, { raw, fields: asked }: HostRequest): IsoMessage {
  const { 12: _, 13: __, 15: day = "", 39: code = "", 66: ___, 70: ____, ...others } = answered;
  const fields: { [field: number]: string } = { ...others, 15: settlementDay(raw, day) };
  for (const field of echoedFields) {
    const value = raw.fields[field];
    if (value !== undefined) fields[field] = value;
  }
  const accepted = code === "00" ? acceptedByClass[raw.mti[1] ?? ""] : undefined;
  fields[39] = accepted ?? actionCodes.get(code) ?? (code.length === 3 ? code : "909");
  if (code === "10") fields[30] = (asked[4] ?? "").padEnd(24, "0");
  else if (raw.fields[4] !== undefined) fields[4] = raw.fields[4];
  return { mti: responseMti(raw.mti), fields };
}

/** Returns the day as YYMMDD with the year of the request. */
function settlementDay({ fields }: IsoMessage, day: string): string {
  return (fields[12] ?? "").slice(0, 2) + day;
}
