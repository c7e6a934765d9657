/**
 * OAuth 1.0a with RSA-SHA256: whether a request is what its merchant signed, signed lately, and
 * not seen before. Whoever fails learns only that he did, and an unknown consumer as late as a
 * wrong signature; which check failed is for the operator's log.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import {
  makeBaseString,
  OAuthFault,
  type Parameter,
  parseOAuthHeader,
  verify,
} from "@tollgate/protocols/oauth1";
import type { EntryPoint } from "../orders/merchant.ts";
import type { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";

/** Answered with 403. `check` is the one that failed. */
export class AccessDenied {
  readonly check: string;

  constructor(check: string) {
    this.check = check;
  }
}

/** What of a request a signature covers besides the body, and the header that carries it. */
export type SignedCall = {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** Where the gateway was reached. */
  readonly port: number;
  readonly authorization: string | undefined;
};

export type OAuthDependencies = {
  /** The addresses that a merchant may have called and signed, without paths. */
  readonly baseUrls: (port: number) => readonly string[];
  /** How far from now a time stamp may be. */
  readonly windowMs: number;
  /** Whether it is the first with this nonce. */
  readonly takeNonce: (taken: {
    readonly merchantId: MerchantId;
    readonly nonce: string;
    readonly signedAt: Instant;
  }) => Promise<boolean | Failure>;
};

export type SignedRequest = {
  readonly call: SignedCall;
  /** Of the body, not trimmed: the signature covers them as they were sent. */
  readonly pairs: readonly Parameter[];
  readonly entryPoint: EntryPoint;
};

const nonceForm = /^[!-~]{1,128}$/;

/** Nothing when the endpoint's merchant has signed the request. */
export async function checkOAuth(
  { call, pairs, entryPoint }: SignedRequest,
  { baseUrls, windowMs, takeNonce, clock }: OAuthDependencies & { readonly clock: Clock },
): Promise<AccessDenied | Failure | undefined> {
  const header = parseOAuthHeader(call.authorization);
  if (header instanceof OAuthFault) return new AccessDenied(header.reason);
  const { consumerKey, nonce, timestamp, signature } = header;
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
  const { merchant } = entryPoint;
  const isConsumer = consumerKey === merchant.login;
  const keys = isConsumer ? merchant.oauthKeys.map(({ publicKey }) => publicKey) : [];
  // Without a key the same work is done, and its result is not asked for.
  const isSigned = verifyAny(texts, signature, keys.length > 0 ? keys : [decoy]);
  if (!isConsumer) return new AccessDenied("consumer");
  if (keys.length === 0) return new AccessDenied("no_key");
  if (!isSigned) return new AccessDenied("signature");

  const isFirst = await takeNonce({ merchantId: merchant.id, nonce, signedAt });
  if (typeof isFirst !== "boolean") return isFirst;
  return isFirst ? undefined : new AccessDenied("nonce");
}

function verifyAny(
  texts: readonly string[],
  signature: string,
  keys: readonly KeyObject[],
): boolean {
  return texts.some((text) => keys.some((key) => verify(text, signature, key)));
}

/** Of the usual size, and larger than any signature, which would be turned away early otherwise. */
const decoy = createPublicKey({
  key: { kty: "RSA", n: Buffer.alloc(256, 0xff).toString("base64url"), e: "AQAB" },
  format: "jwk",
});

/** Says nothing of why. */
export const accessDeniedPage =
  "<!DOCTYPE html><html lang=en><title>Access denied</title><p>Access denied.</p></html>\n";
