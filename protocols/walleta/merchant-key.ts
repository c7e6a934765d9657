/** The key that a merchant's tokens are encrypted for, chosen by the token's publicKeyHash. */
import { Buffer } from "node:buffer";
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { readBer, tags } from "./ber.ts";
import { readPem } from "./certificate.ts";
import { merchantIdentifierExtension } from "./identifiers.ts";

export type MerchantKey = {
  /** PEM. It tells the merchant identifier's hash, if the wallet issued it. */
  readonly certificate: string;
  readonly privateKey: KeyObject;
  /** Used when the certificate does not tell the hash. */
  readonly merchantIdentifier?: string;
};

export function findMerchantKey(
  keys: readonly MerchantKey[],
  publicKeyHash: Buffer,
): MerchantKey | undefined {
  return keys.find(({ privateKey }) => {
    return privateKey.type === "private" && hashPublicKey(privateKey).equals(publicKeyHash);
  });
}

/** Of a private key too: it holds its public half. */
export function hashPublicKey(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const der = publicKey.export({ format: "der", type: "spki" });
  return createHash("sha256").update(der).digest();
}

export function hashMerchantIdentifier(identifier: string): Buffer {
  return createHash("sha256").update(identifier, "utf8").digest();
}

/** What the certificate says counts before what the operator wrote by hand. */
export function findMerchantIdentifierHash(key: MerchantKey): Buffer | undefined {
  const extension = readPem(key.certificate)?.extensions.get(merchantIdentifierExtension);
  const text = extension && readBer(extension);
  const hex = text?.tag === tags.utf8String ? text.content.toString("latin1") : "";
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, "hex");
  const { merchantIdentifier } = key;
  return merchantIdentifier === undefined ? undefined : hashMerchantIdentifier(merchantIdentifier);
}
