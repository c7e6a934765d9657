/**
 * What a request that takes money has besides its single fields: the rules between them, and the
 * purchase and the card that they make together.
 */
import type { CardData } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { CardFacts, Purchase, WalletType } from "../orders/order.ts";
import { CardNumber, isExpired, isLuhnValid } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { statesOf } from "../values/iso-codes.ts";
import type { Money } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import { missingBrowserFields, readBrowser } from "./browser-fields.ts";
import type { Context } from "./operation.ts";
import { walletFaults } from "./wallet.ts";

export type PurchaseRequest = {
  readonly order_desc?: string;
  readonly ipaddress: string;
  readonly credit_card_number: string | undefined;
  readonly cardNumber: string | undefined;
  readonly card_printed_name: string | undefined;
  readonly expire_month: string | undefined;
  readonly expire_year: string | undefined;
  readonly cvv2: string | undefined;
  readonly payment_data?: string | undefined;
  readonly payment_data_type?: WalletType | undefined;
  readonly redirect_url: string | undefined;
  readonly country: string;
  readonly state: string | undefined;
  readonly [other: string]: unknown;
};

export function purchaseRules(request: PurchaseRequest, context: Context): readonly Failure[] {
  const { endpoints } = context.entryPoint;
  const byWallet = isByWallet(request);
  const wantsCvv = request.cvv2 === undefined && endpoints.some(mayWantCvv);
  return [
    ...(byWallet ? walletFaults(request) : cardFaults(request, context.receivedAt)),
    ...(wantsCvv && !byWallet ? [missing("cvv2")] : []),
    ...stateFaults(request),
    ...(request.redirect_url === undefined &&
    endpoints.some(({ settings }) => settings.threeDSecure !== "off")
      ? [missing("redirect_url")]
      : []),
    ...missingBrowserFields(request).map(missing),
    ...callbackFaults(request, context),
  ];
}

/** Refused now, as it would be when it is called. */
export function callbackFaults(
  request: Readonly<Record<string, unknown>>,
  { services }: Context,
): readonly Failure[] {
  return ["server_callback_url", "notify_url"].flatMap((name) => {
    const url = request[name];
    const fault = typeof url === "string" ? services.findCallbackFault(url) : undefined;
    return fault === undefined ? [] : [invalid(`${name}: ${fault}`)];
  });
}

/** Paid with a wallet's payment data, or meant to be. */
export function isByWallet(request: PurchaseRequest): boolean {
  return request.payment_data !== undefined || request.payment_data_type !== undefined;
}

/** Whatever else of a purchase the request has is optional. */
type PurchaseFacts = {
  readonly order_desc?: string;
  readonly ipaddress: string;
  readonly [other: string]: unknown;
};

export function readPurchase(request: PurchaseFacts, amount: Money): Purchase {
  const text = (name: string) => {
    const value = request[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    amount,
    description: request.order_desc ?? "",
    ipAddress: request.ipaddress,
    customer: {
      firstName: text("first_name"),
      lastName: text("last_name"),
      email: text("email"),
      phone: text("phone"),
      cellPhone: text("cell_phone"),
      birthday: text("birthday"),
      country: text("country"),
      state: text("state"),
      city: text("city"),
      zipCode: text("zip_code"),
      address: text("address1"),
    },
    urls: {
      redirect: text("redirect_url"),
      redirectSuccess: text("redirect_success_url"),
      redirectFail: text("redirect_fail_url"),
      serverCallback: text("server_callback_url"),
      notify: text("notify_url"),
    },
    merchantData: text("merchant_data"),
    purpose: text("purpose"),
    comment: text("comment"),
    siteUrl: text("site_url"),
    browser: readBrowser(request),
  };
}

/** Splits the card: what may be written down, and what may only be held. */
export function readCard(request: PurchaseRequest): {
  readonly facts: Omit<CardFacts, "cardId" | "hashId">;
  readonly cardData: CardData;
} {
  const number = new CardNumber(request.credit_card_number ?? request.cardNumber ?? "");
  const expiryMonth = (request.expire_month ?? "").padStart(2, "0");
  const expiryYear = (request.expire_year ?? "").slice(-2);
  return {
    facts: {
      bin: number.bin,
      lastFour: number.lastFour,
      network: number.network,
      holderName: request.card_printed_name ?? "",
      expiryMonth,
      expiryYear: `20${expiryYear}`,
    },
    cardData: {
      number,
      expiryMonth,
      expiryYear,
      cvv: request.cvv2 === undefined ? undefined : new Secret(request.cvv2),
    },
  };
}

/** Two requests are the same when every known field but the checksum is; decision 0005. */
export function requestFingerprintOf(what: string, { sent, known }: Context): Secret<string> {
  let text = what;
  for (const name of known) {
    const value = sent.get(name);
    if (value === undefined || value === "" || name === "control" || name === "login") continue;
    text += `\n${name}=${value.length}:${value}`;
  }
  return new Secret(text);
}

/** Which gate it will be is not known yet, so one that wants the CVV is enough. */
function mayWantCvv({ gates }: Endpoint): boolean {
  return gates.some(({ worksWithoutCvv }) => !worksWithoutCvv);
}

function cardFaults(request: PurchaseRequest, now: Instant): readonly Failure[] {
  const { credit_card_number: number, cardNumber: other } = request;
  const digits = number ?? other;
  const faults: Failure[] = [];
  if (digits === undefined) faults.push(missing("credit_card_number"));
  else if (!isLuhnValid(digits)) faults.push(invalid("credit_card_number: check digit"));
  if (number !== undefined && other !== undefined && number !== other) {
    faults.push(invalid("cardNumber: not the same as credit_card_number"));
  }
  for (const name of ["card_printed_name", "expire_month", "expire_year"] as const) {
    if (request[name] === undefined) faults.push(missing(name));
  }
  const { expire_month: month, expire_year: year } = request;
  if (month !== undefined && year !== undefined && isExpired(month, year, now)) {
    faults.push(invalid("expire_year: the card has expired"));
  }
  return faults;
}

function stateFaults({ country, state }: PurchaseRequest): readonly Failure[] {
  const states = statesOf(country);
  if (states === undefined) return [];
  if (state === undefined) return [missing("state")];
  return states.has(state) ? [] : [invalid("state: not a state of the country")];
}

function missing(name: string): Failure {
  return new Failure("missing_parameter", name);
}

function invalid(detail: string): Failure {
  return new Failure("invalid_parameter", detail);
}
