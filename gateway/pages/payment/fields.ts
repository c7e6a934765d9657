/**
 * The fields of the payment page: the `autocomplete` word of each, which is its name in the form
 * too, and what the gateway reads of them. Whether a value is right is decided by the engine. Card
 * number and CVV leave this file as secrets; texts are stored, so a card number in them is masked.
 */
import type { PaymentPages } from "../../engine/payment-page.ts";
import type { Guarded } from "../../http/server.ts";
import type { WalletType } from "../../orders/order.ts";
import { CardNumber, splitExpiry } from "../../values/card-number.ts";
import { maskCardNumbers } from "../../values/mask-card-numbers.ts";
import { Secret } from "../../values/secret.ts";

type Pages = Pick<PaymentPages, "findFaults"> & Guarded<Pick<PaymentPages, "pay">>;
export type Entered = Parameters<Pages["pay"]>[1];
export type EnteredFault = ReturnType<Pages["findFaults"]>[number];
export type WantedFields = Parameters<Pages["pay"]>[0]["wanted"];
export type CustomerField = WantedFields[number];

const customerWords: Readonly<Record<CustomerField, string>> = {
  firstName: "given-name",
  lastName: "family-name",
  email: "email",
  phone: "tel",
  address: "address-line1",
  zipCode: "postal-code",
  city: "address-level2",
  country: "country",
  state: "address-level1",
};

const cardWords = {
  number: "cc-number",
  month: "cc-exp-month",
  year: "cc-exp-year",
  cvv: "cc-csc",
  name: "cc-name",
} as const;

export const words = { ...cardWords, ...customerWords };

export type FieldName = keyof typeof words;
type FieldFault = "missing" | "wrong";
/** What a form has sent, by `autocomplete` word. */
export type PostedFields = ReadonlyMap<string, string>;

/** What is shown again beside the faults: never the card number or the CVV. */
export type Refilled = {
  readonly faults: ReadonlyMap<FieldName, FieldFault>;
  readonly values: ReadonlyMap<FieldName, string>;
};

/** Without scripts the field of the month may have the whole date. */
export function spreadExpiry(posted: PostedFields): PostedFields {
  const [month, year] = splitExpiry(latinDigits(posted.get(words.month) ?? "")) ?? [];
  if (month === undefined || year === undefined) return posted;
  return new Map([...posted, [words.month, month], [words.year, year]]);
}

/** A wallet's token in place of a card; only of a type that the page offers. */
export function readPaid(posted: PostedFields, offered: readonly WalletType[]): Entered["paid"] {
  const type = offered.find((each) => each === posted.get("payment_data_type"));
  const text = posted.get("payment_data") ?? "";
  if (type === undefined || text === "") return readCard(posted);
  return { kind: "wallet", type, text: new Secret(text) };
}

export function readCard(posted: PostedFields): Entered["paid"] {
  const read = (field: keyof typeof cardWords) => toDigits(posted.get(words[field]) ?? "");
  const [month, year, cvv] = [read("month"), read("year"), read("cvv")];
  return {
    kind: "card",
    number: new CardNumber(read("number")),
    expiryMonth: month === "" ? "" : month.padStart(2, "0"),
    expiryYear: /^(20)?\d\d$/.test(year) ? year.slice(-2) : "",
    cvv: cvv === "" ? undefined : new Secret(cvv),
    holderName: readText(posted, "name"),
  };
}

export function readCustomer(posted: PostedFields, wanted: WantedFields): Entered["customer"] {
  return Object.fromEntries(
    wanted.flatMap((field) => {
      const text = readText(posted, field);
      return text === "" ? [] : [[field, text]];
    }),
  );
}

/** Each fault at its field, and all other fields as they were sent. */
export function refill(posted: PostedFields, faults: readonly EnteredFault[]): Refilled {
  const shown = (Object.keys(words) as FieldName[]).filter(
    (field) => field !== "number" && field !== "cvv",
  );
  return {
    faults: new Map(faults.map((fault) => placeOf(fault, posted))),
    values: new Map(shown.map((field) => [field, readText(posted, field)])),
  };
}

/** The expiry date has two fields. */
function placeOf({ field, problem }: EnteredFault, posted: PostedFields): [FieldName, FieldFault] {
  const fault = problem === "missing" ? "missing" : "wrong";
  if (field === "holderName") return ["name", fault];
  if (field !== "expiry") return [field, fault];
  if (problem === "missing") return [readText(posted, "month") === "" ? "month" : "year", fault];
  return [problem === "expired" ? "year" : "month", fault];
}

function readText(posted: PostedFields, field: FieldName): string {
  const text = (posted.get(words[field]) ?? "").trim();
  // A text that begins with a country code is certainly a phone number, although it may look like a
  // card number.
  return field === "phone" && /^(\+|00)/.test(text) ? text : maskCardNumbers(text);
}

/** Keyboards of some languages write digits of their own; cards and people split numbers. */
function toDigits(text: string): string {
  return latinDigits(text).replace(/[\s\u200e\u200f-]/g, "");
}

function latinDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));
}
