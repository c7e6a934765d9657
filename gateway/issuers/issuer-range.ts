/**
 * A range of cards and who issued them. The ends are numbers of eleven digits, a shorter prefix
 * filled up with zeros or nines, so that prefixes of any length can be compared.
 */
import type { Issuer } from "../orders/order.ts";

export type IssuerRange = {
  readonly first: number;
  readonly last: number;
  readonly issuer: Issuer;
};

/** Networks tell issuers apart by no more than this; what is longer may be a card number. */
export const prefixDigitsMax = 11;
export const prefixDigitsMin = 6;

const prefixForm = new RegExp(`^\\d{${prefixDigitsMin},${prefixDigitsMax}}$`);

export function isPrefix(text: string): boolean {
  return prefixForm.test(text);
}

export function makeRange(first: string, last: string, issuer: Issuer): IssuerRange {
  return { first: firstOf(first), last: lastOf(last), issuer };
}

/** The lowest of the cards that begin so. */
export function firstOf(prefix: string): number {
  return Number(prefix.slice(0, prefixDigitsMax).padEnd(prefixDigitsMax, "0"));
}

/** The highest of the cards that begin so. */
export function lastOf(prefix: string): number {
  return Number(prefix.slice(0, prefixDigitsMax).padEnd(prefixDigitsMax, "9"));
}

export function formatPrefix(end: number): string {
  return String(end).padStart(prefixDigitsMax, "0");
}
