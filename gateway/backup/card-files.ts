/**
 * Files of cards that travel between two gateways. They are encrypted with age and nothing else, so
 * that the other gateway needs no program of this one. The private key is a key of the vault.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import type { Readable } from "node:stream";
import { Decrypter, identityToRecipient } from "age-encryption";
import { Problem } from "../values/problem.ts";
import { fromWeb, toWeb } from "./archive.ts";

/** The beginning of a private key of X25519 in PKCS #8 (RFC 8410). The key's 32 bytes follow. */
const keyForm = Buffer.from("302e020100300506032b656e04220420", "hex");

function identityOf(key: KeyObject) {
  const encoded = Buffer.concat([keyForm, key.export()]);
  const opened = createPrivateKey({ key: encoded, format: "der", type: "pkcs8" });
  encoded.fill(0);
  return opened.toCryptoKey({ name: "X25519" }, false, ["deriveBits"]);
}

/** Returns the public key, which looks like `age1…`. */
export function recipientOf(key: KeyObject): Promise<string> {
  return identityToRecipient(identityOf(key));
}

/**
 * Decrypts a file with one of the keys. The stream fails where the file was cut or changed: what it
 * has yielded before is authentic.
 */
export async function openCardFile(
  keys: readonly KeyObject[],
  encrypted: Readable,
): Promise<Readable | Problem> {
  const decrypter = new Decrypter();
  let isOfAge = false;
  // Identities are asked after the file's header was read.
  decrypter.addIdentity({
    unwrapFileKey() {
      isOfAge = true;
      return null;
    },
  });
  for (const key of keys) decrypter.addIdentity(identityOf(key));
  try {
    return fromWeb(await decrypter.decrypt(toWeb(encrypted)));
  } catch {
    // The error is not shown: it may quote the first line, which may be a card.
    const why = isOfAge
      ? "The file is encrypted to another key, or was changed."
      : "The file is not encrypted with age, or armoured. Destroy it if cards are in clear text.";
    return new Problem(
      `${why} Encrypt it to the key that gw key recipient prints. Nothing was imported.`,
    );
  }
}
