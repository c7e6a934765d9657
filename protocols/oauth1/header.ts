/**
 * The Authorization header (RFC 5849, section 3.5.1), strict: every parameter once and percent
 * encoded, all six required ones present, only RSA-SHA256 and version 1.0. Further parameters are
 * signed and otherwise ignored; the realm is ignored and not signed.
 */
import type { KeyObject } from "node:crypto";
import {
  decodePercent,
  encodePercent,
  makeBaseString,
  OAuthFault,
  type OAuthRequest,
  type Parameter,
  sign,
  signatureName,
} from "./signature.ts";

const signatureMethod = "RSA-SHA256";
const oauthVersion = "1.0";
const required = ["consumer_key", "nonce", "signature", "signature_method", "timestamp", "version"];

export type OAuthHeader = {
  readonly consumerKey: string;
  /** Unique per request. */
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** In base64. */
  readonly signature: string;
  /** The signed ones. */
  readonly parameters: readonly Parameter[];
};

export function parseOAuthHeader(header: string | undefined): OAuthHeader | OAuthFault {
  if (header === undefined || header.trim() === "") return new OAuthFault("no_header");
  const [scheme = ""] = /^\s*[^\s]+/.exec(header) ?? [];
  if (scheme.trim().toLowerCase() !== "oauth") return new OAuthFault("other_scheme");
  const values = readParameters(header.slice(scheme.length));
  if (values instanceof OAuthFault) return values;

  const get = (name: string) => values.get(`oauth_${name}`) ?? "";
  if (required.some((name) => get(name) === "")) return new OAuthFault("missing_parameter");
  if (get("signature_method") !== signatureMethod) return new OAuthFault("other_signature_method");
  if (get("version") !== oauthVersion) return new OAuthFault("other_version");
  const timestamp = get("timestamp");
  if (!/^[1-9]\d{0,11}$/.test(timestamp)) return new OAuthFault("malformed_timestamp");
  return {
    consumerKey: get("consumer_key"),
    nonce: get("nonce"),
    timestamp: Number(timestamp),
    signature: get("signature"),
    parameters: [...values].filter(([name]) => name !== "realm" && name !== signatureName),
  };
}

export type Credentials = Pick<OAuthHeader, "consumerKey" | "nonce" | "timestamp"> & {
  readonly privateKey: KeyObject;
};

/** The Authorization header for a request. */
export function signRequest(request: OAuthRequest, credentials: Credentials): string | OAuthFault {
  const signed = [
    ["oauth_consumer_key", credentials.consumerKey],
    ["oauth_nonce", credentials.nonce],
    ["oauth_signature_method", signatureMethod],
    ["oauth_timestamp", String(credentials.timestamp)],
    ["oauth_version", oauthVersion],
  ] as const;
  const baseString = makeBaseString(request, signed);
  if (baseString instanceof OAuthFault) return baseString;
  const signature = [signatureName, sign(baseString, credentials.privateKey)] as const;
  const parameters = [...signed, signature].map(
    ([name, value]) => `${encodePercent(name)}="${encodePercent(value)}"`,
  );
  return `OAuth ${parameters.join(", ")}`;
}

/** A name, and its value in quotes; only the realm may have characters that are not encoded. */
const parameterForm = /\s*([A-Za-z0-9\-._~%]+)="((?:[^"\\]|\\.)*)"\s*(,|$)/y;

function readParameters(text: string): ReadonlyMap<string, string> | OAuthFault {
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
