/**
 * The fields of the payment form. A field's `autocomplete` word is also its name. Card number and
 * CVV are passed on as secrets. Card numbers in other fields are masked, because those fields are
 * stored. The engine checks the values. The markup has the texts for missing and for wrong values,
 * which the page's script shows.
 */
import type { PaymentPages } from "../../engine/payment-page.ts";
import type { Guarded } from "../../http/server.ts";
import type { WalletType } from "../../orders/order.ts";
import { CardNumber, splitExpiry } from "../../values/card-number.ts";
import { type Html, html } from "../../values/html.ts";
import { countryCodes, statesByCountry } from "../../values/iso-codes.ts";
import { maskCardNumbers } from "../../values/mask-card-numbers.ts";
import { Secret } from "../../values/secret.ts";
import type { Texts } from "../cardholder/english.ts";

export type FieldReader = { readonly texts: Texts; readonly language: string };

type Fields = {
  readonly wanted: WantedFields;
  readonly needsCvv: boolean;
  readonly refilled?: Refilled | undefined;
};

/** The attributes of each input, besides those that all inputs have. */
// biome-ignore format: a table
const attributes: Readonly<Record<Exclude<FieldName, "country" | "state">, (texts: Texts) => Html>> = {
  number:  () => html`inputmode="numeric" spellcheck="false" maxlength="23" pattern="[\\d \\-]{12,23}" placeholder="1234 1234 1234 1234"`,
  month:   ({ pay }) => html`inputmode="numeric" maxlength="9" pattern="0?[1-9]|1[0-2]|.{4,9}" placeholder="${pay.monthHint}" aria-label="${pay.month}"`,
  year:    ({ pay }) => html`inputmode="numeric" maxlength="4" pattern="(20)?\\d\\d" placeholder="${pay.yearHint}" aria-label="${pay.year}"`,
  cvv:     () => html`inputmode="numeric" spellcheck="false" minlength="3" maxlength="4" pattern="\\d{3,4}"`,
  firstName: () => html`maxlength="50"`,
  lastName:  () => html`maxlength="50"`,
  name:    () => html`spellcheck="false" autocapitalize="characters" maxlength="128"`,
  email:   () => html`type="email" inputmode="email" dir="ltr" spellcheck="false" maxlength="50"`,
  phone:   () => html`type="tel" inputmode="tel" maxlength="15"`,
  address: () => html`maxlength="50"`,
  zipCode: () => html`maxlength="10"`,
  city:    () => html`maxlength="50"`,
};

export function renderCardFields(fields: Fields, reader: FieldReader): Html {
  const { pay } = reader.texts;
  const input = (field: keyof typeof attributes) => renderInput(field, fields, reader);
  const fault = (field: FieldName) => renderFault(field, fields, reader);
  return html`<div class="field">
<label for="${words.number}">${pay.number}</label>
<div class="boxed" dir="ltr">${input("number")}
<svg aria-hidden="true" focusable="false"><use href="#mark-none"></use></svg></div>
<span class="unseen-text" id="network" role="status"></span>
${fault("number")}</div>
<div class="two">
<fieldset class="field">
<legend>${pay.expiry}</legend>
<div class="joined" dir="ltr">${input("month")}
<span aria-hidden="true">/</span>
${input("year")}</div>
${fault("month")}${fault("year")}</fieldset>
${fields.needsCvv ? renderCvv(fields, reader) : undefined}</div>
${renderLabelled("name", pay.name, input("name"), fault("name"))}`;
}

function renderCvv(fields: Fields, reader: FieldReader): Html {
  const { pay } = reader.texts;
  return html`<div class="field">
<label for="${words.cvv}">${pay.cvv}</label>
<div class="boxed" dir="ltr">${renderInput("cvv", fields, reader)}
<details class="help">
<summary aria-label="${pay.cvvHelp}"><span aria-hidden="true">?</span></summary>
<div><p>${pay.cvvBack}</p><p>${pay.cvvFront}</p></div></details></div>
${renderFault("cvv", fields, reader)}</div>
`;
}

/** Contact and address are two sections. A section with more than one field has a heading. */
export function renderCustomerFields(fields: Fields, reader: FieldReader): Html {
  const { pay } = reader.texts;
  const group = (title: string, all: readonly CustomerField[]) => {
    const wanted = all.filter((field) => fields.wanted.includes(field));
    const rows = wanted.map((field) => renderCustomerField(field, wanted, fields, reader));
    return wanted.length > 1 ? html`<h2>${title}</h2>\n${rows}` : html`${rows}`;
  };
  return html`${group(pay.contact, contactFields)}${group(pay.address, addressFields)}`;
}

/** The fields of each section, in the order in which people write them. */
const contactFields = ["firstName", "lastName", "email", "phone"] as const;
const addressFields = ["address", "zipCode", "city", "country", "state"] as const;

/** The postal code and the city are on one line. */
function renderCustomerField(
  field: CustomerField,
  wanted: readonly CustomerField[],
  fields: Fields,
  reader: FieldReader,
): Html {
  const { pay } = reader.texts;
  const label = { ...pay, address: pay.street, zipCode: pay.zip }[field];
  const isChosen = field === "country" || field === "state";
  const input = isChosen ? renderSelect(field, fields, reader) : renderInput(field, fields, reader);
  const row = renderLabelled(field, label, input, renderFault(field, fields, reader));
  const isPair = wanted.includes("zipCode") && wanted.includes("city");
  if (isPair && field === "zipCode") return html`<div class="two">\n${row}`;
  return isPair && field === "city" ? html`${row}</div>\n` : row;
}

function renderLabelled(field: FieldName, label: string, input: Html, fault: Html): Html {
  return html`<div class="field">
<label for="${words[field]}">${label}</label>
${input}
${fault}</div>
`;
}

function renderInput(field: keyof typeof attributes, fields: Fields, { texts }: FieldReader): Html {
  const value = fields.refilled?.values.get(field) ?? "";
  const shown = value === "" ? undefined : html` value="${value}"`;
  return html`<input ${identify(field)} ${attributes[field](texts)} required${shown}
 ${describe(field, fields, texts)}>`;
}

function renderSelect(field: "country" | "state", fields: Fields, reader: FieldReader): Html {
  const { texts } = reader;
  const value = fields.refilled?.values.get(field) ?? "";
  const isCountry = field === "country";
  const options = isCountry ? renderCountries(value, reader) : renderStates(value);
  // Without scripts, the page cannot know whether the chosen country has states, so the markup does
  // not require a state.
  return html`<select ${identify(field)}${isCountry ? html` required` : undefined}
 ${describe(field, fields, texts)}>
<option value="">${isCountry ? texts.pay.choose : texts.pay.stateHint}</option>
${options}</select>`;
}

function identify(field: FieldName): Html {
  const word = words[field];
  const isAddress = /^(address|postal|country)/.test(word);
  const completion = isAddress ? `billing ${word}` : word;
  return html`id="${word}" name="${word}" autocomplete="${completion}"`;
}

function describe(field: FieldName, { refilled }: Fields, { pay }: Texts): Html {
  const { missing, wrong } = pay.faults[field];
  const invalid = refilled?.faults.has(field) ? html` aria-invalid="true"` : undefined;
  return html`data-missing="${missing}" data-wrong="${wrong}"
 aria-describedby="${words[field]}-fault"${invalid}`;
}

function renderFault(field: FieldName, { refilled }: Fields, { texts }: FieldReader): Html {
  const fault = refilled?.faults.get(field);
  const text = fault === undefined ? "" : texts.pay.faults[field][fault];
  return html`<p class="fault" id="${words[field]}-fault" aria-live="polite">${text}</p>\n`;
}

const namesByLanguage = new Map<string, readonly (readonly [code: string, name: string])[]>();

/** Countries are sorted by the rules of the page's language. */
function renderCountries(chosen: string, { language }: FieldReader): readonly Html[] {
  const names = namesByLanguage.get(language) ?? nameCountries(language);
  namesByLanguage.set(language, names);
  return names.map(([code, name]) => renderOption(code, name, chosen));
}

function nameCountries(language: string) {
  const names = new Intl.DisplayNames(language, { type: "region" });
  const { compare } = new Intl.Collator(language);
  return countryCodes
    .map((code) => [code, names.of(code) ?? code] as const)
    .toSorted(([, left], [, right]) => compare(left, right));
}

function renderStates(chosen: string): readonly Html[] {
  return [...statesByCountry].map(([country, states]) => {
    const options = [...states].map((code) => renderOption(code, code, chosen));
    return html`<optgroup label="${country}" data-country="${country}">${options}</optgroup>\n`;
  });
}

function renderOption(value: string, label: string, chosen: string): Html {
  const selected = value === chosen ? html` selected` : undefined;
  return html`<option value="${value}"${selected}>${label}</option>`;
}

type Pages = Pick<PaymentPages, "findFaults"> & Guarded<Pick<PaymentPages, "pay">>;
export type Entered = Parameters<Pages["pay"]>[1];
export type EnteredFault = ReturnType<Pages["findFaults"]>[number];
export type WantedFields = Parameters<Pages["pay"]>[0]["wanted"];
type CustomerField = WantedFields[number];

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

const words = { ...cardWords, ...customerWords };

type FieldName = keyof typeof words;
type FieldFault = "missing" | "wrong";
/** The values of a submitted form, by the `autocomplete` words of their fields. */
export type PostedFields = ReadonlyMap<string, string>;

/** The values that the form shows again beside the faults; never the card number or the CVV. */
export type Refilled = {
  readonly faults: ReadonlyMap<FieldName, FieldFault>;
  readonly values: ReadonlyMap<FieldName, string>;
};

/** Only browsers without scripts post an expiry date that was typed into the month field. */
export function spreadExpiry(posted: PostedFields): PostedFields {
  const [month, year] = splitExpiry(latinDigits(posted.get(words.month) ?? "")) ?? [];
  if (month === undefined || year === undefined) return posted;
  return new Map([...posted, [words.month, month], [words.year, year]]);
}

/** Reads the card, or a wallet's payment data if the page offers that wallet. */
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

export function refill(posted: PostedFields, faults: readonly EnteredFault[]): Refilled {
  const shown = (Object.keys(words) as FieldName[]).filter(
    (field) => field !== "number" && field !== "cvv",
  );
  return {
    faults: new Map(faults.map((fault) => placeOf(fault, posted))),
    values: new Map(shown.map((field) => [field, readText(posted, field)])),
  };
}

/** A missing or wrong part of the expiry date is shown at its own field, the month or the year. */
function placeOf({ field, problem }: EnteredFault, posted: PostedFields): [FieldName, FieldFault] {
  const fault = problem === "missing" ? "missing" : "wrong";
  if (field === "holderName") return ["name", fault];
  if (field !== "expiry") return [field, fault];
  if (problem === "missing") return [readText(posted, "month") === "" ? "month" : "year", fault];
  return [problem === "expired" ? "year" : "month", fault];
}

function readText(posted: PostedFields, field: FieldName): string {
  const text = (posted.get(words[field]) ?? "").trim();
  // A phone number with its country code is not masked, even if it looks like a card number.
  return field === "phone" && /^(\+|00)/.test(text) ? text : maskCardNumbers(text);
}

/** Converts a typed number to the digits 0 to 9, without spaces and hyphens. */
function toDigits(text: string): string {
  return latinDigits(text).replace(/[\s\u200e\u200f-]/g, "");
}

function latinDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));
}
