/**
 * Computes the control checksum (v2): SHA-1 over the operation's values and the merchant control
 * key, joined without separators.
 */
import type { ControlTerm } from "./call.ts";
import { exponentGroups } from "./operations.generated.ts";
import { sha1Hex } from "./web.ts";

export type Signed = {
  /** The number in the path, which is the id of the endpoint or of the group. */
  readonly id: string;
  readonly login: string;
  readonly controlKey: string;
  readonly values: ReadonlyMap<string, string>;
};

export function sign(terms: readonly ControlTerm[], signed: Signed): Promise<string> {
  return sha1Hex(terms.map((term) => textOf(term, signed)).join("") + signed.controlKey);
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

/**
 * Converts digit by digit, because 19.99 * 100 is 1998.9999999999998. Returns an empty text if the
 * text is not an amount: the gateway reports that before it checks the checksum.
 */
export function toMinorUnits(amount: string, currency: string): string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(amount);
  const [, whole = "", digits = ""] = match ?? [];
  const fraction = digits.replace(/(?<!0)0+$/, "");
  const [exponent] = exponentGroups.find(([, codes]) => codes.includes(currency)) ?? [2];
  if (match === null || fraction.length > exponent) return "";
  return (whole + fraction.padEnd(exponent, "0")).replace(/^0+(?=\d)/, "");
}
