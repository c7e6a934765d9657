/** What the wallet signs: each text after its length in bytes, little-endian. */
import { Buffer } from "node:buffer";
import { type KeyObject, verify } from "node:crypto";
import { sender, type Version } from "./token.ts";

export function intermediateBytes(signedKey: string): Buffer {
  return frame([sender, "ECv2", signedKey]);
}

export function messageBytes(recipientId: string, version: Version, signedMessage: string): Buffer {
  return frame([sender, recipientId, version, signedMessage]);
}

export function isSignedBy(key: KeyObject, bytes: Buffer, signature: Buffer): boolean {
  try {
    return verify("sha256", bytes, key, signature);
  } catch {
    // A key or a signature that the library does not even want to look at.
    return false;
  }
}

function frame(texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text, "utf8");
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
}
