/**
 * ISO 8583:1993 in ASCII after a length of four digits. Function and reason codes (24, 25) say what
 * a message is for, a reversal is always an advice (1420), and a partial return states the new
 * amount (4) besides the original one (30). Decision 0028.
 */
import { Buffer } from "node:buffer";
import { type IsoFields, iso93Ascii, writeOriginalData93 } from "@tollgate/protocols/iso8583";
import {
  allButInquiry,
  changes,
  charges,
  credits,
  type Dialect,
  type Facts,
  followUps,
  type Mtis,
  makeResponseCodes,
  type ResponseCodes,
  readNetworkId62,
} from "../dialect.ts";
import {
  iso87GateRows,
  iso87Rows,
  iso93Totals,
  localTime93,
  readLocalTime93,
  transmissionTime,
  writeAmount,
} from "../fields.ts";
import { addressField, privateElements, readChecks, readRemarks, sandbox } from "./sandbox.ts";

const mtis: Mtis = {
  "sale": { first: "1200", repeated: "1200" },
  "preauth": { first: "1100", repeated: "1100" },
  "account-verification": { first: "1100", repeated: "1100" },
  "inquiry": { first: "1600", repeated: "1600" }, // never sent: see hasInquiry
  "reversal": { first: "1420", repeated: "1421" },
  "capture": { first: "1220", repeated: "1221" },
  "return": { first: "1420", repeated: "1421" },
  "refund": { first: "1200", repeated: "1201" },
  "payout": { first: "1200", repeated: "1201" },
};

/** The fields that this edition shares with the one of 1987. */
const sharedGateFields = new Set([3, 19]);
const sharedFields = new Set([2, 7, 11, 14, 32, 37, 38, 41, 42, 49]);

/** The gateway's declines have the standard's numbers (decision 0004), which most rows repeat. */
// biome-ignore format: a table
const iso93Codes: ResponseCodes = makeResponseCodes({
  stands:          ["000"],
  reversed:        ["400", "000"],
  // With 480, hosts of the fuel networks accept the reversal of a charge that they do not know.
  notFound:        ["914", "480"],
  networkAccepted: "800",
  rows: [
    // An approval needs a reason only when it was for less than asked.
    ["000", "approved",         "partial_approval_refused", "soft"], // approved
    ["001", "approved",         "partial_approval_refused", "soft"], // approved with identification
    ["003", "approved",         "partial_approval_refused", "soft"], // approved, VIP
    ["004", "approved",         "partial_approval_refused", "soft"], // approved, update track 3
    ["005", "approved",         "partial_approval_refused", "soft"], // approved, account type by the issuer
    ["007", "approved",         "partial_approval_refused", "soft"], // approved, update the chip
    ["400", "accepted",         "partial_approval_refused", "soft"], // reversal accepted
    ["901", "accepted",         "partial_approval_refused", "soft"], // advice accepted with liability
    ["002", "approved_in_part", "partial_approval_refused", "soft"], // approved for part of the amount
    ["006", "approved_in_part", "partial_approval_refused", "soft"], // the same, account type by the issuer

    ["101", "refused", "expired_card",            "hard"],
    ["102", "refused", "suspected_fraud",         "hard"],
    ["104", "refused", "restricted_card",         "hard"],
    ["111", "refused", "invalid_card",            "hard"],
    ["118", "refused", "no_card_record",          "hard"],
    ["119", "refused", "not_permitted",           "hard"],
    ["120", "refused", "not_permitted_terminal",  "hard"],
    ["124", "refused", "not_permitted",           "hard"], // against the law
    ["125", "refused", "restricted_card",         "hard"], // not yet in effect
    ["129", "refused", "suspected_fraud",         "hard"], // suspected counterfeit
    ["163", "refused", "closed_account",          "hard"], // 160 to 179 are the parties' own
    ["164", "refused", "recurring_stopped",       "hard"],

    ["200", "refused", "pick_up_card",            "hard"],
    ["201", "refused", "expired_card",            "hard"],
    ["202", "refused", "suspected_fraud",         "hard"],
    ["203", "refused", "pick_up_card",            "hard"], // contact acquirer
    ["204", "refused", "restricted_card",         "hard"],
    ["205", "refused", "pick_up_card",            "hard"], // call acquirer's security
    ["206", "refused", "pick_up_card",            "hard"], // PIN tries exceeded
    ["207", "refused", "pick_up_card",            "hard"], // special conditions
    ["208", "refused", "lost_card",               "hard"],
    ["209", "refused", "stolen_card",             "hard"],
    ["210", "refused", "suspected_fraud",         "hard"], // suspected counterfeit

    ["100", "refused", "do_not_honour",           "soft"],
    ["103", "refused", "refer_to_issuer",         "soft"], // contact acquirer
    ["105", "refused", "refer_to_issuer",         "soft"], // call acquirer's security
    ["107", "refused", "refer_to_issuer",         "soft"],
    ["108", "refused", "refer_to_issuer",         "soft"], // special conditions
    ["109", "refused", "invalid_merchant",        "soft"],
    ["110", "refused", "invalid_amount",          "soft"],
    ["115", "refused", "invalid_transaction",     "soft"],                  // function not supported
    ["116", "refused", "insufficient_funds",      "soft"],
    ["121", "refused", "limit_exceeded",          "soft"],
    ["122", "refused", "security_violation",      "soft"],
    ["123", "refused", "frequency_exceeded",      "soft"],
    ["160", "refused", "cvv_mismatch",            "soft"],
    ["161", "refused", "authentication_required", "soft", "authenticate"],

    ["902", "refused", "invalid_transaction",     "soft"],
    ["903", "refused", "host_malfunction",        "soft", "host_fault"],      // enter again
    ["904", "refused", "format_error",            "soft"],
    ["905", "refused", "issuer_unavailable",      "soft", "host_fault"],      // acquirer not known to the switch
    ["906", "refused", "host_malfunction",        "soft", "host_fault"],      // cut-over
    ["907", "refused", "issuer_unavailable",      "soft", "host_fault"],      // issuer or switch inoperative
    ["908", "refused", "issuer_unavailable",      "soft", "host_fault"],      // no route to the issuer
    ["909", "refused", "host_malfunction",        "soft", "host_fault"],
    ["910", "refused", "issuer_unavailable",      "soft", "host_fault"],      // issuer signed off
    ["911", "refused", "issuer_unavailable",      "soft", "may_yet_be_done"], // issuer timed out
    ["912", "refused", "issuer_unavailable",      "soft", "host_fault"],
    ["913", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"],
    ["914", "refused", "declined",                "soft"],                  // original not found
    ["915", "refused", "host_malfunction",        "soft"],                  // reconciliation error
    ["916", "refused", "host_malfunction",        "soft"],                  // wrong message authentication code
    ["917", "refused", "host_malfunction",        "soft"],                  // authentication key out of step
    ["918", "refused", "host_malfunction",        "soft", "host_fault"],      // no keys for the link
    ["920", "refused", "host_malfunction",        "soft", "host_fault"],      // security module, try again
    ["921", "refused", "host_malfunction",        "soft"],                  // security module, no action
    ["922", "refused", "host_malfunction",        "soft"],                  // message number out of sequence
    ["923", "refused", "duplicate_transmission",  "soft", "may_yet_be_done"], // in progress
  ],
});

export const iso93: Dialect = {
  specification: iso93Ascii,
  framing: "ascii-4",
  mtis,
  codes: iso93Codes,
  network: {
    mti: "1804",
    codes: { signOn: "801", signOff: "802", echo: "831" },
    codeField: 24,
    echoed: [7, 11, 12, 24],
    isAuthenticated: true,
    write: (code, { sent, local, traceNumber }) => ({
      7: transmissionTime(sent),
      11: traceNumber,
      12: localTime93(local),
      24: code,
    }),
  },
  keyExchange: { deliver: "811", ask: "811", refused: "921", read: readKey96 },
  amountDigits: 12,
  // These hosts accept a reversal at any time and have no inquiry.
  hasInquiry: false,
  totals: iso93Totals,
  gateRows: [
    ...iso87GateRows.filter(([field]) => sharedGateFields.has(field)),
    [24, ["sale", ...credits], () => "200"],
    [24, ["preauth"], () => "100"],
    [24, ["account-verification"], () => "108"],
    [24, ["reversal"], () => "400"],
    [25, ["return"], () => "4000"], // the customer cancels
    [26, allButInquiry, ({ categoryCode }) => categoryCode],
    [43, [...charges, ...credits], ({ nameAndPlace }) => nameAndPlace],
  ],
  rows: [
    ...iso87Rows.filter(([field]) => sharedFields.has(field)),
    [4, [...charges, "reversal", "capture", ...credits], ({ amount }) => writeAmount(amount.minor)],
    [4, ["return"], amountOfReturn],
    [12, [...charges, ...followUps, ...credits], ({ local }) => localTime93(local)],
    // Repeats of a reversal, perhaps days later, must have the same field 12.
    [12, ["reversal", "inquiry"], ({ original }) => original && localTime93(original.local)],
    [22, [...charges, "reversal", ...credits], pointOfService],
    [24, ["capture"], (facts) => (differs(facts) ? "202" : "201")],
    [24, ["return"], ({ original }) => (isPartial(original) ? "401" : "400")],
    [25, ["reversal"], ({ original }) => (original?.approvalCode === undefined ? "4021" : "4007")],
    [30, ["capture"], (facts) => (differs(facts) ? originalAmounts(facts) : undefined)],
    [30, ["return"], originalAmounts],
    [48, charges, privateElements],
    [56, [...changes, "refund"], originalData],
    [62, [...followUps, "refund"], ({ original }) => original?.networkId],
    [120, charges, addressField],
  ],
  hasPlaceFor: sandbox.hasPlaceFor,
  exemptions: sandbox.exemptions,
  readNetworkId: readNetworkId62,
  readLocalTime: readLocalTime93,
  readChecks,
  readRemarks,
};

/** Returns the bytes of a cryptogram and its check value, or those of the text of a key block. */
function readKey96({ 96: bytes }: IsoFields): string | undefined {
  const text = bytes && Buffer.from(bytes, "hex").toString("latin1");
  return text !== undefined && /^[BD]\d{4}/.test(text) ? text : bytes;
}

/**
 * Twelve places: no terminal (1 to 4), an electronic order or one by telephone (5) without the card
 * (6), read as place 7 says: 1 typed, 7 on file, S a wallet's with its cryptogram. No verification
 * at the terminal (8, 9), no output (10, 11), no PIN (12).
 */
function pointOfService({ credential, card, isMoto }: Facts): string {
  if (card.isDevice === true) return "100050S00110";
  const order = isMoto === true ? "3" : "5";
  return `1000${order}0${credential === undefined ? "1" : "7"}00110`;
}

/** Returns what remains charged, or the whole amount for a full return. */
function amountOfReturn({ amount, original }: Facts): string {
  const remaining = original?.remaining?.minor ?? 0n;
  return writeAmount(remaining === 0n ? amount.minor : remaining);
}

function isPartial(original: Facts["original"]): boolean {
  return (original?.remaining?.minor ?? 0n) > 0n;
}

function differs({ amount, original }: Facts): boolean {
  return original?.amount !== undefined && original.amount.minor !== amount.minor;
}

/** Field 30 has field 4 of the message that field 56 names, and zeros for reconciliation. */
function originalAmounts({ original }: Facts): string | undefined {
  const amount = original?.capture?.amount ?? original?.amount;
  return amount && writeAmount(amount.minor).padEnd(24, "0");
}

/** Field 56 names the message that this one changes: the capture or, without one, the charge. */
function originalData({ identifiers, original }: Facts): string | undefined {
  if (original === undefined) return undefined;
  const { acquirerId, capture } = original;
  const { mti, local } = capture ?? original;
  const { traceNumber: stan } = capture ?? identifiers;
  return writeOriginalData93({ mti, stan, localTime: localTime93(local), acquirerId });
}
