/** The outside of a token: its fields and their form, nothing of it believed yet. */
import { Buffer } from "node:buffer";
import { type Version, versions } from "./token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, type Fields, hasExactly, isFields, parseFields } from "./wallet-json.ts";

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
const keyFields: Readonly<Record<Version, string>> = {
  EC_v1:  "ephemeralPublicKey",
  RSA_v1: "wrappedKey",
};

/** Of 16 KB, several times what three certificates need: each is parsed before it is believed. */
const signatureCharactersMax = (4 / 3) * 16 * 1024;

export function readToken(text: string): Token | WalletFault {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const { header } = fields;
  if (!hasExactly(fields, ["version", "data", "signature", "header"])) {
    return new WalletFault("wrong_fields");
  }
  const version = versions.find((one) => one === fields["version"]);
  if (version === undefined) return new WalletFault("unknown_version");
  const encrypted = decodeBase64(fields["data"]);
  if (encrypted === undefined) return new WalletFault("malformed_field", "data");
  const { signature: encoded } = fields;
  if (typeof encoded === "string" && encoded.length > signatureCharactersMax) {
    return new WalletFault("too_large", "signature");
  }
  const signature = decodeBase64(encoded);
  if (signature === undefined) return new WalletFault("malformed_field", "signature");
  if (!isFields(header)) return new WalletFault("wrong_fields", "header");
  const read = readHeader(header, keyFields[version]);
  return read instanceof WalletFault ? read : { version, encrypted, signature, ...read };
}

/** All decoded, one after the other. */
export function signedContent(token: Omit<Token, "signature">): Buffer {
  const { key, encrypted, transactionId, applicationData } = token;
  return Buffer.concat([key, encrypted, transactionId, applicationData ?? Buffer.alloc(0)]);
}

type Header = Omit<Token, "version" | "encrypted" | "signature">;

function readHeader(header: Fields, keyField: string): Header | WalletFault {
  const required = [keyField, "publicKeyHash", "transactionId"];
  if (!hasExactly(header, required) && !hasExactly(header, [...required, "applicationData"])) {
    return new WalletFault("wrong_fields", "header");
  }
  const key = decodeBase64(header[keyField]);
  if (key === undefined) return new WalletFault("malformed_field", `header.${keyField}`);
  const publicKeyHash = decodeBase64(header["publicKeyHash"]);
  if (publicKeyHash === undefined)
    return new WalletFault("malformed_field", "header.publicKeyHash");
  const transactionId = decodeHash(header["transactionId"]);
  if (transactionId === undefined)
    return new WalletFault("malformed_field", "header.transactionId");
  const applicationData = decodeHash(header["applicationData"]);
  if (applicationData === undefined && "applicationData" in header) {
    return new WalletFault("malformed_field", "header.applicationData");
  }
  return { key, publicKeyHash, transactionId, applicationData };
}

/**
 * 32 bytes in hex. What is signed does not say where one field ends and the next begins: were
 * other lengths taken, a used token could come back under another transaction id.
 */
function decodeHash(value: unknown): Buffer | undefined {
  const isHash = typeof value === "string" && /^[0-9a-f]{64}$/i.test(value);
  return isHash ? Buffer.from(value, "hex") : undefined;
}
