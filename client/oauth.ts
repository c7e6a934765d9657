/**
 * OAuth 1.0a (RFC 5849) with RSA-SHA256, or with HMAC-SHA1 and the control key: makes the
 * Authorization header of a request, which signs its address and every parameter.
 */
import { encodePercent, fromBase64, hexOf, type Pair, toBase64, utf8 } from "./web.ts";

export type OAuthCredentials = {
  /** The merchant login. */
  readonly consumerKey: string;
  /** An RSA key as PEM (PKCS#1 or PKCS#8) or as a key object of Node. */
  readonly privateKey: string | KeyObject;
  /** Returns milliseconds since 1970; by default the machine's clock. */
  readonly now?: () => number;
};

/** The part of Node's `KeyObject` that the client needs. */
type KeyObject = { export(options: { readonly format: "pem"; readonly type: "pkcs8" }): unknown };

export type Authorize = (
  url: string,
  parameters: readonly Pair[],
  verb?: "GET" | "POST",
) => () => Promise<string>;

export function makeAuthorizer({ consumerKey, privateKey, now }: OAuthCredentials): Authorize {
  const container = readPrivateKey(privateKey);
  if (container === undefined) throw new TypeError(wrongKey);
  let key: Promise<CryptoKey> | undefined;
  return makeAuthorize({ consumerKey, method: "RSA-SHA256", now }, async (text) => {
    key ??= importKey(container);
    return toBase64(await crypto.subtle.sign(algorithm.name, await key, text));
  });
}

export function makeHmacAuthorizer(login: string, controlKey: string): Authorize {
  const secret = utf8(`${encodePercent(controlKey)}&`);
  const hmac = { name: "HMAC", hash: "SHA-1" };
  return makeAuthorize({ consumerKey: login, method: "HMAC-SHA1" }, async (text) => {
    const key = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"]);
    return toBase64(await crypto.subtle.sign(hmac.name, key, text));
  });
}

type Signed = Pick<OAuthCredentials, "consumerKey"> & {
  readonly method: string;
  readonly now?: OAuthCredentials["now"] | undefined;
};

/** Makes a new header for each attempt of a request, because the gateway accepts a nonce once. */
function makeAuthorize(
  { consumerKey, method, now = Date.now }: Signed,
  sign: (text: Uint8Array<ArrayBuffer>) => Promise<string>,
): Authorize {
  return (url, parameters, verb = "POST") =>
    async () => {
      const own: readonly Pair[] = [
        ["oauth_consumer_key", consumerKey],
        ["oauth_nonce", hexOf(crypto.getRandomValues(new Uint8Array(16)))],
        ["oauth_signature_method", method],
        ["oauth_timestamp", String(Math.floor(now() / 1000))],
        ["oauth_version", "1.0"],
      ];
      const signature = await sign(utf8(baseStringOf(verb, url, [...parameters, ...own])));
      const header = [...own, ["oauth_signature", signature] as const].map(
        ([name, value]) => `${encodePercent(name)}="${encodePercent(value)}"`,
      );
      return `OAuth ${header.join(", ")}`;
    };
}

const wrongKey = "oauth.privateKey must be an RSA private key, without a passphrase";
const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

async function importKey(container: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey("pkcs8", container, algorithm, false, ["sign"]);
  } catch {
    // The runtime's own error may quote the key.
    throw new TypeError(wrongKey);
  }
}

/**
 * Returns the signature base string of section 3.4.1. Parameters are sorted by encoded name, then
 * by encoded value. The addresses have no query of their own.
 */
function baseStringOf(verb: string, url: string, parameters: readonly Pair[]): string {
  const { protocol, host, pathname } = new URL(url);
  // Encoded text has no control characters, so pairs joined by the lowest one sort by name, then
  // value.
  const pairs = parameters.map((pair) => pair.map(encodePercent).join("\u0000"));
  const normalized = pairs.toSorted().join("&").replaceAll("\u0000", "=");
  return [verb, `${protocol}//${host}${pathname}`, normalized].map(encodePercent).join("&");
}

/** The object identifier of RSA keys (RFC 8017), with its tag and length. */
const rsaEncryption = "06092a864886f70d010101";
const pemForm = /^\s*-----BEGIN (RSA )?PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END/;

/**
 * Returns the key as PKCS#8, the only container that Web Crypto reads, or undefined if it is not an
 * RSA key.
 */
function readPrivateKey(key: OAuthCredentials["privateKey"]): Uint8Array<ArrayBuffer> | undefined {
  const [, pkcs1, base64 = ""] = pemForm.exec(pemOf(key)) ?? [];
  const bytes = fromBase64(base64);
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (pkcs1 !== undefined) return wrapPkcs1(bytes);
  return hexOf(bytes.subarray(0, 32)).includes(rsaEncryption) ? bytes : undefined;
}

function pemOf(key: OAuthCredentials["privateKey"]): string {
  try {
    return typeof key === "string" ? key : String(key.export({ format: "pem", type: "pkcs8" }));
  } catch {
    return "";
  }
}

/**
 * Wraps a PKCS#1 key as RFC 5958 requires: version 0, the algorithm, and the key as an octet
 * string.
 */
function wrapPkcs1(key: Uint8Array): Uint8Array<ArrayBuffer> {
  const version = [0x02, 0x01, 0x00];
  const oid = rsaEncryption.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [];
  const rsa = tagged(0x30, [...oid, 0x05, 0x00]);
  return Uint8Array.from(tagged(0x30, [...version, ...rsa, ...tagged(0x04, [...key])]));
}

function tagged(tag: number, content: readonly number[]): readonly number[] {
  const { length } = content;
  const short = length < 0x80 ? [length] : undefined;
  return [tag, ...(short ?? [0x82, length >> 8, length & 0xff]), ...content];
}
