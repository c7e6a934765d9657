/**
 * OAuth 1.0a with RSA-SHA256: each try of a request gets a header of its own, with a fresh nonce
 * and time stamp, because the gateway takes a nonce once. The body is not touched.
 */
import { type KeyObject, randomBytes } from "node:crypto";
import { OAuthFault, readRsaPrivateKey, signRequest } from "@tollgate/protocols/oauth1";

export type OAuthCredentials = {
  /** The merchant login. */
  readonly consumerKey: string;
  /** RSA, as PEM (PKCS#1 or PKCS#8) or as a key object. */
  readonly privateKey: string | KeyObject;
  /** Milliseconds since 1970; the machine's clock unless given. */
  readonly now?: () => number;
};

type Pairs = readonly (readonly [name: string, value: string])[];

/** The headers of a request to this address with these fields, one for each try. */
export type MakeAuthorize = (url: string, pairs: Pairs) => () => string;

export function makeAuthorizer({
  consumerKey,
  privateKey: given,
  now = Date.now,
}: OAuthCredentials): MakeAuthorize {
  const privateKey = typeof given === "string" ? readRsaPrivateKey(given) : given;
  if (privateKey?.type !== "private" || privateKey.asymmetricKeyType !== "rsa") {
    throw new TypeError("oauth.privateKey must be an RSA private key, without a passphrase");
  }
  return (url, parameters) => () => {
    const nonce = randomBytes(16).toString("hex");
    const timestamp = Math.floor(now() / 1000);
    const header = signRequest(
      { method: "POST", url, parameters },
      { consumerKey, privateKey, nonce, timestamp },
    );
    if (header instanceof OAuthFault) throw new TypeError(`cannot be signed: ${header.reason}`);
    return header;
  };
}
