/**
 * Checks what the payment page submits: a card or a wallet's payment data, and customer fields. All
 * faults are shown together, and a faulty submission begins no try.
 */
import type { Endpoint } from "../orders/merchant.ts";
import type { Customer, Order, PaymentPage, Purchase, WalletType } from "../orders/order.ts";
import { customerSent } from "../orders/payment-page.ts";
import { type CardNumber, isExpired, isLuhnValid } from "../values/card-number.ts";
import { parseEmail } from "../values/email.ts";
import { isCountry, statesOf } from "../values/iso-codes.ts";
import type { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";

export type Submission = {
  readonly paid:
    | ({ readonly kind: "card" } & SubmittedCard)
    /** `text` is the wallet's payment data, as the JSON text that the wallet has returned. */
    | { readonly kind: "wallet"; readonly type: WalletType; readonly text: Secret<string> };
  /** Fields that the page does not ask for are ignored. */
  readonly customer: Partial<Customer>;
  readonly ipAddress: string;
  /** The browser's properties, by the names that merchants' requests use. */
  readonly browser: Purchase["browser"];
};

/** Expiry month and year have two digits each. */
type SubmittedCard = {
  readonly number: CardNumber;
  readonly expiryMonth: string;
  readonly expiryYear: string;
  readonly cvv: Secret<string> | undefined;
  readonly holderName: string;
};

type AskingOrder = Pick<Order, "purchase"> & {
  readonly page?: Pick<PaymentPage, "entered" | "linkId"> | undefined;
};

export type WantedField = (typeof askable)[number]["field"];

/** `name` is the field's name in settings and requests. A sale requires the `isUsual` fields. */
const askable = [
  { field: "firstName", name: "first_name", max: 50, isUsual: false },
  { field: "lastName", name: "last_name", max: 50, isUsual: false },
  { field: "email", name: "email", max: 50, isUsual: true },
  { field: "phone", name: "phone", max: 15, isUsual: true },
  { field: "address", name: "address1", max: 50, isUsual: true },
  { field: "city", name: "city", max: 50, isUsual: true },
  { field: "zipCode", name: "zip_code", max: 10, isUsual: true },
  { field: "country", name: "country", max: 2, isUsual: true },
  { field: "state", name: "state", max: 3, isUsual: false },
] as const satisfies readonly {
  readonly field: keyof Customer;
  name: string;
  max: number;
  isUsual: boolean;
}[];

/**
 * The page asks for the fields that the endpoint's settings name, or else for those that a sale
 * requires, except those that the merchant has sent. The page of a payment link, which has no
 * merchant's request, asks for the email address alone by default: it is enough for acquirers and
 * 3-D Secure. If the country has states, the page asks for the state too, unless the endpoint
 * waives it.
 */
export function wantedFieldsOf(
  order: AskingOrder,
  { settings: { pageFields, optionalFields = [] } }: Pick<Endpoint, "settings">,
): readonly WantedField[] {
  const customer = customerSent(order);
  // The merchant's staff can ask on the telephone for all that a sale needs.
  const isLink = order.page?.linkId !== undefined && order.purchase.channel === undefined;
  const isNamed = ({ name, isUsual }: (typeof askable)[number]) =>
    pageFields === undefined
      ? (isLink ? name === "email" : isUsual) && !optionalFields.includes(name)
      : pageFields.includes(name);
  const named = askable.filter((each) => each.field !== "state" && isNamed(each));
  const absent = named.map(({ field }) => field).filter((field) => customer[field] === undefined);
  const asksCountry = absent.includes("country");
  const hasStates = customer.country !== undefined && statesOf(customer.country) !== undefined;
  const hasCountry = hasStates && named.some(({ field }) => field === "country");
  const wantsState = (asksCountry || hasCountry) && !optionalFields.includes("state");
  return wantsState && customer.state === undefined ? [...absent, "state"] : absent;
}

type SubmissionFault = {
  readonly field: "number" | "expiry" | "cvv" | "holderName" | WantedField;
  readonly problem: "missing" | "invalid" | "expired";
};

export type Asked = {
  readonly order: AskingOrder;
  readonly wanted: readonly WantedField[];
  readonly needsCvv: boolean;
};

export function findSubmissionFaults(
  asked: Asked,
  { paid, customer }: Submission,
  now: Instant,
): readonly SubmissionFault[] {
  const faults = paid.kind === "card" ? cardFaults(paid, asked.needsCvv, now) : [];
  return [...faults, ...customerFaults(asked, customer)];
}

function cardFaults(card: SubmittedCard, needsCvv: boolean, now: Instant): SubmissionFault[] {
  const { expiryMonth, expiryYear, cvv, holderName } = card;
  const digits = card.number.reveal();
  const faults: SubmissionFault[] = [];
  if (digits === "") faults.push({ field: "number", problem: "missing" });
  else if (!/^\d{12,19}$/.test(digits) || !isLuhnValid(digits)) {
    faults.push({ field: "number", problem: "invalid" });
  }
  if (expiryMonth === "" || expiryYear === "") faults.push({ field: "expiry", problem: "missing" });
  else if (!/^(0[1-9]|1[0-2])$/.test(expiryMonth) || !/^\d{2}$/.test(expiryYear)) {
    faults.push({ field: "expiry", problem: "invalid" });
  } else if (isExpired(expiryMonth, expiryYear, now)) {
    faults.push({ field: "expiry", problem: "expired" });
  }
  if (cvv === undefined) {
    if (needsCvv) faults.push({ field: "cvv", problem: "missing" });
  } else if (!/^\d{3,4}$/.test(cvv.reveal())) faults.push({ field: "cvv", problem: "invalid" });
  if (holderName === "") faults.push({ field: "holderName", problem: "missing" });
  else if (!isText(holderName, 128)) faults.push({ field: "holderName", problem: "invalid" });
  return faults;
}

function customerFaults(
  { order, wanted }: Asked,
  customer: Partial<Customer>,
): readonly SubmissionFault[] {
  const country = customerSent(order).country ?? customer.country ?? "";
  const states = statesOf(country);
  return askable.flatMap(({ field, max }): readonly SubmissionFault[] => {
    if (!wanted.includes(field) || (field === "state" && states === undefined)) return [];
    const value = customer[field] ?? "";
    if (value === "") return [{ field, problem: "missing" }];
    const isGood = isText(value, max) && (checks[field]?.(value, states) ?? true);
    return isGood ? [] : [{ field, problem: "invalid" }];
  });
}

/** In a country without state codes, the state is free text and is not stored. */
export function customerIn(
  order: AskingOrder,
  { customer: { state, ...others } }: Pick<Submission, "customer">,
): Partial<Customer> {
  const email = others.email === undefined ? undefined : parseEmail(others.email);
  const rest = email === undefined ? others : { ...others, email };
  const country = customerSent(order).country ?? rest.country ?? "";
  return state === undefined || statesOf(country) === undefined ? rest : { ...rest, state };
}

type Check = (value: string, states: ReadonlySet<string> | undefined) => boolean;

const checks: { readonly [Field in WantedField]?: Check } = {
  email: (value) => parseEmail(value) !== undefined,
  country: isCountry,
  state: (value, states) => states?.has(value) === true,
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: the check looks for them
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

function isText(value: string, max: number): boolean {
  return [...value].length <= max && !controlCharacters.test(value);
}
