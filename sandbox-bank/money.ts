/**
 * Money in the form of messages: minor units in digits, and the currency by its ISO 4217 number.
 * The ledger and the control interface name the currency by its code.
 */
import { data as currencies } from "currency-codes";

const codes = new Map(currencies.map(({ number, code }) => [number, code]));
const numbers = new Map(currencies.map(({ number, code }) => [code, number]));

/** Reads an amount of digits only, at most the twelve that fit into a message. */
export function parseAmount(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? BigInt(text) : undefined;
}

/** Writes twelve digits, as in field 4. */
export function formatAmount(minorUnits: bigint): string {
  return String(minorUnits).padStart(12, "0");
}

/** Returns the code, USD for 840. An unknown number is returned unchanged. */
export function nameCurrency(number: string): string {
  return codes.get(number) ?? number;
}

/** Returns the number, 840 for USD. An unknown code is returned unchanged. */
export function numberCurrency(code: string): string {
  return numbers.get(code) ?? code;
}

/** Returns an amount as the cardholder reads it: `10.15 USD`. */
export function showAmount(minorUnits: string, exponent: string, currencyNumber: string): string {
  const places = Number(exponent);
  const digits = minorUnits.replace(/^0+/, "").padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const fraction = places === 0 ? "" : `.${digits.slice(-places)}`;
  return `${whole}${fraction} ${nameCurrency(currencyNumber)}`;
}

/** Returns whether a message about a charge names another currency than the ledger. */
export function isOtherCurrency(number: string | undefined, booked: string): boolean {
  return number !== undefined && nameCurrency(number) !== booked;
}
