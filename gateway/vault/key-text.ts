/**
 * A key as people and files have it: 32 bytes in hexadecimal or base64 digits. Two custodians may
 * have a part each: nobody can tell anything of the key from one of them.
 */
import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import { keyBytes } from "./seal.ts";

export const keyForms = `${keyBytes * 2} hexadecimal digits, or 32 bytes in base64`;

export function makeKeyText(): string {
  return randomBytes(keyBytes).toString("hex");
}

export function parseKeyText(text: string): Buffer | undefined {
  const digits = text.trim();
  if (/^[0-9a-f]{64}$/i.test(digits)) return Buffer.from(digits, "hex");
  if (/^[\w+/-]{43}=?$/.test(digits)) return Buffer.from(digits, "base64");
  return undefined;
}

/** The order of the parts does not matter. */
export function combineParts(first: Uint8Array, second: Uint8Array): Buffer {
  const mixed = Buffer.from(first.map((byte, index) => byte ^ (second[index] ?? 0)));
  const key = hkdfSync("sha256", mixed, "", "tollgate key-encryption key of two parts", keyBytes);
  mixed.fill(0);
  return Buffer.from(key);
}

/** Tells whether two have the same key, and nothing else about it. */
export function checkValueOf(key: Uint8Array): string {
  return createHmac("sha256", key).update("tollgate key check value").digest("hex").slice(0, 8);
}
