/**
 * Messages of EMV 3-D Secure, the faults that refuse them, and the Erro that answers a fault. A
 * fault names elements, never their values, because an AReq contains a card number.
 */
import type { JsonObject } from "../shared/json.ts";
import { describeElements } from "../shared/masked.ts";

export const protocolVersions = ["2.1.0", "2.2.0", "2.3.1"] as const;
export type ProtocolVersion = (typeof protocolVersions)[number];

export const messageTypes = [
  "PReq",
  "PRes",
  "AReq",
  "ARes",
  "CReq",
  "CRes",
  "RReq",
  "RRes",
  "Erro",
] as const;
export type MessageType = (typeof messageTypes)[number];

/** A message as in JSON. Even a checked message contains elements that no table lists. */
export type Emv3dsMessage = {
  readonly messageType: MessageType;
  readonly messageVersion: string;
  readonly [element: string]: unknown;
};

/** Returns the element's text, or undefined if it is absent or not a text. */
export function textOf(elements: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(elements, name) ? elements[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

export function isProtocolVersion(text: unknown): text is ProtocolVersion {
  return protocolVersions.some((version) => version === text);
}

export function isMessageType(text: unknown): text is MessageType {
  return messageTypes.some((type) => type === text);
}

/** The readable part of a refused message, for the Erro that answers it. */
export type Received = {
  readonly messageType?: string;
  readonly messageVersion?: string;
  readonly threeDSServerTransID?: string;
  readonly dsTransID?: string;
  readonly acsTransID?: string;
};

export class MessageFault {
  readonly code: ErrorCode;
  /** Names such as `acctNumber` or `merchantRiskIndicator.giftCardCurr`. */
  readonly elements: readonly string[];
  /** The text for errorDetail: the names, joined with commas, unless another text is given. */
  readonly detail: string;
  readonly received: Received;

  constructor(
    code: ErrorCode,
    elements: readonly string[],
    detail: string = elements.join(","),
    received: Received = {},
  ) {
    this.code = code;
    this.elements = elements;
    this.detail = detail;
    this.received = received;
  }
}

/**
 * Makes the Erro for a fault in a message, or in the readable part of it. The sender is the 3DS SDK
 * (C), the 3DS Server (S), the directory server (D) or the ACS (A). An Erro itself is never
 * answered: callers check the type in `received` first.
 */
export function makeErro(
  { code, detail, received }: MessageFault,
  component: "C" | "S" | "D" | "A",
  message: object,
): Emv3dsMessage {
  const known: JsonObject = { ...received, ...message };
  const ids = ["threeDSServerTransID", "dsTransID", "acsTransID"]
    .map((name) => [name, textOf(known, name)])
    .filter(([, id]) => id !== undefined);
  const { messageType } = received;
  return {
    ...Object.fromEntries(ids),
    errorCode: code,
    errorComponent: component,
    errorDescription: errorDescriptions[code],
    errorDetail: detail.slice(0, 2048) || errorDescriptions[code],
    ...(messageType !== undefined && { errorMessageType: messageType }),
    messageType: "Erro",
    messageVersion: isProtocolVersion(known.messageVersion) ? known.messageVersion : "2.2.0",
  };
}

export type ErrorCode = keyof typeof errorDescriptions;

/** The codes that this codec and its callers send. */
const errorDescriptions = {
  "101": "The message is invalid, unknown or not meant for this receiver",
  "102": "The message version is not supported",
  "103": "Too many preparation requests",
  "201": "A required element is missing",
  "202": "A critical message extension is not known",
  "203": "An element has an invalid format or value",
  "204": "An element is given more than once",
  "205": "Card ranges overlap",
  "207": "A reserved value is used",
  "301": "The transaction is not known",
  "304": "An ISO code is not valid",
  "305": "The transaction is not valid",
  "307": "The serial number is not valid",
  "312": "The message was received before",
  "403": "The system fails for the moment",
  "404": "The system fails permanently",
  "405": "The connection failed",
};

/**
 * Describes a message for people (see `describeElements`). The cardholder's own data is always
 * masked.
 */
export function describeMessage(message: Emv3dsMessage): Record<string, string> {
  return describeElements(message, harmless);
}

const harmless = {
  shown: new Set(
    `messageType messageVersion messageCategory deviceChannel threeDSServerTransID dsTransID
    acsTransID threeDSRequestorID threeDSRequestorName threeDSServerRefNumber
    threeDSServerOperatorID dsReferenceNumber acsReferenceNumber acsOperatorID acquirerBIN
    acquirerMerchantID mcc merchantCountryCode merchantName purchaseAmount purchaseCurrency
    purchaseExponent purchaseDate transType threeDSCompInd threeDSRequestorAuthenticationInd
    threeDSRequestorChallengeInd payTokenInd recurringExpiry recurringFrequency browserColorDepth
    browserJavaEnabled browserJavascriptEnabled browserLanguage browserTZ transStatus
    transStatusReason eci acsChallengeMandated authenticationType authenticationMethod acsDecConInd
    whiteListStatus whiteListStatusSource trustListStatus trustListStatusSource challengeCancel
    challengeCompletionInd challengeWindowSize interactionCounter resultsStatus errorCode
    errorComponent errorMessageType`.split(/\s+/),
  ),
  addresses: new Set(["threeDSRequestorURL", "acsURL"]),
  cardNumbers: new Set(["acctNumber"]),
};
