/**
 * The public key of a merchant, as PEM: SPKI, PKCS#1 or an X.509 certificate. A private key is
 * refused: nobody but the merchant has to see it.
 */
import { createPublicKey, hash, type KeyObject, X509Certificate } from "node:crypto";
import { Problem } from "../values/problem.ts";

const bitsMin = 2048;

export function readPublicKey(text: string): KeyObject | Problem {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return new Problem(
      "This is a private key, which only the merchant should have. Make the public one from it " +
        "with `openssl rsa -in <file> -pubout`, and consider whether anybody else has seen it.",
    );
  }
  const key = parseKey(text);
  if (key === undefined) {
    return new Problem("This is neither a public key nor a certificate in PEM.");
  }
  if (key.asymmetricKeyType !== "rsa") return new Problem("This is no RSA key.");
  const bits = bitsOf(key);
  if (bits >= bitsMin) return key;
  return new Problem(`The key has ${bits} bits: it must have at least ${bitsMin}.`);
}

function parseKey(text: string): KeyObject | undefined {
  try {
    const isCertificate = text.includes("-----BEGIN CERTIFICATE-----");
    return isCertificate ? new X509Certificate(text).publicKey : createPublicKey(text);
  } catch {
    return undefined;
  }
}

export function bitsOf(key: KeyObject): number {
  return key.asymmetricKeyDetails?.modulusLength ?? 0;
}

export function printKey(key: KeyObject): string {
  return key.export({ format: "pem", type: "spki" }).toString();
}

/** What `openssl pkey -pubin -outform DER | sha256sum` says of it. */
export function fingerprintOf(key: KeyObject): string {
  return hash("sha256", key.export({ format: "der", type: "spki" }));
}
