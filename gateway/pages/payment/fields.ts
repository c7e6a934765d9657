/**
 * The fields of the payment page: the `autocomplete` word of each, which is its name in the form
 * too, and how the gateway reads what the cardholder typed. Card number and CVV leave this file as
 * secrets; texts are stored, so a card number in them is masked.
 */
import type { CardData } from "../../orders/events.ts";
import type { Customer } from "../../orders/order.ts";
import { CardNumber, isExpired, isLuhnValid } from "../../values/card-number.ts";
import { isCountry, statesOf } from "../../values/iso-codes.ts";
import { maskCardNumbers } from "../../values/mask-card-numbers.ts";
import { Secret } from "../../values/secret.ts";
import type { Instant } from "../../values/time.ts";

export type CustomerField = keyof typeof customerWords;
export type FieldName = keyof typeof words;
export type FieldFault = "missing" | "wrong";

// biome-ignore format: a table
const customerWords = {
  email:   "email",
  phone:   "tel",
  address: "address-line1",
  zipCode: "postal-code",
  city:    "address-level2",
  country: "country",
  state:   "address-level1",
} as const;

// biome-ignore format: a table
export const words = {
  number:  "cc-number",
  month:   "cc-exp-month",
  year:    "cc-exp-year",
  cvv:     "cc-csc",
  name:    "cc-name",
  ...customerWords,
} as const;

// biome-ignore format: a table
export const lengthsMax: Readonly<Record<Exclude<FieldName, "number" | "month" | "year" | "cvv">, number>> = {
  name:    128,
  email:   50,
  phone:   15,
  address: 50,
  zipCode: 10,
  city:    50,
  country: 2,
  state:   3,
};

/** What a form has sent, by `autocomplete` word. */
export type PostedFields = ReadonlyMap<string, string>;

export type EnteredCustomer = Partial<Pick<Customer, CustomerField>>;
export type EnteredCard = { readonly data: CardData; readonly holderName: string };
export type Faults = ReadonlyMap<FieldName, FieldFault>;

/** What is shown again beside the faults: never the card number or the CVV. */
export type Refilled = { readonly faults: Faults; readonly values: ReadonlyMap<FieldName, string> };

type Reading = {
  readonly now: Instant;
  readonly needsCvv: boolean;
};

export function readCard(
  posted: PostedFields,
  { now, needsCvv }: Reading,
): EnteredCard | { readonly faults: Faults } {
  const [number, month, year, cvv] = (["number", "month", "year", "cvv"] as const).map((field) =>
    toDigits(posted.get(words[field]) ?? ""),
  ) as [string, string, string, string]; // Four in, four out.
  const name = readText(posted, "name");
  const isWholeYear = /^(20)?\d\d$/.test(year);
  const isMonth = /^(0?[1-9]|1[0-2])$/.test(month);
  const isLate = isMonth && isWholeYear && isExpired(month, year, now);
  // biome-ignore format: a table
  const faults = faultsOf([
    ["number", number === "",                      !/^\d{12,19}$/.test(number) || !isLuhnValid(number)],
    ["month",  month === "",                       !isMonth],
    ["year",   !isWholeYear,                       isLate],
    ["cvv",    cvv === "" && needsCvv,             cvv !== "" && !/^\d{3,4}$/.test(cvv)],
    ["name",   name === "",                        isBadText(name, "name")],
  ]);
  if (faults.size > 0) return { faults };
  const expiry = { expiryMonth: month.padStart(2, "0"), expiryYear: year.slice(-2) };
  const secret = cvv === "" ? undefined : new Secret(cvv);
  return { data: { number: new CardNumber(number), ...expiry, cvv: secret }, holderName: name };
}

/** The fields that the page asks for; a state only where the country needs one. */
export function readCustomer(
  posted: PostedFields,
  wanted: readonly CustomerField[],
): EnteredCustomer | { readonly faults: Faults } {
  const states = statesOf(readText(posted, "country"));
  const read = wanted
    .filter((field) => field !== "state" || states !== undefined)
    .map((field) => [field, readText(posted, field)] as const);
  const faults = faultsOf(
    read.map(([field, text]) => [field, text === "", isWrong(field, text, states)]),
  );
  return faults.size > 0 ? { faults } : Object.fromEntries(read);
}

function isWrong(field: CustomerField, text: string, states: ReadonlySet<string> | undefined) {
  if (field === "email" && !/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text)) return true;
  if (field === "country") return !isCountry(text);
  if (field === "state") return states?.has(text) !== true;
  return isBadText(text, field);
}

/** What may be shown again: the expiry date, the name and what the page asks for beside them. */
export function refill(posted: PostedFields, faults: Faults): Refilled {
  const shown = (Object.keys(words) as FieldName[]).filter(
    (field) => field !== "number" && field !== "cvv",
  );
  return { faults, values: new Map(shown.map((field) => [field, readText(posted, field)])) };
}

function faultsOf(
  rows: readonly (readonly [field: FieldName, isMissing: boolean, isWrong: boolean])[],
): Faults {
  return new Map(
    rows.flatMap(([field, isMissing, isBad]): readonly (readonly [FieldName, FieldFault])[] => {
      if (isMissing) return [[field, "missing"]];
      return isBad ? [[field, "wrong"]] : [];
    }),
  );
}

function readText(posted: PostedFields, field: FieldName): string {
  const text = (posted.get(words[field]) ?? "").trim();
  // With a country code it is certainly a phone number, which may pass for a card number.
  return field === "phone" && /^(\+|00)/.test(text) ? text : maskCardNumbers(text);
}

function isBadText(text: string, field: keyof typeof lengthsMax): boolean {
  return text.length > lengthsMax[field] || /\p{Cc}/u.test(text);
}

/** Keyboards of some languages write digits of their own; cards and people split numbers. */
function toDigits(text: string): string {
  return text
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/[\s\u200e\u200f-]/g, "");
}
