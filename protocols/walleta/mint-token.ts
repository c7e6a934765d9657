/**
 * Makes tokens as the wallet does, and as it never would: every part of `Minting` may be the wrong
 * one, the plaintext may be anything, and a token can be changed before or after it is signed.
 */
import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, type KeyObject, publicEncrypt } from "node:crypto";
import { deriveKey, encrypt, wrapping } from "./content-key.ts";
import { hashMerchantIdentifier, hashPublicKey } from "./merchant-key.ts";
import { signedContent } from "./read-token.ts";
import { type Signer, writeSignature } from "./sign-content.ts";
import { ciphers, curve, type Version } from "./token.ts";

export type Minting = {
  readonly version: Version;
  readonly signer: Signer;
  /** EC P-256 for EC_v1, RSA for RSA_v1. */
  readonly recipientPublicKey: KeyObject;
  /** Its SHA-256 goes into the key of EC_v1; RSA_v1 does not use it. */
  readonly merchantIdentifier: string;
  /** The signing time: milliseconds since 1970, written to the second. */
  readonly now: number;
  readonly random: (bytes: number) => Uint8Array;
  /** 64 hex digits; random when it is not given. */
  readonly transactionId?: string;
  /** 64 hex digits. */
  readonly applicationData?: string;
  /** Private P-256 key for EC_v1; a fresh one when it is not given. */
  readonly ephemeralKey?: KeyObject;
  /** Changes ciphertext and tag before they are signed, so that the signature still holds. */
  readonly distort?: (encrypted: Buffer) => Buffer;
};

/** `plaintext` is what `writePayload` makes, or anything else that is to be refused. */
export function mintToken(plaintext: string, minting: Minting): string {
  const { version, random, recipientPublicKey, now, distort = (same) => same } = minting;
  const { key, contentKey } = makeKey(minting);
  const encrypted = distort(encrypt(contentKey, Buffer.from(plaintext, "utf8"), version));
  const publicKeyHash = hashPublicKey(recipientPublicKey);
  const transactionId =
    minting.transactionId === undefined
      ? Buffer.from(random(32))
      : Buffer.from(minting.transactionId, "hex");
  const applicationData =
    minting.applicationData === undefined ? undefined : Buffer.from(minting.applicationData, "hex");
  const token = { version, encrypted, key, publicKeyHash, transactionId, applicationData };
  const signature = writeSignature(signedContent(token), minting.signer, now);
  return JSON.stringify({
    version,
    data: encrypted.toString("base64"),
    signature: signature.toString("base64"),
    header: {
      [version === "EC_v1" ? "ephemeralPublicKey" : "wrappedKey"]: key.toString("base64"),
      publicKeyHash: publicKeyHash.toString("base64"),
      transactionId: transactionId.toString("hex"),
      ...(applicationData && { applicationData: applicationData.toString("hex") }),
    },
  });
}

/** A token changed after it was signed: one bit of the named part, which stays well formed. */
export function distortToken(
  token: string,
  part: "data" | "signature" | "transactionId" | "publicKeyHash",
): string {
  const fields = JSON.parse(token);
  const place = part in fields ? fields : fields.header;
  const encoding = part === "transactionId" ? "hex" : "base64";
  const bytes = Buffer.from(place[part], encoding);
  // A signature ends with marks of indefinite lengths; what they close ends before them.
  const at = bytes.findLastIndex((byte) => byte !== 0);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  place[part] = bytes.toString(encoding);
  return JSON.stringify(fields);
}

/** What the token carries of the key, and the key itself. */
function makeKey(minting: Minting): { readonly key: Buffer; readonly contentKey: Uint8Array } {
  const { recipientPublicKey: publicKey, version } = minting;
  if (version === "RSA_v1") {
    const contentKey = minting.random(ciphers[version].keyBytes);
    return { key: publicEncrypt({ key: publicKey, ...wrapping }, contentKey), contentKey };
  }
  const privateKey =
    minting.ephemeralKey ?? generateKeyPairSync("ec", { namedCurve: curve }).privateKey;
  const hash = hashMerchantIdentifier(minting.merchantIdentifier);
  return {
    key: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    contentKey: deriveKey({ privateKey, publicKey }, hash),
  };
}
