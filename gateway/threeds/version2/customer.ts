/** Who pays, as an AReq wants it told: only what is known, in the protocol's letters and codes. */
import type { CardFacts, Customer } from "../../orders/order.ts";
import { numericCountry } from "../../values/iso-codes.ts";

export type CustomerElements = Readonly<Record<string, string | object>>;

const nameMax = 45;
const lineMax = 50;
const postCodeMax = 16;

export function customerElements(customer: Customer, card: CardFacts): CustomerElements {
  const country = countryOf(customer.country);
  const name = latin(card.holderName, nameMax);
  const told = {
    cardholderName: name !== undefined && name.length >= 2 ? name : undefined,
    email: customer.email,
    homePhone: phoneOf(customer.phone),
    mobilePhone: phoneOf(customer.cellPhone),
    billAddrLine1: latin(customer.address, lineMax),
    billAddrCity: latin(customer.city, lineMax),
    billAddrPostCode: latin(customer.zipCode, postCodeMax),
    billAddrCountry: country,
    // A state without its country says nothing.
    billAddrState: country === undefined ? undefined : stateOf(customer.state),
  };
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The codes from 901 on are no countries of the standard (Kosovo's is one), and are refused. */
function countryOf(code: string | undefined): string | undefined {
  const numeric = code === undefined ? undefined : numericCountry(code);
  return numeric === undefined || numeric > "900" ? undefined : numeric;
}

/** Before 2.3.1 other letters are refused, and losing accents is better than losing a payment. */
export function latin(text: string | undefined, lengthMax: number): string | undefined {
  const plain = text
    ?.normalize("NFKD")
    .replaceAll(/[^\x20-\x7e]/g, "")
    .trim()
    .slice(0, lengthMax);
  return plain === "" ? undefined : plain;
}

/** The subdivision alone: `CA`, not `US-CA`. What is no code at all is not told. */
function stateOf(state: string | undefined): string | undefined {
  const code = state?.split("-").at(-1) ?? "";
  return /^[A-Za-z0-9]{1,3}$/.test(code) ? code : undefined;
}

/** Country codes of one and of two digits; all others have three (ITU-T E.164). */
const shortCodes = /^(?:[17]|2[07]|3[0-46-9]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

/** Only an international number can be split into its parts. */
function phoneOf(phone: string | undefined): object | undefined {
  const [, digits] = /^\+(\d{5,18})$/.exec(phone?.replaceAll(/[\s()-]/g, "") ?? "") ?? [];
  if (digits === undefined) return undefined;
  const cc = shortCodes.exec(digits)?.[0] ?? digits.slice(0, 3);
  return { cc, subscriber: digits.slice(cc.length).slice(0, 15) };
}
