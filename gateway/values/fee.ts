/** A fee: a share of an amount and a fixed part on top. Exact: no fraction is ever a float. */
import assert from "node:assert/strict";
import { Money } from "./money.ts";

export type Fee = {
  /** Of the amount, with up to four fraction digits: `2.5` is two and a half per cent. */
  readonly percent?: string;
  /** In minor units of the amount's currency. */
  readonly fixed?: string;
};

const percentForm = /^(\d{1,3})(?:\.(\d{1,4}))?$/;
const fixedForm = /^\d{1,18}$/;
const fractionDigits = 4;
const wholePercents = 10n ** BigInt(fractionDigits);
const allOfIt = 100n * wholePercents;

/** The share is rounded half up to a minor unit. */
export function commissionOf(
  { percent = "0", fixed = "0" }: Fee,
  { minor, currency }: Money,
): Money {
  const share = readPercent(percent);
  assert.ok(share !== undefined && fixedForm.test(fixed), "a fee that parseFee would refuse");
  const rounded = (2n * minor * share + allOfIt) / (2n * allOfIt);
  return new Money(rounded + BigInt(fixed), currency);
}

/** `2.5%+30`, `2.5%` or `30`; the fixed part is in minor units. */
export function parseFee(text: string): Fee | undefined {
  const match = /^(?:([\d.]+)%(?:\+(\d+))?|(\d+))$/.exec(text);
  if (match === null) return undefined;
  const [, percent, added, alone] = match;
  const fixed = added ?? alone;
  if (percent !== undefined && readPercent(percent) === undefined) return undefined;
  if (fixed !== undefined && !fixedForm.test(fixed)) return undefined;
  return { ...(percent !== undefined && { percent }), ...(fixed !== undefined && { fixed }) };
}

/** In ten-thousandths of a per cent; nothing for what is finer, or more than all of it. */
function readPercent(text: string): bigint | undefined {
  const match = percentForm.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  const share = BigInt(whole + fraction.padEnd(fractionDigits, "0"));
  return share <= allOfIt ? share : undefined;
}
