/**
 * The fields that ISO 8583:1987 itself defines, as rows that dialects share. A host with other
 * habits leaves rows out and has its own. The card number is revealed here.
 */
import { Buffer } from "node:buffer";
import { type IsoFields, writeOriginalData } from "@tollgate/protocols/iso8583";
import type { DayTotals } from "../../orders/settlement-items.ts";
import type { Network } from "../../values/card-number.ts";
import type { LocalTime } from "../../values/time.ts";
import {
  aboutCharge,
  all,
  allButInquiry,
  type Calendar,
  changes,
  charges,
  credits,
  type FactRow,
  type Facts,
  type GateRow,
  type NetworkMessages,
  payments,
  type TotalsMessage,
} from "./dialect.ts";

export const iso87GateRows: readonly GateRow[] = [
  [3, [...charges, ...changes], () => "000000"], // purchase
  [3, ["refund"], () => "200000"], // payment to the card
  [3, ["payout"], () => "260000"], // original credit
  [18, allButInquiry, ({ categoryCode }) => categoryCode],
  [19, allButInquiry, ({ countryCode }) => countryCode],
  [25, ["account-verification"], () => "51"], // is the card good?
  [39, ["reversal"], () => "68"], // no answer came in time
  [43, [...charges, ...credits], ({ nameAndPlace }) => nameAndPlace.padEnd(40)],
];

/** Terminal, merchant and acquirer are those of the charge, even if the gate has others by now. */
export const iso87Rows: readonly FactRow[] = [
  [2, allButInquiry, ({ card }) => card.number.reveal()],
  [4, [...charges, "reversal", "capture", ...credits], ({ amount }) => writeAmount(amount.minor)],
  [4, ["return"], amountBefore],
  [7, all, ({ sent }) => transmissionTime(sent)],
  [11, all, ({ traceNumber }) => traceNumber],
  [12, [...charges, ...credits], ({ local }) => local.hour + local.minute + local.second],
  [13, [...charges, ...credits], ({ local }) => local.month + local.day],
  [14, allButInquiry, ({ card }) => expiry(card)],
  [22, [...charges, "reversal", ...credits], entryMode],
  [25, [...payments, ...changes, ...credits], condition],
  [32, all, ({ acquirerId }) => acquirerId],
  [37, all, ({ reference, identifiers }) => reference ?? identifiers.reference],
  [38, changes, ({ original }) => original?.approvalCode?.padEnd(6)],
  [41, all, ({ identifiers }) => identifiers.gate.terminalId.padEnd(8)],
  [42, all, ({ merchantCode }) => merchantCode.padEnd(15)],
  [49, allButInquiry, ({ amount }) => amount.currency.numeric],
  [90, aboutCharge, originalDataElements],
  [95, ["return"], replacementAmounts],
];

export const iso87Network: NetworkMessages = {
  mti: "0800",
  codes: { signOn: "001", signOff: "002", echo: "301" },
  codeField: 70,
  echoed: [7, 11, 70],
  isAuthenticated: false,
  write: (code, { sent, traceNumber }) => ({
    7: transmissionTime(sent),
    11: traceNumber,
    70: code,
  }),
};

export function readLocalTime87({ 12: time, 13: date }: IsoFields): string | undefined {
  if (time === undefined || date === undefined) return undefined;
  return `-${date.slice(0, 2)}-${date.slice(2)}T${time.match(/../g)?.join(":")}`;
}

export function readLocalTime93({ 12: field = "" }: IsoFields): string | undefined {
  const [year, month, day, ...time] = field.match(/../g) ?? [];
  return time.length === 3 ? `20${year}-${month}-${day}T${time.join(":")}` : undefined;
}

/** The totals message. A gateway reverses no payment to a card, so 75 and 87 are zero. */
const totalsRows: TotalsMessage["rows"] = [
  [7, ({ sent }) => transmissionTime(sent)],
  [11, ({ traceNumber }) => traceNumber],
  [32, ({ settings }) => settings.acquirerId],
  [41, ({ settings }) => settings.terminalId.padEnd(8)],
  [42, ({ settings }) => settings.merchantCode.padEnd(15)],
  [50, ({ totals }) => totals.currency.numeric],
  [74, ({ totals }) => writeCount(totals.credits.count)],
  [75, () => writeCount(0)],
  [76, ({ totals }) => writeCount(totals.debits.count)],
  [77, ({ totals }) => writeCount(totals.debitReversals.count)],
  [86, ({ totals }) => writeSum(totals.credits.minor)],
  [87, () => writeSum(0n)],
  [88, ({ totals }) => writeSum(totals.debits.minor)],
  [89, ({ totals }) => writeSum(totals.debitReversals.minor)],
];

/** The letter in field 97 is a byte of text before packed digits. */
export const iso87BinaryTotals: TotalsMessage = {
  mti: "0500",
  inBalance: "00",
  outOfBalance: "95",
  hasSettlementCode: true,
  rows: [
    ...totalsRows,
    [15, ({ day }) => day.month + day.day],
    [
      97,
      ({ totals }) => writeNet(totals).replace(/^[CD]/, (letter) => (letter === "C" ? "43" : "44")),
    ],
  ],
};

/** Field 66 has another meaning in this edition. */
export const iso93Totals: TotalsMessage = {
  mti: "1500",
  inBalance: "500",
  outOfBalance: "501",
  hasSettlementCode: false,
  rows: [
    ...totalsRows,
    [12, ({ local }) => localTime93(local)],
    [24, () => "503"], // a checkpoint in one currency: closes nothing
    [28, ({ day }) => day.year.slice(-2) + day.month + day.day],
    [97, ({ totals }) => writeNet(totals)],
  ],
};

function writeCount(count: number): string {
  return String(count).padStart(10, "0");
}

function writeSum(minor: bigint): string {
  return String(minor).padStart(16, "0");
}

/** The letter D means that sales and captures exceed reversals and refunds. */
function writeNet({ credits, debits, debitReversals }: DayTotals): string {
  const net = debits.minor - debitReversals.minor - credits.minor;
  return net > 0n ? `D${writeSum(net)}` : `C${writeSum(-net)}`;
}

/** Field 12 of ISO 8583:1993. */
export function localTime93({ year, month, day, hour, minute, second }: LocalTime): string {
  return year.slice(-2) + month + day + hour + minute + second;
}

/** A payout may come without the expiry date of its card. */
function expiry({ expiryYear, expiryMonth }: Facts["card"]): string | undefined {
  if (expiryMonth === "") return undefined;
  return expiryYear.slice(-2) + expiryMonth.padStart(2, "0");
}

/** 01 is a typed number, 10 one on file, and 81 a wallet's with its cryptogram. There is no PIN. */
function entryMode({ credential, card }: Facts): string {
  if (card.isDevice === true) return "810";
  return credential === undefined ? "010" : "100";
}

/** 08 is an order by mail or telephone, 59 an electronic one. */
function condition({ isMoto }: Facts): string {
  return isMoto === true ? "08" : "59";
}

function originalDataElements({ identifiers, original }: Facts): string | undefined {
  if (original === undefined) return undefined;
  const { mti, acquirerId } = original;
  const transmittedAt = transmissionTime(original.sent);
  return writeOriginalData({ mti, stan: identifiers.traceNumber, transmittedAt, acquirerId });
}

/** A return states the amount that was charged before it, and in field 95 the one that remains. */
function amountBefore({ amount, original }: Facts): string {
  return writeAmount(amount.minor + (original?.remaining?.minor ?? 0n));
}

/** Zeros stand for the other amounts of the field. */
function replacementAmounts({ original }: Facts): string | undefined {
  const remaining = original?.remaining;
  return remaining && writeAmount(remaining.minor).padEnd(42, "0");
}

/**
 * The postal code in nine places and up to twenty of the street address, in the fixed format of the
 * networks. Without a letter or digit that they can read, the address is not verified.
 */
export function addressData({ payer }: Facts): string | undefined {
  const postcode = latin(payer?.zipCode).replaceAll(/[^0-9A-Z]/g, "");
  const street = latin(payer?.address).slice(0, 20).trimEnd();
  const isReadable = /[0-9A-Z]/.test(postcode + street);
  return isReadable ? postcode.slice(0, 9).padEnd(9) + street : undefined;
}

/** Accents are removed, and other characters than those of ASCII. */
function latin(text = ""): string {
  const letters = text.normalize("NFKD").replaceAll(/[^ -~]/g, "");
  return letters.trim().toUpperCase();
}

export function transmissionTime({ month, day, hour, minute, second }: Calendar): string {
  return month + day + hour + minute + second;
}

export function writeAmount(minor: bigint): string {
  return String(minor).padStart(12, "0");
}

/**
 * Whether the network's authentication values travel as the text of a UCAF. Mastercard's are text
 * of any length; those of all other networks (CAVV, AEVV, …) are 20 bytes.
 */
export function usesUcaf(network: Network | undefined): boolean {
  return network === "MASTERCARD" || network === "MAESTRO";
}

/** Returns undefined if the value is too long for the UCAF, which has 32 characters. */
export function writeUcaf(value: string): string | undefined {
  return /^[\x21-\x7e]{1,32}$/.test(value) ? value : undefined;
}

/** Returns the bytes in hexadecimal, or undefined if the base64 is not that of 20 bytes. */
export function writeCavv(value: string): string | undefined {
  const bytes = Buffer.from(value, "base64");
  // Node's base64 decoder ignores characters after the end, so the bytes are encoded again.
  const isWhole = bytes.length === 20 && bytes.toString("base64") === value;
  return isWhole ? bytes.toString("hex").toUpperCase() : undefined;
}

/** The UCAF collection indicator: 2 for a full authentication, 1 for an attempt, 0 for none. */
export function ucafIndicatorOf(eci: string): string {
  return eci.slice(-1);
}

/**
 * Visa's ECI 01 to 04 mean mail order and recurring payments. A Mastercard payment with data only
 * (04), an exemption (06) or initiated by the merchant (07) is not authenticated there.
 */
export function visaIndicatorOf(eci: string, network: Network | undefined): string {
  const countsLow = usesUcaf(network) || network === "MIR";
  return countsLow ? (visaIndicators[eci] ?? "07") : eci;
}

/** N2 means fully authenticated, for a verification of the card. */
const visaIndicators: Readonly<Record<string, string>> = {
  "02": "05",
  "01": "06",
  "00": "07",
  N2: "05",
};
