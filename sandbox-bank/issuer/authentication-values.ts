/**
 * Authentication values (CAVV): the issuer's proof that it authenticated the holder of one card.
 * The host can tell a genuine one without having seen it made, because it is six random bytes and
 * a code over them and the card number, by a key that is kept on disk.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const saltBytes = 6;
const valueBytes = 20;
const keyBytes = 32;

export class AuthenticationValues {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** With the key of that file, which is made when absent or not one. */
  static async open(path: string): Promise<AuthenticationValues> {
    return new AuthenticationValues((await readKey(path)) ?? (await makeKey(path)));
  }

  /** 20 bytes in base64: 28 characters. */
  make(card: string): string {
    return this.#seal(card, randomBytes(saltBytes)).toString("base64");
  }

  isGenuine(card: string, value: string): boolean {
    const bytes = Buffer.from(value, "base64");
    // Written back, because a reader of base64 overlooks whatever stands behind its end.
    if (bytes.length !== valueBytes || bytes.toString("base64") !== value) return false;
    return timingSafeEqual(bytes, this.#seal(card, bytes.subarray(0, saltBytes)));
  }

  #seal(card: string, salt: Buffer): Buffer {
    const code = createHmac("sha256", this.#key).update(card).update(salt).digest();
    return Buffer.concat([salt, code.subarray(0, valueBytes - saltBytes)]);
  }
}

async function readKey(path: string): Promise<Buffer | undefined> {
  try {
    const key = await readFile(path);
    return key.length === keyBytes ? key : undefined;
  } catch {
    return undefined;
  }
}

async function makeKey(path: string): Promise<Buffer> {
  const key = randomBytes(keyBytes);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, key, { mode: 0o600 });
  return key;
}
