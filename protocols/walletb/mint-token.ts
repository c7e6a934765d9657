/**
 * Mints tokens as the wallet does, and invalid ones for tests: each part of `Minting` may be wrong,
 * the plaintext may be any text, and a token can be corrupted before or after it is signed.
 */
import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { curve } from "../shared/wallet.ts";
import {
  applyCipher,
  deriveKeys,
  makeTag,
  type Version,
  writePoint,
  writePublicKey,
} from "./keys.ts";
import { intermediateBytes, messageBytes } from "./open-token.ts";

export type Minting = {
  readonly version: Version;
  /** A private P-256 key. It signs ECv1 messages directly. */
  readonly rootKey: KeyObject;
  /** The intermediate key, for ECv2. */
  readonly intermediate: Intermediate;
  readonly recipientId: string;
  readonly recipientPublicKey: KeyObject;
  /** A private P-256 key, by default a new one. */
  readonly ephemeralKey?: KeyObject;
  /** Changes the message before it is signed, so that the signature stays valid. */
  readonly distort?: (message: SignedMessage) => SignedMessage;
};

export type Intermediate = {
  /** A private P-256 key. */
  readonly privateKey: KeyObject;
  /** The expiry in milliseconds since 1970. */
  readonly keyExpiration: number;
};

/** A message whose values are in base64. */
export type SignedMessage = {
  readonly encryptedMessage: string;
  readonly ephemeralPublicKey: string;
  readonly tag: string;
};

/**
 * Mints a token. `plaintext` is the text of `writePayload`, or one that a test expects to be
 * refused.
 */
export function mintToken(plaintext: string, minting: Minting): string {
  const { version, rootKey, recipientId, intermediate, distort } = minting;
  const message = encryptMessage(plaintext, minting);
  const signedMessage = writeInner(distort === undefined ? message : distort(message));
  const bytes = messageBytes(recipientId, version, signedMessage);
  if (version === "ECv1") {
    const signature = signText(bytes, rootKey);
    return JSON.stringify({ protocolVersion: version, signature, signedMessage });
  }
  const signedKey = writeInner({
    keyValue: writePublicKey(createPublicKey(intermediate.privateKey)).toString("base64"),
    keyExpiration: String(intermediate.keyExpiration),
  });
  return JSON.stringify({
    protocolVersion: version,
    signature: signText(bytes, intermediate.privateKey),
    intermediateSigningKey: {
      signedKey,
      signatures: [signText(intermediateBytes(signedKey), rootKey)],
    },
    signedMessage,
  });
}

/** Changes one bit or digit of a signed token in the named part, which stays well formed. */
export function distortToken(
  token: string,
  part: "signature" | "signedMessage" | "intermediateSigningKey",
): string {
  const fields = JSON.parse(token);
  if (part === "signature") {
    fields.signature = flipLastBit(fields.signature);
  } else if (part === "signedMessage") {
    const message = JSON.parse(fields.signedMessage);
    const encryptedMessage = flipLastBit(message.encryptedMessage);
    fields.signedMessage = writeInner({ ...message, encryptedMessage });
  } else {
    const { intermediateSigningKey: intermediate } = fields;
    const key = JSON.parse(intermediate.signedKey);
    const keyExpiration = String(Number(key.keyExpiration) + 1);
    intermediate.signedKey = writeInner({ ...key, keyExpiration });
  }
  return JSON.stringify(fields);
}

function encryptMessage(plaintext: string, minting: Minting): SignedMessage {
  const { version, recipientPublicKey: publicKey } = minting;
  const privateKey =
    minting.ephemeralKey ?? generateKeyPairSync("ec", { namedCurve: curve }).privateKey;
  const point = writePoint(createPublicKey(privateKey));
  const keys = deriveKeys(point, { privateKey, publicKey }, version);
  const encrypted = applyCipher(keys, Buffer.from(plaintext, "utf8"), version);
  return {
    encryptedMessage: encrypted.toString("base64"),
    ephemeralPublicKey: point.toString("base64"),
    tag: makeTag(keys, encrypted).toString("base64"),
  };
}

/**
 * Escapes `=` as the wallet's serialiser does, so that serialising a signed text again would change
 * it.
 */
function writeInner(fields: Readonly<Record<string, string>>): string {
  return JSON.stringify(fields).replaceAll("=", "\\u003d");
}

function signText(bytes: Buffer, key: KeyObject): string {
  return sign("sha256", bytes, key).toString("base64");
}

function flipLastBit(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  const last = bytes.length - 1;
  bytes[last] = (bytes[last] ?? 0) ^ 1;
  return bytes.toString("base64");
}
