/**
 * Builds the AReq: merchant, purchase, cardholder and browser. Values that do not fit the protocol
 * are adapted or left out: an unusual screen or name must not cost a payment.
 */
import type { Emv3dsMessage } from "@tollgate/protocols/emv3ds";
import type { SeenBrowser, ThreeDSecure } from "../orders/authentication.ts";
import type {
  CardFacts,
  ChallengePreference,
  Customer,
  Order,
  Purchase,
  ScaExemption,
} from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import { numericCountry } from "../values/iso-codes.ts";
import { calendar, type Instant } from "../values/time.ts";
import type { DirectorySettings } from "./directory-client.ts";

type AReqParts = {
  readonly order: Order;
  readonly threeds: ThreeDSecure;
  readonly card: PaidCard;
  readonly merchant: MerchantAtGate;
  readonly settings: DirectorySettings;
  /** Where the directory server posts a challenge's result. */
  readonly resultsUrl: string;
  /** Where the issuer sends the browser after a challenge. */
  readonly notificationUrl: string;
  readonly now: Instant;
};

export type PaidCard = {
  readonly number: CardNumber;
  readonly expiryYear: string;
  readonly expiryMonth: string;
};

/** The merchant in the settings of the order's gate. */
export type MerchantAtGate = {
  readonly acquirerId: string;
  readonly merchantCode: string;
  readonly categoryCode: string;
  readonly countryCode: string;
  /** Field 43 of the gate's messages: a name of 25 characters, then city and country. */
  readonly nameAndPlace: string;
};

const nameCharacters = 25;

export function merchantNameOf(
  { nameAndPlace, merchantCode }: MerchantAtGate,
  lengthMax: number,
): string {
  return latin(nameAndPlace.slice(0, nameCharacters).trim(), lengthMax) ?? merchantCode;
}

const browserChannel = "02";

/** `withoutCustomer` is for customer data that does not fit the protocol. */
export function makeAReq(parts: AReqParts, { withoutCustomer = false } = {}): Emv3dsMessage {
  const { order, threeds, card, settings } = parts;
  const { purchase } = order;
  const isPayment = order.transaction.kind !== "account-verification";
  return {
    messageType: "AReq",
    messageVersion: threeds.version,
    deviceChannel: browserChannel,
    messageCategory: isPayment ? "01" : "02",
    threeDSCompInd: threeds.browser?.completion ?? "U",
    threeDSServerTransID: threeds.transactionId,
    threeDSServerRefNumber: settings.referenceNumber,
    threeDSServerOperatorID: settings.operatorId,
    threeDSServerURL: parts.resultsUrl,
    threeDSRequestorID: settings.requestorId,
    threeDSRequestorName: settings.requestorName,
    threeDSRequestorURL: settings.requestorUrl,
    // The message category: a payment, or a card that is added.
    threeDSRequestorAuthenticationInd: isPayment ? "01" : "04",
    ...challengeWish(order, threeds.version),
    acctNumber: card.number.reveal(),
    cardExpiryDate: card.expiryYear + card.expiryMonth,
    notificationURL: parts.notificationUrl,
    ...merchantElements(parts),
    ...(isPayment ? purchaseElements(parts) : {}),
    ...(withoutCustomer ? {} : customerElements(purchase.customer, order.card)),
    ...browserElements(purchase, threeds.browser, threeds.version),
  };
}

/** After a soft decline, a challenge is mandated, and an exemption counts no more. */
function challengeWish({ transaction, purchase }: Order, version: string): object {
  const { challengePreference, scaExemption } = purchase;
  const isList = version === "2.3.1";
  const demanded = transaction.demanded && (isList ? "13" : "04");
  const exempt = scaExemption && exemptionIndicator(scaExemption, version);
  const wished = challengePreference && preferences[challengePreference];
  const indicator = demanded ?? exempt ?? wished;
  return indicator === undefined
    ? {}
    : { threeDSRequestorChallengeInd: isList ? [indicator] : indicator };
}

const preferences: Readonly<Record<ChallengePreference, string>> = {
  no_preference: "01",
  no_challenge: "02",
  challenge: "03",
  challenge_mandated: "04",
};

/** In a version without the exemption, the message only asks for no challenge. */
function exemptionIndicator(exemption: ScaExemption, version: string): string {
  const [indicator, since] = exemptionIndicators[exemption];
  return version >= since ? indicator : preferences.no_challenge;
}

const exemptionIndicators = {
  tra: ["05", "2.2.0"],
  trusted_beneficiary: ["08", "2.2.0"],
  low_value: ["10", "2.3.1"],
  secure_corporate: ["11", "2.3.1"],
} as const satisfies Readonly<Record<ScaExemption, readonly [indicator: string, since: string]>>;

function merchantElements({ merchant, threeds }: AReqParts): object {
  const { acquirerId, merchantCode, categoryCode, countryCode } = merchant;
  const acquirerCountry = { acquirerCountryCode: countryCode, acquirerCountryCodeSource: "01" };
  return {
    acquirerBIN: acquirerId,
    acquirerMerchantID: merchantCode,
    mcc: categoryCode,
    merchantCountryCode: countryCode,
    merchantName: merchantNameOf(merchant, 40),
    ...(threeds.version === "2.3.1" ? acquirerCountry : {}),
  };
}

function purchaseElements({ order, now }: AReqParts): object {
  const { minor, currency } = order.transaction.amount;
  const { year, month, day, hour, minute, second } = calendar(now);
  return {
    purchaseAmount: String(minor),
    purchaseCurrency: currency.numeric,
    purchaseExponent: String(currency.exponent),
    purchaseDate: `${year}${month}${day}${hour}${minute}${second}`,
    transType: "01",
  };
}

const nameMax = 45;
const lineMax = 50;
const postCodeMax = 16;

/** Undefined elements are not written. */
function customerElements(customer: Customer, { holderName }: CardFacts) {
  const country = countryOf(customer.country);
  const name = latin(holderName, nameMax);
  return {
    cardholderName: name !== undefined && name.length >= 2 ? name : undefined,
    email: customer.email,
    homePhone: phoneOf(customer.phone),
    mobilePhone: phoneOf(customer.cellPhone),
    billAddrLine1: latin(customer.address, lineMax),
    billAddrCity: latin(customer.city, lineMax),
    billAddrPostCode: latin(customer.zipCode, postCodeMax),
    billAddrCountry: country,
    // The protocol refuses a state without a country.
    billAddrState: country === undefined ? undefined : stateOf(customer.state),
  };
}

/** Directory servers refuse the user-assigned codes from 901 on, such as Kosovo's. */
function countryOf(code: string | undefined): string | undefined {
  const numeric = code === undefined ? undefined : numericCountry(code);
  return numeric === undefined || numeric > "900" ? undefined : numeric;
}

/** Accents are removed. Versions before 2.3.1 refuse other letters too. */
function latin(text: string | undefined, lengthMax: number): string | undefined {
  return asciiOf(text?.normalize("NFKD"), lengthMax);
}

function asciiOf(text: string | undefined, lengthMax: number): string | undefined {
  const ascii = text?.replaceAll(/[^\x20-\x7e]/g, "");
  return ascii?.trim().slice(0, lengthMax) || undefined;
}

/** Returns the subdivision alone: `CA`, not `US-CA`. */
function stateOf(state: string | undefined): string | undefined {
  const code = state?.split("-").at(-1) ?? "";
  return /^[A-Za-z0-9]{1,3}$/.test(code) ? code : undefined;
}

/** The country codes with one and with two digits. All others have three (ITU-T E.164). */
const shortCodes = /^(?:[17]|2[07]|3[0-46-9]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

/** Only an international number can be split. */
function phoneOf(phone: string | undefined): object | undefined {
  const [, digits] = /^\+(\d{5,18})$/.exec(phone?.replaceAll(/[\s()-]/g, "") ?? "") ?? [];
  if (digits === undefined) return undefined;
  const cc = shortCodes.exec(digits)?.[0] ?? digits.slice(0, 3);
  return { cc, subscriber: digits.slice(cc.length).slice(0, 15) };
}

type Properties = Readonly<Record<string, string | undefined>>;
type BrowserElements = Readonly<Record<string, string | boolean | readonly string[]>>;

const saleNames: readonly (readonly [property: string, saleName: string])[] = [
  ["browserAcceptHeader", "customer_browser_accept_header"],
  ["browserColorDepth", "customer_browser_color_depth"],
  ["browserJavaEnabled", "customer_browser_java_enabled"],
  ["browserJavascriptEnabled", "customer_browser_javascript_enabled"],
  ["browserLanguage", "customer_browser_accept_language"],
  ["browserScreenHeight", "customer_browser_screen_height"],
  ["browserScreenWidth", "customer_browser_screen_width"],
  ["browserTZ", "customer_browser_time_zone"],
  ["browserUserAgent", "customer_browser_user_agent"],
];

const colorDepths = [48, 32, 24, 16, 15, 8, 4, 1];
const headerMax = 2048;
const languageMax = 8;

/** The properties from the method's upload are later than the sale's and replace them. */
function browserElements(
  { browser, ipAddress }: Pick<Purchase, "browser" | "ipAddress">,
  seen: SeenBrowser | undefined,
  version: string,
): BrowserElements {
  const properties: Properties = {
    ...Object.fromEntries(saleNames.map(([property, name]) => [property, browser?.[name]])),
    ...seen?.properties,
  };
  const always = {
    browserAcceptHeader: asciiOf(properties["browserAcceptHeader"], headerMax) ?? "*/*",
    browserUserAgent: asciiOf(properties["browserUserAgent"], headerMax) ?? "unknown",
    browserIP: properties["browserIP"] ?? ipAddress,
  };
  const scripted = scriptedElements(properties);
  const language = languageOf(properties["browserLanguage"]) ?? "en";
  if (version === "2.1.0") {
    return { ...always, ...unscripted, ...scripted, browserLanguage: language };
  }

  const runsScripts = properties["browserJavascriptEnabled"] === "true" && scripted !== undefined;
  return {
    ...always,
    ...(version === "2.3.1" ? { acceptLanguage: [language] } : {}),
    browserJavascriptEnabled: runsScripts,
    ...(runsScripts ? scripted : {}),
    // Up to 2.2.0, the language is required with and without scripts.
    ...(runsScripts || version === "2.2.0" ? { browserLanguage: language } : {}),
  };
}

/** 2.1.0 requires these of every browser, also of one that runs no scripts. */
const unscripted = {
  browserJavaEnabled: false,
  browserColorDepth: "24",
  browserScreenHeight: "0",
  browserScreenWidth: "0",
  browserTZ: "0",
};

/** Only a script can read these properties. Returns undefined if any of them is missing. */
function scriptedElements(properties: Properties): BrowserElements | undefined {
  const depth = depthOf(properties["browserColorDepth"]);
  const height = pixelsOf(properties["browserScreenHeight"]);
  const width = pixelsOf(properties["browserScreenWidth"]);
  const zone = properties["browserTZ"];
  if (!depth || !height || !width || !/^[+-]?\d{1,4}$/.test(zone ?? "")) return undefined;
  return {
    browserJavaEnabled: properties["browserJavaEnabled"] === "true",
    browserColorDepth: depth,
    browserScreenHeight: height,
    browserScreenWidth: width,
    browserTZ: zone ?? "",
  };
}

/** The protocol has no code for screens of 30 bits, say, which get the next lower depth. */
function depthOf(depth: string | undefined): string | undefined {
  if (depth === undefined || !/^\d{1,4}$/.test(depth)) return undefined;
  return String(colorDepths.find((known) => known <= Number(depth)) ?? 24);
}

function pixelsOf(pixels: string | undefined): string | undefined {
  return pixels !== undefined && /^\d{1,6}$/.test(pixels) ? String(Number(pixels)) : undefined;
}

/** A first tag that is longer than the protocol permits is cut to its language. */
function languageOf(languages: string | undefined): string | undefined {
  const [tag] = /[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*/.exec(languages ?? "") ?? [];
  if (tag === undefined) return undefined;
  return tag.length <= languageMax ? tag : (tag.split("-")[0] ?? "en");
}
