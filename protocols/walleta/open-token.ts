/** Opens a token: verifies certificates and signature, finds the key by its hash, and decrypts. */
import { Buffer } from "node:buffer";
import { decodeBase64, hasExactly, isJsonObject, type JsonObject } from "../shared/json.ts";
import { curve, parseFields, WalletFault } from "../shared/wallet.ts";
import {
  ciphers,
  decrypt,
  deriveKey,
  findMerchantIdentifierHash,
  findMerchantKey,
  isVersion,
  type MerchantKey,
  readEphemeralKey,
  unwrapKey,
  type Version,
} from "./encryption.ts";
import { type Payload, readPayload } from "./payload.ts";
import {
  type SignatureTrust,
  type VerifiedSignature,
  verifySignature,
} from "./verify-signature.ts";

export type Trust = SignatureTrust & {
  /** The keys in any order. After a renewal, the old key is kept for some time. */
  readonly merchantKeys: readonly MerchantKey[];
};

export type Opened = VerifiedSignature & {
  readonly version: Version;
  /** The id as 64 lower-case hex digits. A second token with the same one is a replay. */
  readonly transactionId: string;
  /** The SHA-256 of the application data in the merchant's payment request, in lower-case hex. */
  readonly applicationData?: string;
  readonly payload: Payload;
};

export function openToken(text: string, trust: Trust): Opened | WalletFault {
  const token = readToken(text);
  if (token instanceof WalletFault) return token;
  const verified = verifySignature(token.signature, signedContent(token), trust);
  if (verified instanceof WalletFault) return verified;
  const merchantKey = findMerchantKey(trust.merchantKeys, token.publicKeyHash);
  if (merchantKey === undefined) return new WalletFault("no_key");
  const key = findContentKey(token, merchantKey);
  if (key instanceof WalletFault) return key;
  const plaintext = key && decrypt(key, token.encrypted, token.version);
  if (plaintext === undefined) return new WalletFault("bad_ciphertext");
  const payload = readPayload(plaintext);
  if (payload instanceof WalletFault) return payload;
  const { version, transactionId, applicationData } = token;
  return {
    version,
    transactionId: transactionId.toString("hex"),
    ...(applicationData && { applicationData: applicationData.toString("hex") }),
    ...verified,
    payload,
  };
}

/** Returns undefined if the token was made for another key. */
function findContentKey(token: Token, merchant: MerchantKey): Buffer | undefined | WalletFault {
  const { privateKey } = merchant;
  if (token.version === "RSA_v1") {
    return privateKey.asymmetricKeyType === "rsa" ? unwrapKey(token.key, privateKey) : undefined;
  }
  const publicKey = readEphemeralKey(token.key);
  if (publicKey === undefined) {
    return new WalletFault("malformed_field", "header.ephemeralPublicKey");
  }
  if (privateKey.asymmetricKeyDetails?.namedCurve !== curve) return undefined;
  const hash = findMerchantIdentifierHash(merchant);
  if (hash === undefined) return new WalletFault("no_merchant_identifier");
  return deriveKey({ privateKey, publicKey }, hash);
}

type Token = Exclude<ReturnType<typeof readToken>, WalletFault>;

/**
 * The longest signature: 16 KB, which is several times the length of three certificates. The limit
 * matters because certificates are parsed before they are verified.
 */
const signatureCharactersMax = (4 / 3) * 16 * 1024;

export function readToken(text: string) {
  const fields = parseFields(text);
  if (fields instanceof WalletFault) return fields;
  if (!hasExactly(fields, ["version", "data", "signature", "header"])) {
    return new WalletFault("wrong_fields");
  }
  const { version, header, signature: encoded } = fields;
  if (!isVersion(version)) return new WalletFault("unknown_version");
  const encrypted = decodeBase64(fields["data"]);
  if (encrypted === undefined) return new WalletFault("malformed_field", "data");
  if (typeof encoded === "string" && encoded.length > signatureCharactersMax) {
    return new WalletFault("too_large", "signature");
  }
  const signature = decodeBase64(encoded);
  if (signature === undefined) return new WalletFault("malformed_field", "signature");
  if (!isJsonObject(header)) return new WalletFault("wrong_fields", "header");
  const read = readHeader(header, ciphers[version].keyField);
  return read instanceof WalletFault ? read : { version, encrypted, signature, ...read };
}

/** Returns the decoded fields, concatenated. */
export function signedContent(token: Omit<Token, "signature">): Buffer {
  const { key, encrypted, transactionId, applicationData } = token;
  return Buffer.concat([key, encrypted, transactionId, applicationData ?? Buffer.alloc(0)]);
}

function readHeader(header: JsonObject, keyField: string) {
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
 * Decodes 32 bytes in hex. The signed content does not mark where one field ends and the next
 * begins. If other lengths were accepted, a used token could return under another transaction id.
 */
function decodeHash(value: unknown): Buffer | undefined {
  const isHash = typeof value === "string" && /^[0-9a-f]{64}$/i.test(value);
  return isHash ? Buffer.from(value, "hex") : undefined;
}
