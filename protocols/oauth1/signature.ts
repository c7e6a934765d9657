/**
 * RSA-SHA256: RSASSA-PKCS1-v1_5 with SHA-256 over the base string. Keys come as PEM in either of
 * their two containers: PKCS#1, or PKCS#8 for private and SPKI for public ones.
 */
import { Buffer } from "node:buffer";
import {
  constants,
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  verify as cryptoVerify,
  type KeyObject,
} from "node:crypto";

const padding = constants.RSA_PKCS1_PADDING;

/** In base64. */
export function sign(baseString: string, privateKey: KeyObject): string {
  const key = { key: privateKey, padding };
  return cryptoSign("sha256", Buffer.from(baseString), key).toString("base64");
}

/** A signature in anything but canonical base64 is wrong. */
export function verify(baseString: string, signature: string, publicKey: KeyObject): boolean {
  const bytes = Buffer.from(signature, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== signature) return false;
  return cryptoVerify("sha256", Buffer.from(baseString), { key: publicKey, padding }, bytes);
}

/** Nothing when the text is no RSA private key, or one that needs a passphrase. */
export function readPrivateKey(pem: string): KeyObject | undefined {
  return orNothing(pem, ["RSA PRIVATE KEY", "PRIVATE KEY"], createPrivateKey);
}

/** Nothing when the text is no RSA public key; a private key does not count as one. */
export function readPublicKey(pem: string): KeyObject | undefined {
  return orNothing(pem, ["RSA PUBLIC KEY", "PUBLIC KEY"], createPublicKey);
}

function orNothing(
  pem: string,
  labels: readonly string[],
  read: (pem: string) => KeyObject,
): KeyObject | undefined {
  if (!labels.some((label) => pem.trimStart().startsWith(`-----BEGIN ${label}-----`))) {
    return undefined;
  }
  try {
    const key = read(pem);
    return key.asymmetricKeyType === "rsa" ? key : undefined;
  } catch {
    return undefined;
  }
}
