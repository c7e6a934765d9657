/**
 * The payload of a token, decrypted here or by the merchant. Unknown members are ignored, because
 * the wallet adds some from time to time. A `null` counts as absent: merchants' serialisers write
 * it. ECv1 has other names for a network token's number and cryptogram; here they have one.
 */
import { isJsonObject, type JsonObject } from "../shared/json.ts";
import { isCryptogram, isPan, parseFields, readEci, WalletFault } from "../shared/wallet.ts";
import { readMilliseconds } from "./root-keys.ts";
import type { Version } from "./token.ts";

export type Payload = {
  readonly messageId: string;
  /** Milliseconds since 1970. */
  readonly messageExpiration: number;
  readonly gatewayMerchantId?: string;
} & Details;

type Details = {
  readonly pan: string;
  readonly expirationMonth: number;
  /** Four digits. */
  readonly expirationYear: number;
  readonly authMethod: AuthMethod;
  /** Canonical base64; always present for CRYPTOGRAM_3DS, never for PAN_ONLY. */
  readonly cryptogram?: string;
  /** Two digits; only for CRYPTOGRAM_3DS, and not from every network. */
  readonly eciIndicator?: string;
  readonly assuranceDetails?: {
    readonly cardHolderAuthenticated?: boolean;
    readonly accountVerified?: boolean;
  };
};

type AuthMethod = "PAN_ONLY" | "CRYPTOGRAM_3DS";

type Names = {
  readonly pan: string;
  readonly cryptogram: string;
  readonly eciIndicator: string;
  readonly authMethods: Readonly<Partial<Record<AuthMethod, string>>>;
};

// biome-ignore format: a table
const namesByMethod = {
  CARD: {
    pan:          "pan",
    cryptogram:   "cryptogram",
    eciIndicator: "eciIndicator",
    authMethods:  { PAN_ONLY: "PAN_ONLY", CRYPTOGRAM_3DS: "CRYPTOGRAM_3DS" },
  },
  TOKENIZED_CARD: {
    pan:          "dpan",
    cryptogram:   "3dsCryptogram",
    eciIndicator: "3dsEciIndicator",
    authMethods:  { CRYPTOGRAM_3DS: "3DS" },
  },
} as const satisfies Readonly<Record<string, Names>>;

/** `version` is ECv2 by default, as for a payload that the merchant has decrypted. */
export function readPayload(
  text: string,
  { now, version = "ECv2" }: { readonly now: number; readonly version?: Version },
): Payload | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const { messageId, paymentMethod, paymentMethodDetails } = fields;
  if (!isVisible(messageId)) return bad("messageId");
  const messageExpiration = readMilliseconds(fields["messageExpiration"]);
  if (messageExpiration === undefined) return bad("messageExpiration");
  const gatewayMerchantId = fields["gatewayMerchantId"] ?? undefined;
  if (gatewayMerchantId !== undefined && !isVisible(gatewayMerchantId)) {
    return bad("gatewayMerchantId");
  }
  if (paymentMethod !== "CARD" && paymentMethod !== "TOKENIZED_CARD") return bad("paymentMethod");
  if (!isJsonObject(paymentMethodDetails)) return bad("paymentMethodDetails");
  const details = readDetails(paymentMethodDetails, namesByMethod[paymentMethod], version);
  if (details instanceof WalletFault) return details;
  if (messageExpiration <= now) return new WalletFault("expired_message");
  const merchant = gatewayMerchantId === undefined ? {} : { gatewayMerchantId };
  return { messageId, messageExpiration, ...merchant, ...details };
}

export function writePayload(payload: Payload, version: Version = "ECv2"): string {
  const { messageId, messageExpiration, gatewayMerchantId, ...details } = payload;
  const { pan, authMethod, cryptogram, eciIndicator, ...others } = details;
  const isTokenized = version === "ECv1" && authMethod === "CRYPTOGRAM_3DS";
  const paymentMethod = isTokenized ? "TOKENIZED_CARD" : "CARD";
  const names: Names = namesByMethod[paymentMethod];
  return JSON.stringify({
    gatewayMerchantId,
    messageExpiration: String(messageExpiration),
    messageId,
    paymentMethod,
    paymentMethodDetails: {
      ...others,
      [names.pan]: pan,
      authMethod: names.authMethods[authMethod],
      [names.cryptogram]: cryptogram,
      [names.eciIndicator]: eciIndicator,
    },
  });
}

function readDetails(fields: JsonObject, names: Names, version: Version): Details | WalletFault {
  const pan = fields[names.pan];
  const { expirationMonth, expirationYear } = fields;
  if (!isPan(pan)) return badDetail("pan");
  if (!isWhole(expirationMonth, 1, 12)) return badDetail("expirationMonth");
  if (!isWhole(expirationYear, 2000, 2099)) return badDetail("expirationYear");
  const authMethod = readAuthMethod(fields["authMethod"] ?? undefined, names, version);
  if (authMethod === undefined) return badDetail("authMethod");
  const proof = readProof(fields, names, authMethod);
  if (proof instanceof WalletFault) return proof;
  const assurance = readAssurance(fields["assuranceDetails"] ?? undefined);
  if (assurance instanceof WalletFault) return assurance;
  return { pan, expirationMonth, expirationYear, authMethod, ...proof, ...assurance };
}

function readAuthMethod(value: unknown, names: Names, version: Version): AuthMethod | undefined {
  const { PAN_ONLY: card, CRYPTOGRAM_3DS: networkToken } = names.authMethods;
  // ECv1 identified a card by its paymentMethod alone.
  if (value === undefined) return version === "ECv1" && card ? "PAN_ONLY" : undefined;
  if (value === networkToken) return "CRYPTOGRAM_3DS";
  return value === card ? "PAN_ONLY" : undefined;
}

type Proof = Pick<Details, "cryptogram" | "eciIndicator">;

/** A card number without a cryptogram must not look authenticated. */
function readProof(fields: JsonObject, names: Names, authMethod: AuthMethod): Proof | WalletFault {
  const cryptogram = fields[names.cryptogram] ?? undefined;
  const eciIndicator = readEci(fields[names.eciIndicator]);
  if (eciIndicator === undefined) return badDetail("eciIndicator");
  if (authMethod === "PAN_ONLY") {
    if (cryptogram !== undefined) return badDetail("cryptogram");
    return eciIndicator === "" ? {} : badDetail("eciIndicator");
  }
  if (!isCryptogram(cryptogram)) return badDetail("cryptogram");
  return { cryptogram, ...(eciIndicator !== "" && { eciIndicator }) };
}

function readAssurance(value: unknown): Pick<Details, "assuranceDetails"> | WalletFault {
  if (value === undefined) return {};
  if (!isJsonObject(value)) return badDetail("assuranceDetails");
  const assuranceDetails: Record<string, boolean> = {};
  for (const name of ["cardHolderAuthenticated", "accountVerified"]) {
    const answer = value[name] ?? undefined;
    if (typeof answer === "boolean") assuranceDetails[name] = answer;
    else if (answer !== undefined) return badDetail(`assuranceDetails.${name}`);
  }
  return { assuranceDetails };
}

/** Ids are stored and logged: no spaces at the ends, no controls, only ASCII. */
function isVisible(value: unknown): value is string {
  return typeof value === "string" && /^[!-~](?:[ -~]{0,254}[!-~])?$/.test(value);
}

function isWhole(value: unknown, from: number, to: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= from && value <= to;
}

function bad(field: string): WalletFault {
  return new WalletFault("bad_payload", field);
}

function badDetail(field: string): WalletFault {
  return bad(`paymentMethodDetails.${field}`);
}
