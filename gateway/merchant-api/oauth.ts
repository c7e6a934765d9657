/**
 * OAuth 1.0a with RSA-SHA256: whether the merchant signed the request recently and with a nonce
 * that was not used before. A denied client does not get to know which check failed, and an unknown
 * consumer takes as long as a wrong signature; the operator's log names the check.
 */
import { createPublicKey } from "node:crypto";
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

/** Answered with 403. `check` is the check that failed. */
export class AccessDenied {
  readonly check: string;

  constructor(check: string) {
    this.check = check;
  }
}

/** The parts of a request that the signature covers besides the body, and the signature. */
export type SignedCall = {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** The gateway's port. */
  readonly port: number;
  readonly authorization: string | undefined;
};

export type OAuthOptions = {
  /** The URLs, without paths, at which the gateway is known to merchants. */
  readonly baseUrls: (port: number) => readonly string[];
  /** The largest difference between a time stamp and now. */
  readonly windowMs: number;
  /** Whether this nonce was not taken before. */
  readonly takeNonce: (taken: {
    readonly merchantId: MerchantId;
    readonly nonce: string;
    readonly signedAt: Instant;
  }) => Promise<boolean | Failure>;
};

export type SignedRequest = {
  readonly call: SignedCall;
  /** The parameters of the body, not trimmed: the signature covers them in this form. */
  readonly pairs: readonly Parameter[];
  readonly entryPoint: EntryPoint;
};

const nonceForm = /^[!-~]{1,128}$/;

/** Returns undefined when the endpoint's merchant has signed the request. */
export async function checkOAuth(
  { call, pairs, entryPoint }: SignedRequest,
  { baseUrls, windowMs, takeNonce }: OAuthOptions,
  clock: Pick<Clock, "now">,
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
  // Without a key the decoy takes the same time, and its result does not count.
  const usedKeys = keys.length > 0 ? keys : [decoy];
  const isSigned = texts.some((text) => usedKeys.some((key) => verify(text, signature, key)));
  if (!isConsumer) return new AccessDenied("consumer");
  if (keys.length === 0) return new AccessDenied("no_key");
  if (!isSigned) return new AccessDenied("signature");

  const isFirst = await takeNonce({ merchantId: merchant.id, nonce, signedAt });
  if (typeof isFirst !== "boolean") return isFirst;
  return isFirst ? undefined : new AccessDenied("nonce");
}

/**
 * A key of the usual size; its modulus is larger than any signature, so that none is refused early.
 */
const decoy = createPublicKey({
  key: { kty: "RSA", n: Buffer.alloc(256, 0xff).toString("base64url"), e: "AQAB" },
  format: "jwk",
});

/** Does not say why. */
export const accessDeniedPage =
  "<!DOCTYPE html><html lang=en><title>Access denied</title><p>Access denied.</p></html>\n";
