/**
 * Opens a token: verifies the signatures from a root key through the intermediate key to the
 * message, then the MAC, then decrypts. The signed texts are used byte for byte as they were sent,
 * and parsed only after their signature is verified.
 */
import type { Buffer } from "node:buffer";
import { type KeyObject, timingSafeEqual, verify } from "node:crypto";
import { decodeBase64, hasExactly } from "../shared/json.ts";
import { curve, decodeText, parseFields, readPublicKey, WalletFault } from "../shared/wallet.ts";
import { decrypt, deriveKeys, type MessageKeys, makeTag, readPoint } from "./encryption.ts";
import { type Payload, readPayload } from "./payload.ts";
import { isMilliseconds, type RootKey } from "./root-keys.ts";
import {
  intermediateBytes,
  messageBytes,
  readToken,
  type SignedKey,
  type Token,
  type Version,
} from "./token.ts";

export type Trust = {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly rootKeys: readonly RootKey[];
  /** `merchant:<id>` or `gateway:<id>`. */
  readonly recipientId: string;
  /** Private P-256 keys, in any order: several during a rotation. */
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

/** Without the checks of the payload, which include its expiry. */
export function decryptToken(text: string, trust: Trust): Decrypted | WalletFault {
  const token = readToken(text, trust.versions);
  if (token instanceof WalletFault) return token;
  const fault = findSignatureFault(token, trust);
  if (fault !== undefined) return fault;
  const message = readMessage(token);
  if (message instanceof WalletFault) return message;
  const keys = findKeys(message, token.version, trust.recipientKeys);
  if (keys instanceof WalletFault) return keys;
  const plaintext = decodeText(decrypt(keys, message.encrypted, token.version));
  if (plaintext === undefined) return new WalletFault("bad_payload");
  return { version: token.version, plaintext };
}

function findSignatureFault(token: Token, trust: Trust): WalletFault | undefined {
  const { version, signedMessage, signature } = token;
  const bytes = messageBytes(trust.recipientId, version, signedMessage);
  if (version === "ECv1") {
    const fault = findRootFault({ bytes, signatures: [signature] }, version, trust);
    // The only signature covers everything, so another root and a change cannot be told apart.
    return fault?.reason === "untrusted_root" ? new WalletFault("bad_signature") : fault;
  }
  const key = verifyIntermediate(token.intermediate, trust);
  if (key instanceof WalletFault) return key;
  return isSignedBy(key, bytes, signature) ? undefined : new WalletFault("bad_signature");
}

function verifyIntermediate(
  { signedKey, signatures }: SignedKey,
  trust: Trust,
): KeyObject | WalletFault {
  const bytes = intermediateBytes(signedKey);
  const fault = findRootFault({ bytes, signatures }, "ECv2", trust);
  if (fault !== undefined) return fault;
  const fields = parseFields(signedKey);
  if (fields instanceof WalletFault) return new WalletFault("malformed_field", "signedKey");
  const { keyExpiration: end } = fields;
  if (!isMilliseconds(end)) return new WalletFault("malformed_field", "keyExpiration");
  if (Number(end) <= trust.now) return new WalletFault("expired_intermediate_key");
  const der = decodeBase64(fields["keyValue"]);
  const key = der && readPublicKey(der);
  return key ?? new WalletFault("malformed_field", "keyValue");
}

type Signed = { readonly bytes: Buffer; readonly signatures: readonly Buffer[] };

/** Any root key that is not expired and any of the signatures may match. */
function findRootFault(signed: Signed, version: Version, trust: Trust): WalletFault | undefined {
  const fitting = trust.rootKeys.filter(
    ({ protocolVersion, key, keyExpiration }) =>
      protocolVersion === version &&
      key.type === "public" &&
      (version === "ECv1" || keyExpiration !== undefined),
  );
  const isValid = ({ keyExpiration: end }: RootKey) => end === undefined || end > trust.now;
  const hasSigned = ({ key }: RootKey) =>
    signed.signatures.some((signature) => isSignedBy(key, signed.bytes, signature));
  if (fitting.filter(isValid).some(hasSigned)) return undefined;
  return new WalletFault(fitting.some(hasSigned) ? "expired_root_key" : "untrusted_root");
}

function isSignedBy(key: KeyObject, bytes: Buffer, signature: Buffer): boolean {
  try {
    return verify("sha256", bytes, key, signature);
  } catch {
    // A key or a signature that Node refuses to use.
    return false;
  }
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

/** The keys that give the message's tag. */
function findKeys(
  message: Message,
  version: Version,
  recipientKeys: readonly KeyObject[],
): MessageKeys | WalletFault {
  const usable = recipientKeys.filter(
    (key) => key.type === "private" && key.asymmetricKeyDetails?.namedCurve === curve,
  );
  if (usable.length === 0) return new WalletFault("no_key");
  for (const privateKey of usable) {
    const pair = { privateKey, publicKey: message.ephemeralKey };
    const keys = deriveKeys(message.point, pair, version);
    const tag = makeTag(keys, message.encrypted);
    if (tag.length === message.tag.length && timingSafeEqual(tag, message.tag)) return keys;
  }
  return new WalletFault("bad_mac");
}
