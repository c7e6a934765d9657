/**
 * The fields of requests that begin an order, and the rules between them: customer, card or wallet,
 * URLs for results, and the cardholder's browser, which 3-D Secure describes to the issuer.
 */
import type { Endpoint } from "../orders/merchant.ts";
import { challengePreferences, scaExemptions, walletTypes } from "../orders/order.ts";
import { isExpired, isLuhnValid } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { statesOf } from "../values/iso-codes.ts";
import { hasCardNumber } from "../values/mask-card-numbers.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import * as field from "./fields.ts";
import { type Context, isWaived } from "./operation.ts";

export const paidFields = {
  client_orderid: field.clientOrderId("merchant order id; it can be paid once"),
  order_desc: field.freeText(65_536, "order description"),
  amount: field.amount("amount in the highest unit with `.` as delimiter"),
  currency: field.currency("three-letter currency code"),
} as const;

// biome-ignore format: a table
export const walletFields = {
  payment_data:         field.conditional(field.message(65_536, "a wallet's payment data in place of card data: its JSON text, base64-encoded")),
  payment_data_type:    field.conditional(field.choice(walletTypes, "type of `payment_data`: `walleta_encrypted`, `walleta_decrypted`, `walletb_encrypted` or `walletb_decrypted`, or as an extension `network_token`")),
} as const;

const truth = ["true", "false"] as const;

// biome-ignore format: a table
const browserFields = {
  customer_browser_info:               field.optional(field.choice(truth, "`true` when the browser's fields are sent")),
  customer_browser_color_depth:        field.conditional(field.digits(1, 2, "colour depth of the screen in bits")),
  customer_browser_java_enabled:       field.conditional(field.choice(truth, "whether Java runs in the browser")),
  customer_browser_javascript_enabled: field.conditional(field.choice(truth, "whether JavaScript runs in the browser")),
  customer_browser_screen_height:      field.conditional(field.digits(1, 6, "height of the screen in pixels")),
  customer_browser_screen_width:       field.conditional(field.digits(1, 6, "width of the screen in pixels")),
  customer_browser_time_zone:          field.conditional(field.pattern("5/String", /^[+-]?\d{1,4}$/, "minutes between UTC and the browser's time")),
  customer_browser_accept_header:      field.conditional(field.line(2048, "the browser's Accept header")),
  customer_browser_accept_language:    field.conditional(field.line(100, "the browser's Accept-Language header")),
  customer_browser_user_agent:         field.conditional(field.line(2048, "the browser's User-Agent header")),
  customer_accept:                     field.optional(field.line(2048, "older name of customer_browser_accept_header")),
  customer_accept_language:            field.optional(field.line(100, "older name of customer_browser_accept_language")),
  customer_user_agent:                 field.optional(field.line(2048, "older name of customer_browser_user_agent")),
} as const;

const olderNames: Readonly<Record<string, string>> = {
  customer_browser_accept_header: "customer_accept",
  customer_browser_accept_language: "customer_accept_language",
  customer_browser_user_agent: "customer_user_agent",
};

/** Pairs each name with its older name, or with itself. */
const browserNames = Object.keys(browserFields)
  .filter((name) => name.startsWith("customer_browser_"))
  .map((name) => [name, olderNames[name] ?? name] as const);

// biome-ignore format: a table
export const payerFields = {
  email:                field.email(50, "customer's email address"),
  ipaddress:            field.ipAddress("customer's IP address, for fraud screening"),
  first_name:           field.optional(field.line(50, "customer's first name")),
  last_name:            field.optional(field.line(50, "customer's last name")),
  address1:             field.line(50, "customer's address"),
  city:                 field.line(50, "customer's city"),
  zip_code:             field.line(10, "customer's postal code"),
  country:              field.country("customer's country, two letters"),
  state:                field.conditional(field.ignorable(field.line(3, "customer's state; mandatory, and one of the country's codes, for US, CA and AU unless the endpoint waives it"))),
  phone:                field.phone("customer's phone number, any characters"),
  cell_phone:           field.ignorable(field.phone("customer's mobile phone number, any characters")),
  ssn:                  field.ignorable(field.line(32, "social security number, or its last digits; not stored")),
  birthday:             field.ignorable(field.pattern("10/String", /^\d{6}(\d{2})?$/, "customer's date of birth, YYYYMMDD or YYMMDD")),
  site_url:             field.optional(field.line(128, "URL of the shop")),
  purpose:              field.optional(field.line(128, "destination of the payment, for fraud monitoring")),
  comment:              field.optional(field.line(50, "short comment")),
  credit_card_number:   field.conditional(field.digits(12, 19, "card number")),
  cardNumber:           field.conditional(field.digits(12, 19, "another name of credit_card_number")),
  card_printed_name:    field.conditional(field.line(128, "cardholder's name as printed on the card")),
  expire_month:         field.conditional(field.pattern("1-2/Numeric", /^(0?[1-9]|1[0-2])$/, "month of expiry")),
  expire_year:          field.conditional(field.pattern("2 or 4/Numeric", /^(20)?\d{2}$/, "year of expiry")),
  cvv2:                 field.conditional(field.digits(3, 4, "card verification value")),
  hosted_fields_token:  field.conditional(field.pattern("64/String", /^.{1,64}$/su, "token of hosted fields, in place of number, expiry and cvv2; it pays for one order within 15 minutes")),
  redirect_url:         field.conditional(field.url("the browser is redirected here at the end; mandatory where 3-D Secure is possible")),
  redirect_success_url: field.optional(field.url("the browser is redirected here when approved")),
  redirect_fail_url:    field.optional(field.url("the browser is redirected here when declined or filtered")),
  server_callback_url:  field.optional(field.url("receives the result")),
  notify_url:           field.optional(field.url("receives the results of later transactions")),
  merchant_data:        field.optional(field.freeText(65_536, "free merchant data, returned in status and callback")),
  transaction_channel:  field.optional(field.choice(["ECOM", "MOTO"], "extension: how the order came, `ECOM` or `MOTO`, by mail or telephone: no 3-D Secure, and `cvv2` is optional; the endpoint must accept it")),
  three_ds_preference:  field.optional(field.choice(challengePreferences, "extension: whether a challenge is wanted in 3-D Secure: `no_preference`, `no_challenge`, `challenge` or `challenge_mandated`; ignored without 3-D Secure")),
  sca_exemption:        field.optional(field.choice(scaExemptions, "extension: why no authentication is needed: `low_value`, `tra`, `trusted_beneficiary` or `secure_corporate`; the endpoint must accept it")),
  login:                field.optional(field.line(20, "merchant login; if sent, it must be that of the endpoint's merchant")),
  control:              field.checksum(),
  ...browserFields,
} as const;

export type PurchaseRequest = field.Values<typeof payerFields> &
  field.Values<typeof walletFields> & {
    readonly client_orderid: string;
    readonly order_desc?: string;
  };

/** The fields of a card, and those that may not contain its number. */
export type CardRequest = {
  readonly [Name in
    | (typeof cardNames)[number]
    | "card_printed_name"
    | "client_orderid"
    | "network_transaction_id"
    | (typeof addresses)[number][0]]?: string | undefined;
};

export function purchaseRules(request: PurchaseRequest, context: Context): readonly Failure[] {
  const { endpoints } = context.entryPoint;
  const isWallet = request.payment_data !== undefined || request.payment_data_type !== undefined;
  const isMoto = request.transaction_channel === "MOTO";
  const isToken = request.hosted_fields_token !== undefined;
  const isTyped = !isWallet && !isToken;
  const needsCvv = isTyped && !isMoto && request.cvv2 === undefined && endpoints.some(mayNeedCvv);
  const needsReturn =
    !isMoto &&
    request.redirect_url === undefined &&
    endpoints.some(({ settings }) => settings.threeDSecure !== "off");
  const faults = isTyped ? [...cardFaults(request, context.receivedAt)] : [];
  if (isWallet) faults.push(...walletFaults(request));
  else if (isToken) faults.push(...tokenFaults(request));
  if (needsCvv) faults.push(missing("cvv2"));
  faults.push(...stateFaults(request, context));
  if (needsReturn) faults.push(missing("redirect_url"));
  faults.push(...browserFaults(request), ...addressFaults(request, context));
  faults.push(...extensionFaults(request));
  return faults;
}

/** Payment data and an exemption belong to a payment in a browser, and a wish may contradict it. */
function extensionFaults(request: PurchaseRequest): readonly Failure[] {
  const { payment_data: wallet, transaction_channel: channel, sca_exemption: exemption } = request;
  const faults: Failure[] = [];
  const isMoto = channel === "MOTO";
  if (isMoto && wallet !== undefined) faults.push(invalid("payment_data: not with MOTO"));
  if (exemption === undefined) return faults;
  if (isMoto) faults.push(invalid("sca_exemption: not with MOTO"));
  if (request.three_ds_preference?.startsWith("challenge")) {
    faults.push(invalid("sca_exemption: not with a wish for a challenge"));
  }
  return faults;
}

/** The order's gate is not known yet, so one gate that needs the CVV is enough. */
export function mayNeedCvv({ gates }: Endpoint): boolean {
  return gates.some(({ worksWithoutCvv }) => !worksWithoutCvv);
}

export function cardFaults(request: CardRequest, now: Instant): readonly Failure[] {
  const { credit_card_number: number, cardNumber: other } = request;
  const sent = number ?? other;
  const faults: Failure[] = [];
  if (sent === undefined) faults.push(missing("credit_card_number"));
  else if (!isLuhnValid(sent)) faults.push(invalid("credit_card_number: check digit"));
  else
    faults.push(...namesWith(sent, request).map((name) => invalid(`${name}: ${field.hasNumber}`)));
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

const addresses = [
  ["redirect_url", "return"],
  ["redirect_success_url", "return"],
  ["redirect_fail_url", "return"],
  ["server_callback_url", "callback"],
  ["notify_url", "callback"],
] as const;

/** The fields that are stored as they are sent. */
const storedNames = [
  ...(["client_orderid", "network_transaction_id"] as const),
  ...addresses.map(([name]) => name),
] as const;

/** Returns the stored fields that contain the card number. */
export function namesWith(number: string, request: CardRequest): readonly string[] {
  return storedNames.filter((name) => {
    const text = request[name]?.replace(/%([0-7][0-9a-f])/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    return text?.normalize("NFKC").replace(/\D/g, "").includes(number);
  });
}

export function stateFaults(
  { country: code }: { readonly country?: string | undefined },
  { entryPoint, sent }: Context,
): readonly Failure[] {
  const states = statesOf(code ?? "");
  if (states === undefined || isWaived("state", entryPoint)) return [];
  const state = sent.get("state") ?? "";
  if (state === "") return [missing("state")];
  return states.has(state) ? [] : [invalid("state: not a state of the country")];
}

/** URLs to which no callback can be sent, and those in plain HTTP, are refused at once. */
export function addressFaults(
  request: { readonly [Name in (typeof addresses)[number][0]]?: string | undefined },
  { services, entryPoint }: Context,
): readonly Failure[] {
  const faults: Failure[] = [];
  for (const [name, use] of addresses) {
    const sent = request[name];
    const fault = sent && services.findAddressFault(sent, use, entryPoint.endpoints);
    if (fault) faults.push(invalid(`${name}: ${fault}`));
  }
  return faults;
}

/** A merchant that announces the browser's fields must send all of them. */
function browserFaults(request: Readonly<Record<string, unknown>>): readonly Failure[] {
  if (request["customer_browser_info"] !== "true") return [];
  const browser = readBrowser(request) ?? {};
  const absent = browserNames.filter(([name]) => browser[name] === undefined);
  return absent.map(([name]) => missing(name));
}

/** Returns the properties by their newer names, or undefined if none was sent. */
export function readBrowser(
  request: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> | undefined {
  let browser: Record<string, string> | undefined;
  for (const [name, older] of browserNames) {
    const value = request[name] ?? request[older];
    if (typeof value !== "string") continue;
    browser ??= {};
    browser[name] = value;
  }
  return browser;
}

const cardNames = [
  "credit_card_number",
  "cardNumber",
  "expire_month",
  "expire_year",
  "cvv2",
] as const;

/** The content of payment data is checked after the acknowledgement. */
function walletFaults(request: PurchaseRequest): readonly Failure[] {
  const { payment_data: sent, payment_data_type: type } = request;
  const faults = [...besideFaults([...cardNames, "hosted_fields_token"], request, "payment_data")];
  if (type === undefined) faults.unshift(missing("payment_data_type"));
  if (sent === undefined) return [missing("payment_data"), ...faults];
  const fault = walletFaultOf(decodeBase64(sent));
  return fault === undefined ? faults : [invalid(`payment_data: ${fault}`), ...faults];
}

/**
 * Refuses any card number in stored fields. A comparison with the token's own number would let the
 * merchant guess it.
 */
function tokenFaults(request: PurchaseRequest): readonly Failure[] {
  const faults = [...besideFaults(cardNames, request, "hosted_fields_token")];
  if (request.card_printed_name === undefined) faults.push(missing("card_printed_name"));
  const stored: CardRequest = request;
  const revealing = storedNames.filter((name) => hasCardNumber(stored[name] ?? ""));
  faults.push(...revealing.map((name) => invalid(`${name}: ${field.hasNumber}`)));
  return faults;
}

function besideFaults(
  names: readonly (keyof PurchaseRequest)[],
  request: PurchaseRequest,
  paidBy: string,
): readonly Failure[] {
  const beside = names.filter((name) => request[name] !== undefined);
  return beside.map((name) => invalid(`${name}: not beside ${paidBy}`));
}

/** The request has passed the rules. */
export function readWalletText(sent: string): Secret<string> {
  return new Secret(decodeBase64(sent) ?? "");
}

/** Takes both alphabets of base64, padded or not. Form decoding has made a `+` a space. */
function decodeBase64(sent: string): string | undefined {
  const text = sent.replaceAll(" ", "+").replaceAll(/[\r\n\t]/g, "");
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "base64"));
  } catch {
    return undefined;
  }
}

function walletFaultOf(text: string | undefined): string | undefined {
  if (text === undefined) return "not base64 of text";
  if (isJson(text)) return undefined;
  const inner = decodeBase64(text);
  return inner !== undefined && isJson(inner) ? "base64-encoded twice" : "not JSON";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function missing(name: string): Failure {
  return new Failure("missing_parameter", name);
}

function invalid(detail: string): Failure {
  return new Failure("invalid_parameter", detail);
}
