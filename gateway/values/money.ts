/**
 * Money is a whole number of minor units in one currency. Decimals exist only on the wire and are
 * read digit by digit, because 19.99 * 100 is 1998.9999999999998.
 */
import assert from "node:assert/strict";
import type { Brand } from "./brand.ts";
import { type Currency, getCurrency } from "./currency.ts";

export type MinorUnits = Brand<bigint, "MinorUnits">;

/** A class only because it must know how it is kept: as `["1015", "EUR"]`. */
export class Money {
  readonly minor: MinorUnits;
  readonly currency: Currency;

  constructor(minor: bigint, currency: Currency) {
    assert.ok(minor >= 0n);
    this.minor = minor as MinorUnits;
    this.currency = currency;
  }

  toJSON(): PackedMoney {
    return [String(this.minor), this.currency.code];
  }
}

export type PackedMoney = readonly [minor: string, currency: string];

/** Replies show at least two fraction digits, also for currencies that have none. */
const shownDigitsMin = 2;

/** Nothing when the text is no plain decimal or is finer than the currency. */
export function parseAmount(text: string, currency: Currency): Money | undefined {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  if (fraction.length > currency.exponent) return undefined;
  return new Money(BigInt(whole + fraction.padEnd(currency.exponent, "0")), currency);
}

export function formatAmount({ minor, currency }: Money): string {
  const digits = String(minor).padStart(currency.exponent + 1, "0");
  const point = digits.length - currency.exponent;
  return `${digits.slice(0, point)}.${digits.slice(point).padEnd(shownDigitsMin, "0")}`;
}

export function add(left: Money, right: Money): Money {
  assert.equal(left.currency.code, right.currency.code);
  return new Money(left.minor + right.minor, left.currency);
}

/** Never below zero: whoever subtracts has compared before. */
export function subtract(left: Money, right: Money): Money {
  assert.equal(left.currency.code, right.currency.code);
  return new Money(left.minor - right.minor, left.currency);
}

export function isSameMoney(left: Money | undefined, right: Money | undefined): boolean {
  return left?.minor === right?.minor && left?.currency.code === right?.currency.code;
}

export function isZero({ minor }: Money): boolean {
  return minor === 0n;
}

export function unpackMoney([minor, code]: PackedMoney): Money {
  return new Money(BigInt(minor), getCurrency(code));
}
