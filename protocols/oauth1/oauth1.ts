/**
 * OAuth 1.0a (RFC 5849) for two signature methods: RSA-SHA256, which the RFC itself does not define
 * and which is RSASSA-PKCS1-v1_5 over SHA-256, and HMAC-SHA1. It is two-legged: there are a
 * consumer and its keys, but no tokens. The header is read strictly: every parameter once and
 * percent encoded, with all six required ones. Further parameters are signed and otherwise ignored.
 * The realm is ignored and not signed.
 */
import { Buffer } from "node:buffer";
import * as crypto from "node:crypto";

/** The reason why a header or a request is refused. It is for the log, not for the sender. */
export class OAuthFault {
  readonly reason: Reason;

  constructor(reason: Reason) {
    this.reason = reason;
  }
}

type Reason =
  | "no_header"
  | "other_scheme"
  | "malformed_header"
  | "repeated_parameter"
  | "missing_parameter"
  | "other_signature_method"
  | "other_version"
  | "malformed_timestamp"
  | "malformed_url"
  | "malformed_query"
  | "parameter_in_two_places";

export type Parameter = readonly [name: string, value: string];

type OAuthRequest = {
  readonly method: string;
  /** The absolute URL as the sender called it. Its query is signed too. */
  readonly url: string;
  /** The decoded parameters of the body, if it is a form. */
  readonly parameters: readonly Parameter[];
};

export type SignatureMethod = "RSA-SHA256" | "HMAC-SHA1";

const oauthVersion = "1.0";
const signatureName = "oauth_signature";
const required = ["consumer_key", "nonce", "signature", "signature_method", "timestamp", "version"];

/** Reads the header of a request that may be signed by one of `methods`. */
export function parseOAuthHeader(
  header: string | undefined,
  methods: readonly SignatureMethod[] = ["RSA-SHA256"],
) {
  if (header === undefined || header.trim() === "") return new OAuthFault("no_header");
  const [scheme = ""] = /^\s*[^\s]+/.exec(header) ?? [];
  if (scheme.trim().toLowerCase() !== "oauth") return new OAuthFault("other_scheme");
  const values = readParameters(header.slice(scheme.length));
  if (values instanceof OAuthFault) return values;

  const get = (name: string) => values.get(`oauth_${name}`) ?? "";
  if (required.some((name) => get(name) === "")) return new OAuthFault("missing_parameter");
  const method = methods.find((each) => each === get("signature_method"));
  if (method === undefined) return new OAuthFault("other_signature_method");
  if (get("version") !== oauthVersion) return new OAuthFault("other_version");
  const timestamp = get("timestamp");
  if (!/^[1-9]\d{0,11}$/.test(timestamp)) return new OAuthFault("malformed_timestamp");
  return {
    method,
    consumerKey: get("consumer_key"),
    nonce: get("nonce"),
    timestamp: Number(timestamp),
    signature: get("signature"),
    // These are the signed parameters.
    parameters: [...values].filter(([name]) => name !== "realm" && name !== signatureName),
  };
}

type Credentials = {
  readonly consumerKey: string;
  /** A text that is unique per request. */
  readonly nonce: string;
  /** The time in seconds since 1970. */
  readonly timestamp: number;
} & SigningKey;

/** The RSA key, or the shared secret for HMAC-SHA1. */
type SigningKey = { readonly privateKey: crypto.KeyObject } | { readonly secret: string };

/** Returns the Authorization header for a request. */
export function signRequest(request: OAuthRequest, credentials: Credentials): string | OAuthFault {
  const signed = [
    ["oauth_consumer_key", credentials.consumerKey],
    ["oauth_nonce", credentials.nonce],
    ["oauth_signature_method", "secret" in credentials ? "HMAC-SHA1" : "RSA-SHA256"],
    ["oauth_timestamp", String(credentials.timestamp)],
    ["oauth_version", oauthVersion],
  ] as const;
  const baseString = makeBaseString(request, signed);
  if (baseString instanceof OAuthFault) return baseString;
  const signature =
    "secret" in credentials
      ? signHmac(baseString, credentials.secret)
      : sign(baseString, credentials.privateKey);
  const parameters = [...signed, [signatureName, signature] as const].map(
    ([name, value]) => `${encodePercent(name)}="${encodePercent(value)}"`,
  );
  return `OAuth ${parameters.join(", ")}`;
}

/** A name, and its value in quotes. Only the realm may contain characters that are not encoded. */
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

/**
 * Makes the signed text. `oauthParameters` are those of the header, without the realm and the
 * signature. The body may repeat them with the same values, as clients of this interface do: they
 * count once.
 */
export function makeBaseString(
  { method, url, parameters }: OAuthRequest,
  oauthParameters: readonly Parameter[],
): string | OAuthFault {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) {
    return new OAuthFault("malformed_url");
  }
  const query = parseQuery(address.search);
  if (query === undefined) return new OAuthFault("malformed_query");

  const own = new Map(oauthParameters);
  const others = [...query, ...parameters.filter(([name, value]) => own.get(name) !== value)];
  const oauthNames = new Set([...oauthParameters.map(([name]) => name), signatureName]);
  if (others.some(([name]) => oauthNames.has(name))) {
    return new OAuthFault("parameter_in_two_places");
  }
  // The parser has lower-cased scheme and host, and dropped the port that the scheme implies.
  const endpoint = `${address.protocol}//${address.host}${address.pathname}`;
  const normalized = normalizeParameters([...others, ...oauthParameters]);
  return [method.toUpperCase(), endpoint, normalized].map(encodePercent).join("&");
}

/**
 * Sorts parameters by encoded name, then by encoded value. A repeated name stays repeated. Encoded
 * text has no control characters, so a pair that is joined by the lowest one sorts as a single
 * string.
 */
export function normalizeParameters(parameters: readonly Parameter[]): string {
  const pairs = parameters.map(
    ([name, value]) => `${encodePercent(name)}\u0000${encodePercent(value)}`,
  );
  return pairs.sort().join("&").replaceAll("\u0000", "=");
}

const padding = crypto.constants.RSA_PKCS1_PADDING;

/** Returns the signature in base64. */
export function sign(baseString: string, key: crypto.KeyObject): string {
  return crypto.sign("sha256", Buffer.from(baseString), { key, padding }).toString("base64");
}

/** Verifies a signature. Only canonical base64 is accepted. */
export function verify(baseString: string, signature: string, key: crypto.KeyObject): boolean {
  const bytes = Buffer.from(signature, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== signature) return false;
  return crypto.verify("sha256", Buffer.from(baseString), { key, padding }, bytes);
}

/**
 * Returns the signature in base64. The gateway issues no tokens, so that nothing follows the `&` of
 * its key.
 */
export function signHmac(baseString: string, secret: string, tokenSecret = ""): string {
  const key = `${encodePercent(secret)}&${encodePercent(tokenSecret)}`;
  return crypto.createHmac("sha1", key).update(baseString).digest("base64");
}

/** Verifies a signature in constant time. Only canonical base64 is accepted. */
export function verifyHmac(baseString: string, signature: string, secret: string): boolean {
  const right = Buffer.from(signHmac(baseString, secret));
  const sent = Buffer.from(signature);
  return right.length === sent.length && crypto.timingSafeEqual(right, sent);
}

/**
 * Reads a key in PKCS#1 or PKCS#8. Returns undefined for any other text, and for a key that needs a
 * passphrase.
 */
export function readRsaPrivateKey(pem: string): crypto.KeyObject | undefined {
  if (!/^\s*-----BEGIN (?:RSA )?PRIVATE KEY-----/.test(pem)) return undefined;
  try {
    const key = crypto.createPrivateKey(pem);
    return key.asymmetricKeyType === "rsa" ? key : undefined;
  } catch {
    return undefined;
  }
}

function parseQuery(search: string): readonly Parameter[] | undefined {
  const parameters: Parameter[] = [];
  for (const part of search.slice(1).split("&")) {
    if (part === "") continue;
    const [encodedName = "", ...rest] = part.replaceAll("+", " ").split("=");
    const name = decodeText(encodedName);
    const value = decodeText(rest.join("="));
    if (name === undefined || value === undefined) return undefined;
    parameters.push([name, value]);
  }
  return parameters;
}

/**
 * Encodes by RFC 5849, section 3.6: every character except the unreserved ones, in upper case.
 * `encodeURIComponent` does not encode five of them. It writes byte by byte into one buffer,
 * because a sender may use a million characters that need an escape.
 */
function encodePercent(text: string): string {
  if (unreserved.test(text)) return text;
  const bytes = Buffer.from(text);
  const encoded = Buffer.allocUnsafe(bytes.length * 3);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isUnreserved[byte] === 1) {
      encoded[length++] = byte;
    } else {
      encoded[length++] = 0x25;
      encoded[length++] = hexDigits[byte >> 4] ?? 0;
      encoded[length++] = hexDigits[byte & 15] ?? 0;
    }
  }
  return encoded.toString("latin1", 0, length);
}

const unreserved = /^[A-Za-z0-9\-._~]*$/;
const hexDigits = Buffer.from("0123456789ABCDEF");
const isUnreserved = Uint8Array.from({ length: 256 }, (_, byte) =>
  unreserved.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Returns undefined if the text has a character that must be encoded, or is not UTF-8. */
function decodePercent(text: string): string | undefined {
  return /^(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})*$/.test(text) ? decodeText(text) : undefined;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
