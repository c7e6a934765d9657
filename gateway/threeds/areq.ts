/** The AReq: the merchant, the purchase, the cardholder and the browser. */
import type { Emv3dsMessage } from "@tollgate/protocols/emv3ds";
import type { ThreeDSecure } from "../orders/authentication.ts";
import type { Order } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import { calendar, type Instant } from "../values/time.ts";
import { browserElements, customerElements, latin } from "./areq-cardholder.ts";
import type { DirectorySettings } from "./directory-client.ts";

export type AReqParts = {
  readonly order: Order;
  readonly threeds: ThreeDSecure;
  readonly card: PaidCard;
  readonly merchant: MerchantAtGate;
  readonly settings: DirectorySettings;
  /** Where the directory server posts the result of a challenge. */
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
  /** ISO 3166-1 numeric. */
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

/** `withoutCustomer`: for customer data that does not fit the protocol. */
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
    // A payment, or a card that is added.
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

/** After a soft decline: a challenge is mandated. */
function challengeWish({ transaction }: Order, version: string): object {
  if (transaction.demanded === undefined) return {};
  return { threeDSRequestorChallengeInd: version === "2.3.1" ? ["13"] : "04" };
}

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
