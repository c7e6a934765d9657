/** Opens a token: certificates and signature first, then the key by its hash, then decryption. */
import type { Buffer } from "node:buffer";
import { decrypt, deriveKey, readEphemeralKey, unwrapKey } from "./content-key.ts";
import { findMerchantIdentifierHash, findMerchantKey, type MerchantKey } from "./merchant-key.ts";
import { type Payload, readPayload } from "./payload.ts";
import { readToken, signedContent, type Token } from "./read-token.ts";
import { curve, type Version } from "./token.ts";
import { verifySignature } from "./verify-signature.ts";
import { WalletFault } from "./wallet-fault.ts";

export type Trust = {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** PEM, one certificate each. A root that the token carries is never used. */
  readonly roots: readonly string[];
  /** In any order; keep the old one for some time after a renewal. */
  readonly merchantKeys: readonly MerchantKey[];
  /** How far the signing time may be from now, in both directions. */
  readonly signingWindowMs: number;
  readonly allowSandboxSigner: boolean;
};

export type Opened = {
  readonly version: Version;
  /** 64 lower-case hex digits; a second token with the same one is a replay. */
  readonly transactionId: string;
  /** Lower-case hex: the SHA-256 of what the payment request carried along. */
  readonly applicationData?: string;
  /** Milliseconds since 1970. */
  readonly signingTime: number;
  readonly isSandboxSigner: boolean;
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

/** Nothing when the token was not made for this key. */
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
