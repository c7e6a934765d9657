/**
 * The issuer of every card: ECIs, masked card numbers, and authentication values (CAVV). The host
 * verifies a CAVV without having stored it: six random bytes, and a MAC of them and the card number
 * under a key that is kept on disk.
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

  /** A key file that is missing or damaged is replaced. */
  static async open(path: string): Promise<AuthenticationValues> {
    const stored = await readFile(path).catch(() => undefined);
    if (stored?.length === keyBytes) return new AuthenticationValues(stored);
    const key = randomBytes(keyBytes);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, key, { mode: 0o600 });
    return new AuthenticationValues(key);
  }

  /** 20 bytes in base64. */
  make(card: string): string {
    return this.#authenticate(card, randomBytes(saltBytes)).toString("base64");
  }

  isGenuine(card: string, value: string): boolean {
    const bytes = Buffer.from(value, "base64");
    // Encoded again, because Node's base64 decoder ignores characters after the end.
    if (bytes.length !== valueBytes || bytes.toString("base64") !== value) return false;
    return timingSafeEqual(bytes, this.#authenticate(card, bytes.subarray(0, saltBytes)));
  }

  #authenticate(card: string, salt: Buffer): Buffer {
    const mac = createHmac("sha256", this.#key).update(card).update(salt).digest();
    return Buffer.concat([salt, mac.subarray(0, valueBytes - saltBytes)]);
  }
}

/** Fully authenticated (Y), or attempted with proof (A). */
export type ProvedStatus = "Y" | "A";

/** Mastercard, Maestro and Mir count 02 and 01; every other network 05 and 06. */
export function eciFor(card: string, status: ProvedStatus): string {
  const prefix = Number(card.slice(0, 4));
  const isLow = lowEciPrefixes.some(([first, last]) => prefix >= first && prefix <= last);
  if (isLow) return status === "Y" ? "02" : "01";
  return status === "Y" ? "05" : "06";
}

// biome-ignore format: a table
const lowEciPrefixes: readonly (readonly [first: number, last: number])[] = [
  [2200, 2204],                               // Mir
  [2221, 2720], [5100, 5599],                 // Mastercard
  [5000, 5099], [5600, 5999],                 // Maestro
  [6000, 6010], [6012, 6199], [6300, 6439],   // Maestro, around Discover and UnionPay
  [6600, 6999],
];

/** First six and last four digits: the form in which a card number may be shown and logged. */
export function maskCard(card: string): string {
  return card.length < 12 ? "****" : `${card.slice(0, 6)}****${card.slice(-4)}`;
}
