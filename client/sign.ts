/**
 * The control checksum: SHA-1 over the operation's values and the merchant control key, joined
 * without separators. Amounts become minor units digit by digit, because 19.99 * 100 is
 * 1998.9999999999998.
 */
import { createHash } from "node:crypto";
import type { ControlTerm } from "./call.ts";
import { exponentGroups } from "./operations.generated.ts";

export type Signed = {
  /** The number in the path: of the endpoint or of the group. */
  readonly id: string;
  readonly login: string;
  readonly controlKey: string;
  readonly values: ReadonlyMap<string, string>;
};

export function sign(terms: readonly ControlTerm[], signed: Signed): string {
  const text = terms.map((term) => textOf(term, signed)).join("");
  return createHash("sha1")
    .update(text + signed.controlKey)
    .digest("hex");
}

/** Empty when the text is no amount: the gateway says so before it looks at the checksum. */
export function toMinorUnits(amount: string, currency: string): string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(amount);
  const [, whole = "", fraction = ""] = match ?? [];
  const exponent = exponentOf(currency);
  if (match === null || fraction.length > exponent) return "";
  return (whole + fraction.padEnd(exponent, "0")).replace(/^0+(?=\d)/, "");
}

function textOf(term: ControlTerm, { id, login, values }: Signed): string {
  if (term === "{id}" || term === "{id?}") return id;
  if (term === "login") return login;
  if (typeof term === "string") return values.get(term) ?? "";
  const currency = values.get("currency") ?? "";
  if ("minorUnitsOf" in term) return toMinorUnits(values.get(term.minorUnitsOf) ?? "", currency);
  const amount = values.get(term.moneyIfSent) ?? "";
  return amount === "" ? "" : toMinorUnits(amount, currency) + currency;
}

const usualExponent = 2;
const exponents: ReadonlyMap<string, number> = new Map(
  exponentGroups.flatMap(([exponent, codes]) => codes.map((code) => [code, exponent] as const)),
);

function exponentOf(currency: string): number {
  return exponents.get(currency) ?? usualExponent;
}
