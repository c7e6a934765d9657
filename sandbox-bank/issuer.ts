/**
 * The issuer of every card: ECIs, masked card numbers, and authentication values. The host verifies
 * a value without having stored it: a value contains six random bytes and their MAC together with
 * the card number, under a key that is kept on disk. Its form depends on the card's network.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Switches } from "./switches.ts";

const saltBytes = 6;
const keyBytes = 32;

/** The use of a value: an answer to an AReq, a PARes, or a wallet's cryptogram. */
type ValueUse = "emv3ds" | "threeds102" | "wallet";

type Shape = { readonly bytes: number; readonly prefix: readonly number[] };

/**
 * The form of Visa's values. No two forms have the same length, so the length of a value shows its
 * form.
 */
const cavv: Shape = { bytes: 20, prefix: [] };
/**
 * The form of Mastercard's values: in base64 they have 28 characters without padding and begin with
 * `kJ`.
 */
const aav: Shape = { bytes: 21, prefix: [0x90, 0x93] };
const mastercardCryptogram: Shape = { bytes: 19, prefix: [0x00] };
const shapes: readonly Shape[] = [cavv, aav, mastercardCryptogram];

type ForcedShape = Switches["authenticationValue"];

export class AuthenticationValues {
  readonly #key: Buffer;
  readonly #forcedShape: () => ForcedShape;

  /** `forcedShape` returns the form of every value, or null for that of the card's network. */
  constructor(key: Buffer, forcedShape: () => ForcedShape = () => null) {
    this.#key = key;
    this.#forcedShape = forcedShape;
  }

  /** Opens the key. A key file that is missing or damaged is replaced. */
  static async open(path: string, forcedShape?: () => ForcedShape): Promise<AuthenticationValues> {
    const stored = await readFile(path).catch(() => undefined);
    if (stored?.length === keyBytes) return new AuthenticationValues(stored, forcedShape);
    const key = randomBytes(keyBytes);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, key, { mode: 0o600 });
    return new AuthenticationValues(key, forcedShape);
  }

  /** Makes a value in base64. */
  make(card: string, use: ValueUse = "emv3ds"): string {
    const shape = this.#shapeOf(card, use);
    return this.#authenticate(card, randomBytes(saltBytes), shape).toString("base64");
  }

  isGenuine(card: string, value: string): boolean {
    const bytes = Buffer.from(value, "base64");
    const shape = shapes.find((each) => each.bytes === bytes.length);
    // The value is encoded again, because Node's base64 decoder ignores characters after the end.
    if (shape === undefined || bytes.toString("base64") !== value) return false;
    const { length } = shape.prefix;
    const salt = bytes.subarray(length, length + saltBytes);
    return timingSafeEqual(bytes, this.#authenticate(card, salt, shape));
  }

  /**
   * Returns the form of a value. In 1.0.2, Mastercard's value has 20 bytes as that of every
   * network.
   */
  #shapeOf(card: string, use: ValueUse): Shape {
    const forced = this.#forcedShape();
    const isMastercards = use !== "threeds102" && usesUcaf(card);
    if (forced === "visa" || (forced === null && !isMastercards)) return cavv;
    return use === "wallet" ? mastercardCryptogram : aav;
  }

  #authenticate(card: string, salt: Buffer, { bytes, prefix }: Shape): Buffer {
    const mac = createHmac("sha256", this.#key).update(card).update(salt).digest();
    return Buffer.concat([Buffer.from(prefix), salt, mac]).subarray(0, bytes);
  }
}

/** Fully authenticated (Y), or attempted with proof (A). */
export type ProvedStatus = "Y" | "A";

/** Returns the ECI. Mastercard, Maestro and Mir use 02 and 01, every other network 05 and 06. */
export function eciFor(card: string, status: ProvedStatus): string {
  if (usesUcaf(card) || isIn(mirPrefixes, card)) return status === "Y" ? "02" : "01";
  return status === "Y" ? "05" : "06";
}

/**
 * Returns whether the card is of Mastercard or Maestro, whose values are transmitted as the text of
 * a UCAF.
 */
export function usesUcaf(card: string): boolean {
  return isIn(ucafPrefixes, card);
}

type Prefixes = readonly (readonly [first: number, last: number])[];

const mirPrefixes: Prefixes = [[2200, 2204]];
const ucafPrefixes: Prefixes = [
  [2221, 2720],
  [5100, 5599], // Mastercard
  [5000, 5099],
  [5600, 5999], // Maestro
  [6000, 6010],
  [6012, 6199],
  [6300, 6439], // Maestro, around Discover and UnionPay
  [6600, 6999],
];

function isIn(prefixes: Prefixes, card: string): boolean {
  const prefix = Number(card.slice(0, 4));
  return prefixes.some(([first, last]) => prefix >= first && prefix <= last);
}

/**
 * Returns the first six and last four digits, the form in which a card number may be shown and
 * logged.
 */
export function maskCard(card: string): string {
  return card.length < 12 ? "****" : `${card.slice(0, 6)}****${card.slice(-4)}`;
}
