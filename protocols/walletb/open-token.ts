/**
 * Opens a token: verifies the signatures from a root key through the intermediate key to the
 * message, then the MAC, and then decrypts. The signed texts are used byte for byte as they were
 * sent, and are parsed only after their signature is verified.
 */
import { Buffer } from "node:buffer";
import { type KeyObject, timingSafeEqual } from "node:crypto";
import { decodeBase64, hasExactly, isJsonObject } from "../shared/json.ts";
import {
  curve,
  decodeText,
  isSignedBy,
  parseFields,
  readPublicKey,
  WalletFault,
} from "../shared/wallet.ts";
import {
  applyCipher,
  deriveKeys,
  isMilliseconds,
  type MessageKeys,
  makeTag,
  type RootKey,
  readPoint,
  sender,
  type Version,
  versions,
} from "./keys.ts";
import { type Payload, readPayload } from "./payload.ts";

export type Trust = {
  /** The time in milliseconds since 1970. */
  readonly now: number;
  readonly rootKeys: readonly RootKey[];
  /** The recipient as `merchant:<id>` or `gateway:<id>`. */
  readonly recipientId: string;
  /** Private P-256 keys, in any order. There are several during a rotation. */
  readonly recipientKeys: readonly KeyObject[];
  readonly versions: readonly Version[];
};

export type Opened = { readonly version: Version; readonly payload: Payload };

export function openToken(text: string, trust: Trust): Opened | WalletFault {
  const decrypted = decryptToken(text, trust);
  if (decrypted instanceof WalletFault) return decrypted;
  const { version, plaintext } = decrypted;
  const payload = readPayload(plaintext, { now: trust.now, version });
  return payload instanceof WalletFault ? payload : { version, payload };
}

/** Decrypts without the checks of the payload, which include its expiry. */
export function decryptToken(text: string, trust: Trust) {
  const token = readToken(text, trust.versions);
  if (token instanceof WalletFault) return token;
  const fault = findSignatureFault(token, trust);
  if (fault !== undefined) return fault;
  const message = readMessage(token);
  if (message instanceof WalletFault) return message;
  const keys = findKeys(message, token.version, trust.recipientKeys);
  if (keys instanceof WalletFault) return keys;
  const plaintext = decodeText(applyCipher(keys, message.encrypted, token.version));
  if (plaintext === undefined) return new WalletFault("bad_payload");
  return { version: token.version, plaintext };
}

type Token = Exclude<ReturnType<typeof readToken>, WalletFault>;
type SignedKey = Exclude<ReturnType<typeof readSignedKey>, WalletFault>;

const tokenFields: Readonly<Record<Version, readonly string[]>> = {
  ECv1: ["protocolVersion", "signature", "signedMessage"],
  ECv2: ["protocolVersion", "signature", "signedMessage", "intermediateSigningKey"],
};

const signaturesMax = 8;

/** Reads a token. It names its version, but only an allowed one is accepted. */
function readToken(text: string, allowed: readonly Version[]) {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  const { protocolVersion, signedMessage } = fields;
  if (typeof protocolVersion !== "string") return new WalletFault("wrong_fields");
  const version = versions.find((one) => one === protocolVersion && allowed.includes(one));
  if (version === undefined) return new WalletFault("unknown_version");
  if (!hasExactly(fields, tokenFields[version])) return new WalletFault("wrong_fields");
  if (typeof signedMessage !== "string") return new WalletFault("malformed_field", "signedMessage");
  const signature = decodeBase64(fields["signature"]);
  if (signature === undefined) return new WalletFault("malformed_field", "signature");
  if (version === "ECv1") return { version, signedMessage, signature };
  const intermediate = readSignedKey(fields["intermediateSigningKey"]);
  if (intermediate instanceof WalletFault) return intermediate;
  return { version, signedMessage, signature, intermediate };
}

function readSignedKey(value: unknown) {
  if (!isJsonObject(value) || !hasExactly(value, ["signedKey", "signatures"])) {
    return new WalletFault("wrong_fields", "intermediateSigningKey");
  }
  const { signedKey, signatures } = value;
  if (typeof signedKey !== "string") return new WalletFault("malformed_field", "signedKey");
  const isList = Array.isArray(signatures) && signatures.length <= signaturesMax;
  const decoded = isList ? signatures.map(decodeBase64) : [];
  if (decoded.length === 0 || decoded.includes(undefined)) {
    return new WalletFault("malformed_field", "signatures");
  }
  return { signedKey, signatures: decoded.filter((one) => one !== undefined) };
}

export function intermediateBytes(signedKey: string): Buffer {
  return frame([sender, "ECv2", signedKey]);
}

export function messageBytes(recipientId: string, version: Version, signedMessage: string): Buffer {
  return frame([sender, recipientId, version, signedMessage]);
}

/** Joins texts, each after its length in bytes, little-endian. */
function frame(texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(Buffer.byteLength(text, "utf8"));
      return [length, Buffer.from(text, "utf8")];
    }),
  );
}

function findSignatureFault(token: Token, trust: Trust): WalletFault | undefined {
  const { version, signedMessage, signature } = token;
  const bytes = messageBytes(trust.recipientId, version, signedMessage);
  if (version === "ECv1") {
    const fault = findRootFault({ bytes, signatures: [signature] }, version, trust);
    // The only signature covers everything, so another root cannot be distinguished from a change.
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

/** Finds the fault. Any root key that is not expired may match any of the signatures. */
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

type Message = Exclude<ReturnType<typeof readMessage>, WalletFault>;

function readMessage({ signedMessage }: Token) {
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

/** Returns the keys that give the message's tag. */
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
