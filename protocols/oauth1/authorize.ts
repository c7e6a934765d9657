/** Signs a request: the Authorization header that it has to be sent with. */
import type { KeyObject } from "node:crypto";
import { oauthVersion, signatureMethod } from "./authorization.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { encodePercent } from "./percent.ts";
import { sign } from "./signature.ts";
import { makeSignedText, type OAuthRequest, signatureName } from "./signed-text.ts";

export type Credentials = {
  readonly consumerKey: string;
  readonly privateKey: KeyObject;
  /** Never the same for two requests. */
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
};

export function authorize(request: OAuthRequest, credentials: Credentials): string | OAuthFault {
  const own = [
    ["oauth_consumer_key", credentials.consumerKey],
    ["oauth_nonce", credentials.nonce],
    ["oauth_signature_method", signatureMethod],
    ["oauth_timestamp", String(credentials.timestamp)],
    ["oauth_version", oauthVersion],
  ] as const;
  const baseString = makeSignedText(request, own);
  if (baseString instanceof OAuthFault) return baseString;
  const signature = [signatureName, sign(baseString, credentials.privateKey)] as const;
  const parameters = [...own, signature].map(
    ([name, value]) => `${encodePercent(name)}="${encodePercent(value)}"`,
  );
  return `OAuth ${parameters.join(", ")}`;
}
