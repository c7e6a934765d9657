/**
 * The values that every dialect writes alike, whatever its encoding. The card number leaves its
 * secret here, and nowhere else on this way.
 */
import { writeOriginalData } from "@tollgate/protocols/iso8583";
import type { Calendar, Facts } from "./dialect.ts";

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
