/**
 * The payload of a token, decrypted here or by the merchant. ECv1 has other names for a network
 * token's number and cryptogram, which are read under the names of ECv2.
 */
import { isJsonObject, type JsonObject } from "../shared/json.ts";
import {
  isCryptogram,
  isPan,
  type MemberRows,
  type MembersOf,
  parseFields,
  readEci,
  readMembers,
  WalletFault,
} from "../shared/wallet.ts";
import { isMilliseconds, type Version } from "./keys.ts";

const payloadRows = [
  ["messageId", "required", isVisible],
  ["messageExpiration", "required", isMilliseconds],
  ["gatewayMerchantId", "optional", isVisible],
  ["paymentMethod", "required", isPaymentMethod],
  ["paymentMethodDetails", "required", isJsonObject],
] as const satisfies MemberRows;

const detailRows = [
  ["pan", "required", isPan],
  ["expirationMonth", "required", isMonth],
  ["expirationYear", "required", isYear],
  ["authMethod", "required", isAuthMethod],
  ["cryptogram", "optional", isCryptogram],
  ["assuranceDetails", "optional", isJsonObject],
] as const satisfies MemberRows;

const assuranceRows = [
  ["cardHolderAuthenticated", "optional", isBoolean],
  ["accountVerified", "optional", isBoolean],
] as const satisfies MemberRows;

/** The details of a card. CRYPTOGRAM_3DS always has a cryptogram, PAN_ONLY never has one. */
type Details = Omit<MembersOf<typeof detailRows>, "assuranceDetails"> & {
  /** The ECI in two digits. Only CRYPTOGRAM_3DS has it, and some networks omit it. */
  readonly eciIndicator?: string;
  readonly assuranceDetails?: MembersOf<typeof assuranceRows>;
};

export type Payload = Details & {
  readonly messageId: string;
  /** The expiry in milliseconds since 1970. */
  readonly messageExpiration: number;
  readonly gatewayMerchantId?: string;
};

/**
 * Reads a payload. `version` is ECv2 by default, as for a payload that the merchant has decrypted.
 */
export function readPayload(
  text: string,
  { now, version = "ECv2" }: { readonly now: number; readonly version?: Version },
): Payload | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const read = readMembers(payloadRows, fields);
  if (read instanceof WalletFault) return read;
  const { paymentMethod, paymentMethodDetails, ...rest } = read;
  const details = readDetails(renameDetails(paymentMethodDetails, paymentMethod, version));
  if (details instanceof WalletFault) return details;
  const messageExpiration = Number(rest.messageExpiration);
  if (messageExpiration <= now) return new WalletFault("expired_message");
  return { ...rest, messageExpiration, ...details };
}

export function writePayload(payload: Payload, version: Version = "ECv2"): string {
  const { messageId, messageExpiration, gatewayMerchantId, ...details } = payload;
  const { pan: dpan, cryptogram, eciIndicator, authMethod, ...others } = details;
  const isTokenized = version === "ECv1" && authMethod === "CRYPTOGRAM_3DS";
  const tokenized = { dpan, "3dsCryptogram": cryptogram, "3dsEciIndicator": eciIndicator };
  return JSON.stringify({
    gatewayMerchantId,
    messageExpiration: String(messageExpiration),
    messageId,
    paymentMethod: isTokenized ? "TOKENIZED_CARD" : "CARD",
    paymentMethodDetails: isTokenized ? { ...others, ...tokenized, authMethod: "3DS" } : details,
  });
}

const tokenRows = [
  ["number", "required", isPan],
  ["expirationMonth", "required", isMonth],
  ["expirationYear", "required", isYear],
  ["cryptogram", "required", isCryptogram],
] as const satisfies MemberRows;

export type NetworkToken = MembersOf<typeof tokenRows> & { readonly eci?: string };

/**
 * Reads a network token with its cryptogram, which the merchant has from the networks and not from
 * a wallet. It has the parts of a tokenised card here, under names of its own.
 */
export function readNetworkToken(text: string): NetworkToken | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const read = readMembers(tokenRows, fields);
  if (read instanceof WalletFault) return read;
  const eci = readEci(fields["eci"]);
  if (eci === undefined) return new WalletFault("bad_payload", "eci");
  return { ...read, ...(eci !== "" && { eci }) };
}

/** Replaces the names and values of ECv1 by those of ECv2. */
function renameDetails(details: JsonObject, method: PaymentMethod, version: Version): JsonObject {
  const { authMethod } = details;
  if (method === "TOKENIZED_CARD") {
    return {
      ...details,
      pan: details["dpan"],
      cryptogram: details["3dsCryptogram"],
      eciIndicator: details["3dsEciIndicator"],
      authMethod: authMethod === "3DS" ? "CRYPTOGRAM_3DS" : undefined,
    };
  }
  // ECv1 identified a card by its paymentMethod alone.
  return version === "ECv1" ? { ...details, authMethod: authMethod ?? "PAN_ONLY" } : details;
}

function readDetails(details: JsonObject): Details | WalletFault {
  const path = "paymentMethodDetails.";
  const read = readMembers(detailRows, details, path);
  if (read instanceof WalletFault) return read;
  const { assuranceDetails: assurance, ...card } = read;
  const eciIndicator = readEci(details["eciIndicator"]);
  // A card number without a cryptogram must not look authenticated.
  const isNetworkToken = card.authMethod === "CRYPTOGRAM_3DS";
  if (eciIndicator === undefined || (eciIndicator !== "" && !isNetworkToken)) {
    return new WalletFault("bad_payload", `${path}eciIndicator`);
  }
  if (isNetworkToken !== (card.cryptogram !== undefined)) {
    return new WalletFault("bad_payload", `${path}cryptogram`);
  }
  const assuranceDetails =
    assurance && readMembers(assuranceRows, assurance, `${path}assuranceDetails.`);
  if (assuranceDetails instanceof WalletFault) return assuranceDetails;
  return {
    ...card,
    ...(eciIndicator !== "" && { eciIndicator }),
    ...(assuranceDetails && { assuranceDetails }),
  };
}

/**
 * Returns whether an id may be stored and logged: no spaces at the ends, no control characters,
 * ASCII only.
 */
function isVisible(value: unknown): value is string {
  return typeof value === "string" && /^[!-~](?:[ -~]{0,254}[!-~])?$/.test(value);
}

type PaymentMethod = "CARD" | "TOKENIZED_CARD";

function isPaymentMethod(value: unknown): value is PaymentMethod {
  return value === "CARD" || value === "TOKENIZED_CARD";
}

function isAuthMethod(value: unknown): value is "PAN_ONLY" | "CRYPTOGRAM_3DS" {
  return value === "PAN_ONLY" || value === "CRYPTOGRAM_3DS";
}

function isMonth(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 12;
}

/** Returns whether the value is a year of four digits. */
function isYear(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 2000 && Number(value) <= 2099;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}
