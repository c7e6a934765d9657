/**
 * Lengths before variable fields (ISO 8583:1987, LLVAR and LLLVAR). Three decimal digits packed
 * into two bytes have a zero before them, which the bound on the count takes care of.
 */
import { packed, text, type Wire } from "./wire.ts";

export type PrefixName = "fixed" | "LL ascii" | "LLL ascii" | "LL bcd" | "LLL bcd" | "LL binary";

export type Prefix = {
  readonly wire: Wire;
  readonly characters: number;
  readonly bytes: number;
  readonly radix: 10 | 16;
  readonly countMax: number;
};

// biome-ignore format: a table
export const prefixes: Record<PrefixName, Prefix> = {
  "fixed":     { wire: text,   characters: 0, bytes: 0, radix: 10, countMax: 0   },
  "LL ascii":  { wire: text,   characters: 2, bytes: 2, radix: 10, countMax: 99  },
  "LLL ascii": { wire: text,   characters: 3, bytes: 3, radix: 10, countMax: 999 },
  "LL bcd":    { wire: packed, characters: 2, bytes: 1, radix: 10, countMax: 99  },
  "LLL bcd":   { wire: packed, characters: 4, bytes: 2, radix: 10, countMax: 999 },
  "LL binary": { wire: packed, characters: 2, bytes: 1, radix: 16, countMax: 255 },
};

export function writeCount(prefix: Prefix, count: number): string {
  return count.toString(prefix.radix).toUpperCase().padStart(prefix.characters, "0");
}

/** Negative when the characters are not a number in the prefix's radix. */
export function readCount(prefix: Prefix, characters: string): number {
  let count = 0;
  for (let at = 0; at < characters.length; at++) {
    const digit = digitValues[characters.charCodeAt(at)] ?? 16;
    if (digit >= prefix.radix) return -1;
    count = count * prefix.radix + digit;
  }
  return count;
}

const digitValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = "0123456789ABCDEF".indexOf(String.fromCharCode(code));
  return value < 0 ? 16 : value;
});
