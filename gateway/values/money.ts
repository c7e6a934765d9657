/**
 * Money is a whole number of minor units in one currency; a fee is a share of an amount and a fixed
 * part. Decimals exist only on the wire and are read digit by digit, because 19.99 * 100 is
 * 1998.9999999999998.
 */
import assert from "node:assert/strict";
import type { Brand } from "./ids.ts";
import { type Currency, getCurrency } from "./iso-codes.ts";

type MinorUnits = Brand<bigint, "MinorUnits">;

/** Money is a class only because it defines its stored form, `["1015", "EUR"]`. */
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

export function unpackMoney([minor, code]: PackedMoney): Money {
  return new Money(BigInt(minor), getCurrency(code));
}

/** Replies show at least this many fraction digits, even for currencies that have none. */
const shownDigitsMin = 2;

/** The text has at most the currency's fraction digits, not counting zeros at the end. */
export function parseAmount(text: string, currency: Currency): Money | undefined {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, whole = "", digits = ""] = match;
  const fraction = digits.replace(/(?<!0)0+$/, "");
  if (fraction.length > currency.exponent) return undefined;
  return new Money(BigInt(whole + fraction.padEnd(currency.exponent, "0")), currency);
}

export function formatAmount({ minor, currency }: Money): string {
  const digits = String(minor).padStart(currency.exponent + 1, "0");
  const point = digits.length - currency.exponent;
  return `${digits.slice(0, point)}.${digits.slice(point).padEnd(shownDigitsMin, "0")}`;
}

/** Prints a sum of minor units, which may be negative. */
export function formatSum(minor: bigint, currency: Currency): string {
  return minor < 0n ? `-${formatSum(-minor, currency)}` : formatAmount(new Money(minor, currency));
}

/** Prints `12.34 EUR`. */
export function printMoney(money: Money): string {
  return `${formatAmount(money)} ${money.currency.code}`;
}

export function add(left: Money, right: Money): Money {
  assert.equal(left.currency.code, right.currency.code);
  return new Money(left.minor + right.minor, left.currency);
}

/** The result is never negative, because the caller compares the amounts before. */
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

export type Fee = {
  /** Per cent of the amount, with up to four fraction digits, such as `2.5`. */
  readonly percent?: string;
  readonly fixed?: string;
};

const fixedForm = /^\d{1,18}$/;
const percentDigits = 4;
const hundredPercent = 100n * 10n ** BigInt(percentDigits);

/** The fee is rounded half up to a minor unit. */
export function commissionOf(
  { percent = "0", fixed = "0" }: Fee,
  { minor, currency }: Money,
): Money {
  const share = readPercent(percent);
  assert.ok(share !== undefined && fixedForm.test(fixed), "a fee that parseFee would refuse");
  const rounded = (2n * minor * share + hundredPercent) / (2n * hundredPercent);
  return new Money(rounded + BigInt(fixed), currency);
}

/** Reads a fee like `2.5%+30`, `2.5%` or `30`. The fixed part is in minor units. */
export function parseFee(text: string): Fee | undefined {
  const match = /^(?:([\d.]+)%(?:\+(\d+))?|(\d+))$/.exec(text);
  if (match === null) return undefined;
  const [, percent, added, alone] = match;
  const fixed = added ?? alone;
  if (percent !== undefined && readPercent(percent) === undefined) return undefined;
  if (fixed !== undefined && !fixedForm.test(fixed)) return undefined;
  return { ...(percent !== undefined && { percent }), ...(fixed !== undefined && { fixed }) };
}

/** Returns ten-thousandths of a per cent. A finer value or more than 100 per cent is refused. */
function readPercent(text: string): bigint | undefined {
  const match = /^(\d{1,3})(?:\.(\d{1,4}))?$/.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  const share = BigInt(whole + fraction.padEnd(percentDigits, "0"));
  return share <= hundredPercent ? share : undefined;
}
