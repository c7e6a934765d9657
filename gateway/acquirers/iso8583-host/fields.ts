/**
 * The part of the tables that hosts have in common: fields that ISO 8583:1987 itself gives a place
 * and a meaning. A host with other habits leaves these out and has rows of its own.
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
  payments,
} from "./dialect.ts";

/** The same in every message of a gate. */
// biome-ignore format: a table
export const iso87GateRows: readonly GateRow[] = [
  [ 3, allButInquiry,              () => "000000"],                     // purchase
  [18, allButInquiry,              ({ categoryCode }) => categoryCode],
  [19, allButInquiry,              ({ countryCode }) => countryCode],
  [25, [...payments, ...changes],  () => "59"],                         // electronic commerce
  [25, ["account-verification"],   () => "51"],                         // is the card good?
  [32, all,                        ({ acquirerId }) => acquirerId],
  [39, ["reversal"],               () => "68"],                         // no answer came in time
  [42, all,                        ({ merchantCode }) => merchantCode.padEnd(15)],
  [43, charges,                    ({ nameAndPlace }) => nameAndPlace.padEnd(40)],
];

/** What one message says. */
// biome-ignore format: a table
export const iso87Rows: readonly FactRow[] = [
  [ 2, allButInquiry,              cardNumber],
  [ 4, allButInquiry,              amount],
  [ 7, all,                        transmitted],
  [11, all,                        traceNumber],
  [12, charges,                    localTime],
  [13, charges,                    localDate],
  [14, allButInquiry,              expiry],
  [22, [...charges, "reversal"],   entryMode],
  [37, all,                        reference],
  [38, changes,                    approvalCode],
  [41, all,                        terminal],
  [49, allButInquiry,              currency],
  [90, aboutCharge,                nameOriginal],
  [95, ["return"],                 replacementAmounts],
];

/** The card number leaves its secret here. */
export function cardNumber({ card }: Facts): string {
  return card.number.reveal();
}

export function expiry({ card }: Facts): string {
  return card.expiryYear.slice(-2) + card.expiryMonth.padStart(2, "0");
}

export function amount({ amount: { minor } }: Facts): string {
  return writeAmount(minor);
}

export function currency({ amount: { currency: named } }: Facts): string {
  return named.numeric;
}

export function transmitted({ sent }: Facts): string {
  return transmissionTime(sent);
}

export function localTime({ sent: { hour, minute, second } }: Facts): string {
  return hour + minute + second;
}

export function localDate({ sent: { month, day } }: Facts): string {
  return month + day;
}

export function traceNumber({ traceNumber: own }: Facts): string {
  return own;
}

export function reference({ identifiers }: Facts): string {
  return identifiers.reference;
}

/** 01: the number was typed; 10: it was on file; 81: a wallet's, with its cryptogram. No PIN. */
export function entryMode({ credential, card }: Facts): string {
  if (card.isDevice === true) return "810";
  return credential === undefined ? "010" : "100";
}

/** That of the charge, also when the gate has another by now. */
export function terminal({ identifiers }: Facts): string {
  return identifiers.gate.terminalId.padEnd(8);
}

export function approvalCode({ original }: Facts): string | undefined {
  return original?.approvalCode?.padEnd(6);
}

export function nameOriginal({ identifiers, original }: Facts): string | undefined {
  if (original === undefined) return undefined;
  const { mti, acquirerId } = original;
  const transmittedAt = transmissionTime(original.sent);
  return writeOriginalData({ mti, stan: identifiers.traceNumber, transmittedAt, acquirerId });
}

/** Replacement amounts: what remains charged, and nothing in the other places. */
export function replacementAmounts({ original }: Facts): string | undefined {
  const remaining = original?.remaining;
  return remaining && writeAmount(remaining.minor).padEnd(42, "0");
}

export function transmissionTime({ month, day, hour, minute, second }: Calendar): string {
  return month + day + hour + minute + second;
}

function writeAmount(minor: bigint): string {
  return String(minor).padStart(12, "0");
}
