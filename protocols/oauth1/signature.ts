/**
 * The signature of a request (RFC 5849, section 3.4): the base string from method, address and
 * every parameter of the header, the query and the body, signed with RSA-SHA256, which is
 * RSASSA-PKCS1-v1_5 over SHA-256.
 */
import { Buffer } from "node:buffer";
import * as crypto from "node:crypto";

/** Why a header or a request is refused. The reason is for the log, not for the sender. */
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

export type OAuthRequest = {
  readonly method: string;
  /** Absolute, as the sender called it; its query is signed too. */
  readonly url: string;
  /** Of the body, when it is a form; decoded. */
  readonly parameters: readonly Parameter[];
};

export const signatureName = "oauth_signature";

/** `oauthParameters` are those of the header, without the realm and the signature. */
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

  const others = [...query, ...parameters];
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
 * Sorted by encoded name, then by encoded value; a repeated name stays repeated. Encoded text has
 * no control characters, so a pair joined by the lowest one sorts as a single string.
 */
export function normalizeParameters(parameters: readonly Parameter[]): string {
  const pairs = parameters.map(
    ([name, value]) => `${encodePercent(name)}\u0000${encodePercent(value)}`,
  );
  return pairs.sort().join("&").replaceAll("\u0000", "=");
}

const padding = crypto.constants.RSA_PKCS1_PADDING;

/** In base64. */
export function sign(baseString: string, key: crypto.KeyObject): string {
  return crypto.sign("sha256", Buffer.from(baseString), { key, padding }).toString("base64");
}

/** Only canonical base64 is accepted as a signature. */
export function verify(baseString: string, signature: string, key: crypto.KeyObject): boolean {
  const bytes = Buffer.from(signature, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== signature) return false;
  return crypto.verify("sha256", Buffer.from(baseString), { key, padding }, bytes);
}

/** PKCS#1 or PKCS#8; undefined for any other text, and for a key that needs a passphrase. */
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
 * RFC 5849, section 3.6: every character but the unreserved ones, in upper case;
 * `encodeURIComponent` leaves five more as they are. Byte by byte into one buffer, because a sender
 * may use a million characters that need an escape.
 */
export function encodePercent(text: string): string {
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

/** Undefined when the text has a character that must be encoded, or is not UTF-8. */
export function decodePercent(text: string): string | undefined {
  return /^(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})*$/.test(text) ? decodeText(text) : undefined;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
