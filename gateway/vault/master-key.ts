/**
 * The key-encryption key: 32 bytes, hexadecimal, in a file that only the gateway's user can read.
 * In staging it is made on the first start; in production the operator brings it.
 */
import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { keyBytes } from "./seal.ts";

/** A sentence for the operator when the file is there and is no key. */
export async function readMasterKey(file: string): Promise<Uint8Array | string> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return `The key file ${file} cannot be read: set GW_MASTER_KEY_FILE.`;
  const key = Buffer.from(text.trim(), "hex");
  if (key.length !== keyBytes || text.trim().length !== keyBytes * 2) {
    return `The key file ${file} must hold ${keyBytes * 2} hexadecimal digits.`;
  }
  return key;
}

/** Leaves an existing file alone. */
export async function makeMasterKey(file: string): Promise<void> {
  const text = `${randomBytes(keyBytes).toString("hex")}\n`;
  await writeFile(file, text, { flag: "wx", mode: 0o600 }).catch((error) => {
    if (error.code !== "EEXIST") throw error;
  });
  await chmod(file, 0o600);
}
