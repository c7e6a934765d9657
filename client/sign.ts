/**
 * How requests are authenticated. The control checksum (v2) is SHA-1 over the operation's values
 * and the merchant control key, joined without separators. OAuth 1.0a (v4) signs every parameter
 * with RSA-SHA256.
 */
import { createHash, type KeyObject, randomBytes } from "node:crypto";
import { OAuthFault, readRsaPrivateKey, signRequest } from "@tollgate/protocols/oauth1";
import type { ControlTerm } from "./call.ts";
import { exponentGroups } from "./operations.generated.ts";

export type Signed = {
  /** The number in the path: of the endpoint or of the group. */
  readonly id: string;
  readonly login: string;
  readonly controlKey: string;
  readonly values: ReadonlyMap<string, string>;
};

export function sign(terms: readonly ControlTerm[], signed: Signed): string {
  const text = terms.map((term) => textOf(term, signed)).join("") + signed.controlKey;
  return createHash("sha1").update(text).digest("hex");
}

function textOf(term: ControlTerm, { id, login, values }: Signed): string {
  if (term === "{id}" || term === "{id?}") return id;
  if (term === "login") return login;
  if (typeof term === "string") return values.get(term) ?? "";
  const currency = values.get("currency") ?? "";
  if ("minorUnitsOf" in term) return toMinorUnits(values.get(term.minorUnitsOf) ?? "", currency);
  const amount = values.get(term.moneyIfSent) ?? "";
  return amount === "" ? "" : toMinorUnits(amount, currency) + currency;
}

/**
 * Digit by digit, because 19.99 * 100 is 1998.9999999999998. Empty when the text is not an amount:
 * the gateway reports that before it looks at the checksum.
 */
export function toMinorUnits(amount: string, currency: string): string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(amount);
  const [, whole = "", fraction = ""] = match ?? [];
  const [exponent] = exponentGroups.find(([, codes]) => codes.includes(currency)) ?? [2];
  if (match === null || fraction.length > exponent) return "";
  return (whole + fraction.padEnd(exponent, "0")).replace(/^0+(?=\d)/, "");
}

export type OAuthCredentials = {
  /** The merchant login. */
  readonly consumerKey: string;
  /** RSA, as PEM (PKCS#1 or PKCS#8) or as a key object. */
  readonly privateKey: string | KeyObject;
  /** Milliseconds since 1970; the machine's clock unless given. */
  readonly now?: () => number;
};

type Pairs = readonly (readonly [name: string, value: string])[];

/** The header of each try of a request: the gateway accepts a nonce once. */
export function makeAuthorizer({ consumerKey, privateKey, now = Date.now }: OAuthCredentials) {
  const key = typeof privateKey === "string" ? readRsaPrivateKey(privateKey) : privateKey;
  if (key?.type !== "private" || key.asymmetricKeyType !== "rsa") {
    throw new TypeError("oauth.privateKey must be an RSA private key, without a passphrase");
  }
  return (url: string, parameters: Pairs) => (): string => {
    const nonce = randomBytes(16).toString("hex");
    const timestamp = Math.floor(now() / 1000);
    const header = signRequest(
      { method: "POST", url, parameters },
      { consumerKey, privateKey: key, nonce, timestamp },
    );
    if (header instanceof OAuthFault) throw new TypeError(`cannot be signed: ${header.reason}`);
    return header;
  };
}
