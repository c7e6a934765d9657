/**
 * The card in a payload. ECv1 has other names for a network token's number and cryptogram; here
 * both become one. A `null` counts as absent, since merchants' serialisers write it, and so does
 * an empty eciIndicator, which some networks leave to the acquirer. Nothing else is bent.
 */
import type { Version } from "./token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, type Fields, isFields } from "./wallet-json.ts";

export type Details = {
  /** 12 to 19 digits; its check digit is not looked at. */
  readonly pan: string;
  readonly expirationMonth: number;
  /** Four digits. */
  readonly expirationYear: number;
  readonly authMethod: AuthMethod;
  /** Canonical base64; always there for CRYPTOGRAM_3DS, never for PAN_ONLY. */
  readonly cryptogram?: string;
  /** Two digits; only for CRYPTOGRAM_3DS, and not from every network. */
  readonly eciIndicator?: string;
  readonly assuranceDetails?: AssuranceDetails;
};

export type AuthMethod = "PAN_ONLY" | "CRYPTOGRAM_3DS";

export type AssuranceDetails = {
  readonly cardHolderAuthenticated?: boolean;
  readonly accountVerified?: boolean;
};

export type Names = {
  readonly pan: string;
  readonly cryptogram: string;
  readonly eciIndicator: string;
  readonly authMethods: Readonly<Record<AuthMethod, string | undefined>>;
};

// biome-ignore format: a table
const namesByMethod: ReadonlyMap<unknown, Names> = new Map([
  ["CARD", {
    pan:          "pan",
    cryptogram:   "cryptogram",
    eciIndicator: "eciIndicator",
    authMethods:  { PAN_ONLY: "PAN_ONLY", CRYPTOGRAM_3DS: "CRYPTOGRAM_3DS" },
  }],
  ["TOKENIZED_CARD", {
    pan:          "dpan",
    cryptogram:   "3dsCryptogram",
    eciIndicator: "3dsEciIndicator",
    authMethods:  { PAN_ONLY: undefined, CRYPTOGRAM_3DS: "3DS" },
  }],
]);

/** By `paymentMethod`. */
export function namesOf(paymentMethod: unknown): Names | undefined {
  return namesByMethod.get(paymentMethod);
}

export function readDetails(fields: Fields, names: Names, version: Version): Details | WalletFault {
  const pan = fields[names.pan];
  const { expirationMonth, expirationYear } = fields;
  if (typeof pan !== "string" || !/^\d{12,19}$/.test(pan)) return bad("pan");
  if (!isWhole(expirationMonth, 1, 12)) return bad("expirationMonth");
  if (!isWhole(expirationYear, 2000, 2099)) return bad("expirationYear");
  const authMethod = readAuthMethod(fields["authMethod"] ?? undefined, names, version);
  if (authMethod === undefined) return bad("authMethod");
  const proof = readProof(fields, names, authMethod);
  if (proof instanceof WalletFault) return proof;
  const assurance = readAssurance(fields["assuranceDetails"] ?? undefined);
  if (assurance instanceof WalletFault) return assurance;
  return { pan, expirationMonth, expirationYear, authMethod, ...proof, ...assurance };
}

function readAuthMethod(value: unknown, names: Names, version: Version): AuthMethod | undefined {
  // The first version told a card by its paymentMethod alone.
  const { PAN_ONLY: card, CRYPTOGRAM_3DS: networkToken } = names.authMethods;
  if (value === undefined) {
    return version === "ECv1" && card !== undefined ? "PAN_ONLY" : undefined;
  }
  if (value === networkToken) return "CRYPTOGRAM_3DS";
  return value === card ? "PAN_ONLY" : undefined;
}

type Proof = Pick<Details, "cryptogram" | "eciIndicator">;

/** A card number without a cryptogram must not look authenticated. */
function readProof(fields: Fields, names: Names, authMethod: AuthMethod): Proof | WalletFault {
  const cryptogram = fields[names.cryptogram] ?? undefined;
  const written = fields[names.eciIndicator] ?? "";
  if (typeof written !== "string" || !/^\d{0,2}$/.test(written)) return bad("eciIndicator");
  if (authMethod === "PAN_ONLY") {
    if (cryptogram !== undefined) return bad("cryptogram");
    return written === "" ? {} : bad("eciIndicator");
  }
  if (!isCryptogram(cryptogram)) return bad("cryptogram");
  return written === "" ? { cryptogram } : { cryptogram, eciIndicator: written.padStart(2, "0") };
}

function readAssurance(value: unknown): Pick<Details, "assuranceDetails"> | WalletFault {
  if (value === undefined) return {};
  if (!isFields(value)) return bad("assuranceDetails");
  const { cardHolderAuthenticated, accountVerified } = value;
  if (!isAnswer(cardHolderAuthenticated)) return bad("assuranceDetails.cardHolderAuthenticated");
  if (!isAnswer(accountVerified)) return bad("assuranceDetails.accountVerified");
  const assuranceDetails = {
    ...(typeof cardHolderAuthenticated === "boolean" ? { cardHolderAuthenticated } : {}),
    ...(typeof accountVerified === "boolean" ? { accountVerified } : {}),
  };
  return { assuranceDetails };
}

function isAnswer(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "boolean";
}

function isCryptogram(value: unknown): value is string {
  return typeof value === "string" && value.length <= 128 && decodeBase64(value) !== undefined;
}

function isWhole(value: unknown, from: number, to: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= from && value <= to;
}

function bad(field: string): WalletFault {
  return new WalletFault("bad_payload", `paymentMethodDetails.${field}`);
}
