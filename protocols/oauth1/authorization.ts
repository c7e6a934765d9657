/**
 * The Authorization header (RFC 5849, section 3.5.1), strict: every parameter once and percent
 * encoded, all six of the interface there, RSA-SHA256 and 1.0 and nothing else. Further parameters
 * are signed like these and mean nothing; the realm is neither signed nor looked at.
 */

import { OAuthFault } from "./oauth-fault.ts";
import { decodePercent } from "./percent.ts";
import { type Parameter, signatureName } from "./signed-text.ts";

export const signatureMethod = "RSA-SHA256";
export const oauthVersion = "1.0";

export type Authorization = {
  readonly consumerKey: string;
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** In base64. */
  readonly signature: string;
  /** What the header adds to the signed text. */
  readonly parameters: readonly Parameter[];
};

export function parseAuthorization(header: string | undefined): Authorization | OAuthFault {
  if (header === undefined || header.trim() === "") return new OAuthFault("no_header");
  const [scheme = ""] = /^\s*[^\s]+/.exec(header) ?? [];
  if (scheme.trim().toLowerCase() !== "oauth") return new OAuthFault("other_scheme");
  const values = readParameters(header.slice(scheme.length));
  return values instanceof OAuthFault ? values : readAuthorization(values);
}

type Values = ReadonlyMap<string, string>;

/** A name, and in quotes its value; only the realm may hold what is not percent encoded. */
const parameterForm = /\s*([A-Za-z0-9\-._~%]+)="((?:[^"\\]|\\.)*)"\s*(,|$)/y;

function readParameters(text: string): Values | OAuthFault {
  const values = new Map<string, string>();
  for (let at = 0; ; ) {
    parameterForm.lastIndex = at;
    const match = parameterForm.exec(text);
    if (match === null) return new OAuthFault("malformed_header");
    const [whole, encodedName = "", encodedValue = "", end] = match;
    const name = decodePercent(encodedName);
    const value = name === "realm" ? encodedValue : decodePercent(encodedValue);
    if (name === undefined || value === undefined) return new OAuthFault("malformed_header");
    if (values.has(name)) return new OAuthFault("repeated_parameter");
    values.set(name, value);
    if (end !== ",") return values;
    at += whole.length;
  }
}

function readAuthorization(values: Values): Authorization | OAuthFault {
  const missing = ["consumer_key", "nonce", "signature", "signature_method", "timestamp", "version"]
    .map((name) => values.get(`oauth_${name}`) ?? "")
    .includes("");
  if (missing) return new OAuthFault("missing_parameter");
  const get = (name: string) => values.get(name) ?? "";
  if (get("oauth_signature_method") !== signatureMethod) {
    return new OAuthFault("other_signature_method");
  }
  if (get("oauth_version") !== oauthVersion) return new OAuthFault("other_version");
  const timestamp = get("oauth_timestamp");
  if (!/^[1-9]\d{0,11}$/.test(timestamp)) return new OAuthFault("malformed_timestamp");
  return {
    consumerKey: get("oauth_consumer_key"),
    nonce: get("oauth_nonce"),
    timestamp: Number(timestamp),
    signature: get(signatureName),
    parameters: [...values].filter(([name]) => name !== "realm" && name !== signatureName),
  };
}
