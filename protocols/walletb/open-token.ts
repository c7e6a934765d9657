/**
 * Opens a token: signatures first, then the MAC, then decryption. The signed strings are taken
 * byte for byte as they came; what they hold is read only after their signature holds.
 */
import type { Buffer } from "node:buffer";
import { type KeyObject, timingSafeEqual } from "node:crypto";
import { decrypt, deriveKeys, type MessageKeys, makeTag } from "./message-keys.ts";
import { type Payload, readPayload } from "./payload.ts";
import { readPoint } from "./public-key.ts";
import { readToken, type Token } from "./read-token.ts";
import type { RootKey } from "./root-keys.ts";
import { curve, type Version } from "./token.ts";
import { verifyToken } from "./verify-token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, hasExactly, parseFields } from "./wallet-json.ts";

export type Trust = {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly rootKeys: readonly RootKey[];
  /** `merchant:<id>` or `gateway:<id>`. */
  readonly recipientId: string;
  /** Private P-256 keys, in any order: several while they are rotated. */
  readonly recipientKeys: readonly KeyObject[];
  readonly versions: readonly Version[];
};

export type Opened = { readonly version: Version; readonly payload: Payload };

export type Decrypted = { readonly version: Version; readonly plaintext: string };

export function openToken(text: string, trust: Trust): Opened | WalletFault {
  const decrypted = decryptToken(text, trust);
  if (decrypted instanceof WalletFault) return decrypted;
  const { version, plaintext } = decrypted;
  const payload = readPayload(plaintext, { now: trust.now, version });
  return payload instanceof WalletFault ? payload : { version, payload };
}

/** All of the above but the payload's own checks, its expiry among them. */
export function decryptToken(text: string, trust: Trust): Decrypted | WalletFault {
  const token = readToken(text, trust.versions);
  if (token instanceof WalletFault) return token;
  const refused = verifyToken(token, trust);
  if (refused !== undefined) return refused;
  const message = readMessage(token);
  if (message instanceof WalletFault) return message;
  const keys = findKeys(message, token.version, trust.recipientKeys);
  if (keys instanceof WalletFault) return keys;
  const plaintext = decodeText(decrypt(keys, message.encrypted, token.version));
  if (plaintext === undefined) return new WalletFault("bad_payload");
  return { version: token.version, plaintext };
}

type Message = {
  readonly encrypted: Buffer;
  readonly tag: Buffer;
  readonly point: Buffer;
  readonly ephemeralKey: KeyObject;
};

function readMessage({ signedMessage }: Token): Message | WalletFault {
  const fields = parseFields(signedMessage);
  if (fields instanceof WalletFault) return new WalletFault("malformed_field", "signedMessage");
  if (!hasExactly(fields, ["encryptedMessage", "ephemeralPublicKey", "tag"])) {
    return new WalletFault("wrong_fields", "signedMessage");
  }
  const encrypted = decodeBase64(fields["encryptedMessage"]);
  if (encrypted === undefined) return new WalletFault("malformed_field", "encryptedMessage");
  const tag = decodeBase64(fields["tag"]);
  if (tag === undefined) return new WalletFault("malformed_field", "tag");
  const point = decodeBase64(fields["ephemeralPublicKey"]);
  const ephemeralKey = point && readPoint(point);
  if (point === undefined || ephemeralKey === undefined) {
    return new WalletFault("malformed_field", "ephemeralPublicKey");
  }
  return { encrypted, tag, point, ephemeralKey };
}

/** The keys under which the tag is right. */
function findKeys(
  message: Message,
  version: Version,
  recipientKeys: readonly KeyObject[],
): MessageKeys | WalletFault {
  const usable = recipientKeys.filter(isUsable);
  if (usable.length === 0) return new WalletFault("no_key");
  for (const privateKey of usable) {
    const pair = { privateKey, publicKey: message.ephemeralKey };
    const keys = deriveKeys(message.point, pair, version);
    const tag = makeTag(keys, message.encrypted);
    if (tag.length === message.tag.length && timingSafeEqual(tag, message.tag)) return keys;
  }
  return new WalletFault("bad_mac");
}

function isUsable(key: KeyObject): boolean {
  return key.type === "private" && key.asymmetricKeyDetails?.namedCurve === curve;
}

function decodeText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
