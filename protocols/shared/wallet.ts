/** The common parts of both wallets' payment tokens: JSON, keys, card fields and faults. */
import type { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { decodeBase64, findJsonFault, isJsonObject, type JsonObject, parseJson } from "./json.ts";

/**
 * The reason why a token, a payload or a list of keys is refused. It names a field at most and
 * never a value, because a payload contains card numbers and faults are logged.
 */
export class WalletFault {
  readonly reason: WalletReason;
  /** The name as the wallet spells it: `header.publicKeyHash`, `paymentMethodDetails.pan`. */
  readonly field: string | undefined;

  constructor(reason: WalletReason, field?: string) {
    this.reason = reason;
    this.field = field;
  }
}

export type WalletReason =
  | "too_large"
  | "not_json"
  /** A JSON string contains JSON, because the sender serialised it twice. */
  | "encoded_twice"
  | "wrong_fields"
  | "malformed_field"
  /** The text is not a version of the wallet, or not one that the caller allows. */
  | "unknown_version"
  /** The signature is not CMS in the form that walleta writes. */
  | "malformed_signature"
  /** The leaf or the intermediate with its marker is missing, or they do not match. */
  | "wrong_certificates"
  /**
   * None of the caller's roots has signed it. For walletb, the token may also have been changed.
   */
  | "untrusted_root"
  | "expired_root_key"
  | "expired_intermediate_key"
  /** A certificate of the chain was not valid when the token was signed. */
  | "expired_certificate"
  /** The token was signed in the wallet's sandbox, which the caller does not allow. */
  | "sandbox_signer"
  /**
   * The token was changed. For walletb, it may be signed for another recipient, whose id is signed
   * too.
   */
  | "bad_signature"
  /** The token was signed too long ago, or in the future. */
  | "outside_signing_window"
  /** None of the caller's keys is the one that the token names, or none can be used. */
  | "no_key"
  /** Neither the certificate nor the settings of the key name the merchant identifier. */
  | "no_merchant_identifier"
  /**
   * The key is the caller's, but decryption fails: the token has another merchant identifier or was
   * changed.
   */
  | "bad_ciphertext"
  /** The token is genuine, but not encrypted for any of the caller's keys. */
  | "bad_mac"
  | "expired_message"
  | "bad_payload"
  | "bad_root_keys";

export const curve = "prime256v1";

/** The highest length: several times that of the longest real token. */
const charactersMax = 64 * 1024;
const depthMax = 8;

/** Parses a text. Everything that the wallets write is an object. */
export function parseFields(text: string): JsonObject | WalletFault {
  if (text.length > charactersMax) return new WalletFault("too_large");
  const value = parseJson(text);
  if (value === undefined) return new WalletFault("not_json");
  if (typeof value === "string" && isJsonObject(parseJson(value))) {
    return new WalletFault("encoded_twice");
  }
  const isStrict = isJsonObject(value) && findJsonFault(text, depthMax) === undefined;
  return isStrict ? value : new WalletFault("wrong_fields");
}

/** The members of an object. A `null` counts as absent, because merchants' serialisers write it. */
export type MemberRows = readonly (readonly [
  name: string,
  presence: "required" | "optional",
  isValid: (value: unknown) => value is unknown,
])[];

type Guarded<Row extends MemberRows[number]> = Row[2] extends (value: unknown) => value is infer T
  ? T
  : never;

export type MembersOf<Rows extends MemberRows> = {
  readonly [Row in Rows[number] as Row[1] extends "required" ? Row[0] : never]: Guarded<Row>;
} & {
  readonly [Row in Rows[number] as Row[1] extends "optional" ? Row[0] : never]?: Guarded<Row>;
};

/**
 * Reads the members of a payload. Other members are ignored, because the wallets sometimes add
 * some.
 */
export function readMembers<Rows extends MemberRows>(
  rows: Rows,
  object: JsonObject,
  path = "",
): MembersOf<Rows> | WalletFault {
  const members: Record<string, unknown> = {};
  for (const [name, presence, isValid] of rows) {
    const value = object[name] ?? undefined;
    if (value === undefined && presence === "optional") continue;
    if (!isValid(value)) return new WalletFault("bad_payload", path + name);
    members[name] = value;
  }
  // The rows name the members, so the type holds.
  return members as MembersOf<Rows>;
}

/** Returns undefined unless the bytes are UTF-8. */
export function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Reads a P-256 public key from SPKI in DER. */
export function readPublicKey(der: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === curve ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a signature with SHA-256. Returns false for a key or a signature that Node refuses to
 * use.
 */
export function isSignedBy(key: KeyObject, bytes: Buffer, signature: Buffer): boolean {
  try {
    return verify("sha256", bytes, key, signature);
  } catch {
    return false;
  }
}

/** Returns whether the value has 12 to 19 digits. The check digit is not verified. */
export function isPan(value: unknown): value is string {
  return typeof value === "string" && /^\d{12,19}$/.test(value);
}

/** Returns whether the value is canonical base64, so that one payment has one spelling. */
export function isCryptogram(value: unknown): value is string {
  return typeof value === "string" && value.length <= 128 && decodeBase64(value) !== undefined;
}

/**
 * Returns the ECI as two digits, or an empty text, because some networks leave it to the acquirer.
 */
export function readEci(value: unknown): string | undefined {
  const written = value ?? "";
  if (typeof written !== "string" || !/^\d{0,2}$/.test(written)) return undefined;
  return written === "" ? "" : written.padStart(2, "0");
}
