/** Opens a token: verifies certificates and signature, finds the key by its hash, decrypts. */
import type { Buffer } from "node:buffer";
import { curve, WalletFault } from "../shared/wallet.ts";
import {
  decrypt,
  deriveKey,
  findMerchantIdentifierHash,
  findMerchantKey,
  type MerchantKey,
  readEphemeralKey,
  unwrapKey,
} from "./encryption.ts";
import { type Payload, readPayload } from "./payload.ts";
import { readToken, signedContent, type Token, type Version } from "./token.ts";
import {
  type SignatureTrust,
  type VerifiedSignature,
  verifySignature,
} from "./verify-signature.ts";

export type Trust = SignatureTrust & {
  /** In any order; after a renewal the old key is kept for some time. */
  readonly merchantKeys: readonly MerchantKey[];
};

export type Opened = VerifiedSignature & {
  readonly version: Version;
  /** 64 lower-case hex digits; a second token with the same one is a replay. */
  readonly transactionId: string;
  /** Lower-case hex: the SHA-256 of the application data in the merchant's payment request. */
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

/** Undefined if the token was made for another key. */
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
