/** The token as it is sent: its fields and their form. Nothing is verified here. */
import { Buffer } from "node:buffer";
import { decodeBase64, hasExactly, isJsonObject, type JsonObject } from "../shared/json.ts";
import { parseFields, WalletFault } from "../shared/wallet.ts";

export const versions = ["EC_v1", "RSA_v1"] as const;
export type Version = (typeof versions)[number];

export type Token = {
  readonly version: Version;
  /** Ciphertext and its tag. */
  readonly encrypted: Buffer;
  readonly signature: Buffer;
  /** The ephemeral public key, or the wrapped key. */
  readonly key: Buffer;
  readonly publicKeyHash: Buffer;
  readonly transactionId: Buffer;
  readonly applicationData: Buffer | undefined;
};

// biome-ignore format: a table
export const keyFields = {
  EC_v1:  "ephemeralPublicKey",
  RSA_v1: "wrappedKey",
} as const satisfies Readonly<Record<Version, string>>;

/** Of 16 KB, several times what three certificates need: each is parsed before it is verified. */
const signatureCharactersMax = (4 / 3) * 16 * 1024;

export function readToken(text: string): Token | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  if (!hasExactly(fields, ["version", "data", "signature", "header"])) {
    return new WalletFault("wrong_fields");
  }
  const { header, signature: encoded } = fields;
  const version = versions.find((one) => one === fields["version"]);
  if (version === undefined) return new WalletFault("unknown_version");
  const encrypted = decodeBase64(fields["data"]);
  if (encrypted === undefined) return new WalletFault("malformed_field", "data");
  if (typeof encoded === "string" && encoded.length > signatureCharactersMax) {
    return new WalletFault("too_large", "signature");
  }
  const signature = decodeBase64(encoded);
  if (signature === undefined) return new WalletFault("malformed_field", "signature");
  if (!isJsonObject(header)) return new WalletFault("wrong_fields", "header");
  const read = readHeader(header, keyFields[version]);
  return read instanceof WalletFault ? read : { version, encrypted, signature, ...read };
}

/** The decoded fields, concatenated. */
export function signedContent(token: Omit<Token, "signature">): Buffer {
  const { key, encrypted, transactionId, applicationData } = token;
  return Buffer.concat([key, encrypted, transactionId, applicationData ?? Buffer.alloc(0)]);
}

type Header = Omit<Token, "version" | "encrypted" | "signature">;

function readHeader(header: JsonObject, keyField: string): Header | WalletFault {
  const required = [keyField, "publicKeyHash", "transactionId"];
  if (!hasExactly(header, required) && !hasExactly(header, [...required, "applicationData"])) {
    return new WalletFault("wrong_fields", "header");
  }
  const malformed = (name: string) => new WalletFault("malformed_field", `header.${name}`);
  const key = decodeBase64(header[keyField]);
  if (key === undefined) return malformed(keyField);
  const publicKeyHash = decodeBase64(header["publicKeyHash"]);
  if (publicKeyHash === undefined) return malformed("publicKeyHash");
  const transactionId = decodeHash(header["transactionId"]);
  if (transactionId === undefined) return malformed("transactionId");
  const applicationData = decodeHash(header["applicationData"]);
  if (applicationData === undefined && "applicationData" in header) {
    return malformed("applicationData");
  }
  return { key, publicKeyHash, transactionId, applicationData };
}

/**
 * 32 bytes in hex. The signed content does not mark where one field ends and the next begins: if
 * other lengths were accepted, a used token could return under another transaction id.
 */
function decodeHash(value: unknown): Buffer | undefined {
  const isHash = typeof value === "string" && /^[0-9a-f]{64}$/i.test(value);
  return isHash ? Buffer.from(value, "hex") : undefined;
}
