/**
 * The fields that ISO 8583:1987 itself gives a place and a meaning, as rows that dialects share. A
 * host with other habits leaves rows out and has its own. The card number leaves its secret here.
 */
import { writeOriginalData } from "@tollgate/protocols/iso8583";
import {
  aboutCharge,
  all,
  allButInquiry,
  type Calendar,
  changes,
  charges,
  type FactRow,
  type Facts,
  type GateRow,
  type NetworkMessages,
  payments,
} from "./dialect.ts";

/** The same in every message of a gate. */
// biome-ignore format: a table
export const iso87GateRows: readonly GateRow[] = [
  [ 3, [...charges, ...changes],   () => "000000"],                     // purchase
  [ 3, ["refund"],                 () => "200000"],                     // payment to the card
  [18, allButInquiry,              ({ categoryCode }) => categoryCode],
  [19, allButInquiry,              ({ countryCode }) => countryCode],
  [25, [...payments, ...changes, "refund"], () => "59"],                         // electronic commerce
  [25, ["account-verification"],   () => "51"],                         // is the card good?
  [32, all,                        ({ acquirerId }) => acquirerId],
  [39, ["reversal"],               () => "68"],                         // no answer came in time
  [42, all,                        ({ merchantCode }) => merchantCode.padEnd(15)],
  [43, [...charges, "refund"],     ({ nameAndPlace }) => nameAndPlace.padEnd(40)],
];

/** The terminal is that of the charge, also when the gate has another by now. */
// biome-ignore format: a table
export const iso87Rows: readonly FactRow[] = [
  [ 2, allButInquiry,              ({ card }) => card.number.reveal()],
  [ 4, [...charges, "reversal", "capture", "refund"], ({ amount }) => writeAmount(amount.minor)],
  [ 4, ["return"],                 amountBefore],
  [ 7, all,                        ({ sent }) => transmissionTime(sent)],
  [11, all,                        ({ traceNumber }) => traceNumber],
  [12, [...charges, "refund"],     ({ local }) => local.hour + local.minute + local.second],
  [13, [...charges, "refund"],     ({ local }) => local.month + local.day],
  [14, allButInquiry,              ({ card }) => card.expiryYear.slice(-2) + card.expiryMonth.padStart(2, "0")],
  [22, [...charges, "reversal", "refund"], entryMode],
  [37, all,                        ({ reference, identifiers }) => reference ?? identifiers.reference],
  [38, changes,                    ({ original }) => original?.approvalCode?.padEnd(6)],
  [41, all,                        ({ identifiers }) => identifiers.gate.terminalId.padEnd(8)],
  [49, allButInquiry,              ({ amount }) => amount.currency.numeric],
  [90, aboutCharge,                originalDataElements],
  [95, ["return"],                 replacementAmounts],
];

export const iso87Network: NetworkMessages = {
  mti: "0800",
  codes: { signOn: "001", signOff: "002", echo: "301" },
  isAuthenticated: false,
  write: (code, { sent, traceNumber }) => ({
    7: transmissionTime(sent),
    11: traceNumber,
    70: code,
  }),
};

/** 01: the number was typed; 10: it was on file; 81: a wallet's, with its cryptogram. No PIN. */
function entryMode({ credential, card }: Facts): string {
  if (card.isDevice === true) return "810";
  return credential === undefined ? "010" : "100";
}

function originalDataElements({ identifiers, original }: Facts): string | undefined {
  if (original === undefined) return undefined;
  const { mti, acquirerId } = original;
  const transmittedAt = transmissionTime(original.sent);
  return writeOriginalData({ mti, stan: identifiers.traceNumber, transmittedAt, acquirerId });
}

/** A return states the amount charged before it, and in field 95 the one that remains. */
export function amountBefore({ amount, original }: Facts): string {
  return writeAmount(amount.minor + (original?.remaining?.minor ?? 0n));
}

/** What remains charged, and zeros in the other places. */
function replacementAmounts({ original }: Facts): string | undefined {
  const remaining = original?.remaining;
  return remaining && writeAmount(remaining.minor).padEnd(42, "0");
}

export function transmissionTime({ month, day, hour, minute, second }: Calendar): string {
  return month + day + hour + minute + second;
}

export function writeAmount(minor: bigint): string {
  return String(minor).padStart(12, "0");
}
