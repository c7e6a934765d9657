/**
 * Verifies that a request comes from a merchant: by the control checksum in v2, by OAuth 1.0a in
 * v4. The checksum is SHA-1 over values and key without separators, as the interface defines it.
 * Because that is weak, the form of every value is checked before. An unknown login and a wrong
 * checksum take the same path and time.
 */
import { createHmac, createPublicKey, type Hmac, hash, timingSafeEqual } from "node:crypto";
import {
  makeBaseString,
  OAuthFault,
  type Parameter,
  parseOAuthHeader,
  type SignatureMethod,
  verify,
  verifyHmac,
} from "@tollgate/protocols/oauth1";
import type { EntryPoint, Merchant } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";
import type { ControlTerm, Sent } from "./operation.ts";

const sha1Bytes = 20;

/** Returns undefined if the merchant signed the request. The caller has read the signed fields. */
export function checkControl(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
  noteOldKey: (merchant: MerchantId) => void = () => undefined,
): Failure | undefined {
  const { merchant, id } = entryPoint;
  const [first, ...others] = terms;
  const text = textOfAll(first === "{id?}" ? others : terms, sent, entryPoint);
  if (text instanceof Failure) return text;
  const login = sent.get("login") ?? "";
  const sameLogin = login === "" || login === merchant.login;
  const control = controlOf(sent);
  const isSignedWith = (key: Secret<string>) => {
    const isSigned = (signed: string) => timingSafeEqual(sha1(signed + key.reveal()), control);
    return first === "{id?}" ? isSigned(id + text) || isSigned(text) : isSigned(text);
  };
  const { controlKey, oldControlKey } = merchant;
  const isOld = oldControlKey !== undefined && isSignedWith(oldControlKey);
  const isNew = isSignedWith(controlKey);
  if (!sameLogin || !(isNew || isOld)) return new Failure("control_mismatch");
  if (!isNew) noteOldKey(merchant.id);
  return undefined;
}

/** A buffer from the hash would take memory outside of the heap and twice the time of a text. */
function sha1(text: string): Buffer {
  return Buffer.from(hash("sha1", text, "latin1"), "latin1");
}

/** A signed result proves that the gateway sent it. */
export function signFor({ controlKey }: Merchant, text: string): string {
  return hash("sha1", text + controlKey.reveal(), "hex");
}

/** Begins a signature (HMAC-SHA256) with each of the merchant's valid control keys. */
export function beginSignatures({ controlKey, oldControlKey }: Merchant): readonly Hmac[] {
  const keys = oldControlKey === undefined ? [controlKey] : [controlKey, oldControlKey];
  return keys.map((key) => createHmac("sha256", key.reveal()));
}

export function findSigner(
  { controlKey, oldControlKey }: Merchant,
  text: string,
  control: string,
): "current_key" | "old_key" | undefined {
  const sent = controlOf(new Map([["control", control]]));
  const isBy = (key: Secret<string>) => timingSafeEqual(sha1(text + key.reveal()), sent);
  if (isBy(controlKey)) return "current_key";
  return oldControlKey !== undefined && isBy(oldControlKey) ? "old_key" : undefined;
}

/** Finds an amount without a currency, or one that is not valid in its currency. */
export function amountFaults(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
): readonly Failure[] {
  const text = textOfAll(terms, sent, entryPoint);
  return text instanceof Failure ? [text] : [];
}

function textOfAll(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
): string | Failure {
  let text = "";
  for (const term of terms) {
    const part = textOf(term, sent, entryPoint);
    if (part instanceof Failure) return part;
    text += part;
  }
  return text;
}

export function textOf(term: ControlTerm, sent: Sent, entryPoint: EntryPoint): string | Failure {
  if (term === "{id}") return entryPoint.id;
  if (typeof term === "string") return sent.get(term) ?? "";
  if ("minorUnitsOf" in term) return minorUnitsOf(term.minorUnitsOf, sent);

  if ((sent.get(term.moneyIfSent) ?? "") === "") return "";
  const minor = minorUnitsOf(term.moneyIfSent, sent);
  return minor instanceof Failure ? minor : minor + sent.get("currency");
}

function minorUnitsOf(field: string, sent: Sent): string | Failure {
  const code = sent.get("currency") ?? "";
  if (code === "") return new Failure("missing_parameter", "currency");
  const currency = findCurrency(code);
  const money = currency && parseAmount(sent.get(field) ?? "", currency);
  if (money !== undefined) return String(money.minor);
  return new Failure("invalid_parameter", `${field}: more fraction digits than the currency has`);
}

/** The result always has the right length, so that every comparison takes the same time. */
function controlOf(sent: Sent): Buffer {
  const text = sent.get("control") ?? "";
  const control = Buffer.from(text, "hex");
  return text.length === sha1Bytes * 2 && control.length === sha1Bytes
    ? control
    : Buffer.alloc(sha1Bytes);
}

/** Answered with 403. */
export class AccessDenied {
  readonly check: string;

  constructor(check: string) {
    this.check = check;
  }
}

/** The signature, and the parts of a request that it covers besides the body. */
export type SignedCall = {
  readonly method: string;
  readonly target: string;
  readonly port: number;
  readonly authorization: string | undefined;
};

export type OAuthOptions = {
  /** The URLs, without paths, by which merchants know the gateway. */
  readonly baseUrls: (port: number) => readonly string[];
  readonly windowMs: number;
  readonly takeNonce: (taken: {
    readonly merchantId: MerchantId;
    readonly nonce: string;
    readonly signedAt: Instant;
  }) => Promise<boolean | Failure>;
  readonly noteOldKey: (merchant: MerchantId) => void;
};

type SignedRequest = {
  readonly call: SignedCall;
  /** The parameters of the body without trimming, as the signature covers them. */
  readonly pairs: readonly Parameter[];
  readonly findMerchant: (login: string) => Merchant | undefined;
  /** Whether HMAC-SHA1 is accepted besides RSA-SHA256. */
  readonly takesHmac: boolean;
};

const nonceForm = /^[!-~]{1,128}$/;

/**
 * Returns the merchant if the request was signed by OAuth 1.0a recently and with a new nonce. A
 * refused client is not informed which check failed, and an unknown consumer takes as long as a
 * wrong signature. The operator's log names the check.
 */
export async function checkOAuth(
  { call, pairs, findMerchant, takesHmac }: SignedRequest,
  { baseUrls, windowMs, takeNonce, noteOldKey }: OAuthOptions,
  clock: Pick<Clock, "now">,
): Promise<Merchant | AccessDenied | Failure> {
  const header = parseOAuthHeader(call.authorization, methodsOf(takesHmac));
  if (header instanceof OAuthFault) return new AccessDenied(header.reason);
  const { method, consumerKey, nonce, timestamp, signature } = header;
  const signedAt = asInstant(timestamp * 1000);
  if (Math.abs(clock.now() - signedAt) > windowMs) return new AccessDenied("timestamp");
  if (!nonceForm.test(nonce)) return new AccessDenied("malformed_nonce");

  const texts: string[] = [];
  for (const base of baseUrls(call.port)) {
    const request = { method: call.method, url: base + call.target, parameters: pairs };
    const text = makeBaseString(request, header.parameters);
    if (text instanceof OAuthFault) return new AccessDenied(text.reason);
    texts.push(text);
  }
  const merchant = findMerchant(consumerKey);
  const key = signers[method](merchant, texts, signature);
  if (merchant === undefined) return new AccessDenied("consumer");
  if (key !== "key" && key !== "old_key") return new AccessDenied(key);

  const isFirst = await takeNonce({ merchantId: merchant.id, nonce, signedAt });
  if (isFirst instanceof Failure) return isFirst;
  if (!isFirst) return new AccessDenied("nonce");
  if (key === "old_key") noteOldKey(merchant.id);
  return merchant;
}

export function methodsOf(takesHmac: boolean): readonly SignatureMethod[] {
  return takesHmac ? ["RSA-SHA256", "HMAC-SHA1"] : ["RSA-SHA256"];
}

/** Returns the merchant's key that has signed one of the texts, or the check that failed. */
type FindKey = (
  merchant: Merchant | undefined,
  texts: readonly string[],
  signature: string,
) => "key" | "old_key" | "signature" | "no_key" | "rsa_only";

// Without a key, a decoy is verified, which takes the same time. Its result does not count.
const signers: Readonly<Record<SignatureMethod, FindKey>> = {
  "RSA-SHA256"(merchant, texts, signature) {
    const keys = merchant?.oauthKeys.map(({ publicKey }) => publicKey) ?? [];
    const usedKeys = keys.length > 0 ? keys : [decoy];
    const isSigned = texts.some((text) => usedKeys.some((key) => verify(text, signature, key)));
    if (keys.length === 0) return "no_key";
    return isSigned ? "key" : "signature";
  },

  "HMAC-SHA1"(merchant, texts, signature) {
    const isBy = (key: Secret<string> | undefined) => {
      const secret = key?.reveal() ?? decoySecret;
      const verified = texts.map((text) => verifyHmac(text, signature, secret));
      return key !== undefined && verified.includes(true);
    };
    const isNew = isBy(merchant?.controlKey);
    const isOld = isBy(merchant?.oldControlKey);
    if (merchant?.settings.rsaOnly === true) return "rsa_only";
    if (isNew) return "key";
    return isOld ? "old_key" : "signature";
  },
};

/** The decoy's modulus is larger than any signature, so that none is refused early. */
const decoy = createPublicKey({
  key: { kty: "RSA", n: Buffer.alloc(256, 0xff).toString("base64url"), e: "AQAB" },
  format: "jwk",
});
/** The decoy is as long as the control keys that the gateway makes. */
const decoySecret = "00000000-0000-0000-0000-000000000000";

/** The reply does not contain the reason. */
export const accessDeniedPage =
  "<!DOCTYPE html><html lang=en><title>Access denied</title><p>Access denied.</p></html>\n";
