/**
 * Bitmaps of ISO 8583:1987 as upper-case hex, which is what both of their encodings carry. Bit 1 is
 * the highest of the first digit and says that a second bitmap follows.
 */
import { readHexDigit } from "./wire.ts";

export function hasSecondBitmap(first: string): boolean {
  return first >= "8";
}

export function isEmptyBitmap(bitmap: string): boolean {
  return bitmap === "0000000000000000";
}

/** In ascending order; field 1 is only among them where its bit has no meaning of its own. */
export function listFields(bitmaps: string, lowest: 1 | 2 = 2): number[] {
  const fields: number[] = [];
  for (let at = 0; at < bitmaps.length; at++) {
    let digit = readHexDigit(bitmaps.charCodeAt(at));
    for (let field = at * 4 + 1; digit !== 0; field++) {
      if ((digit & 8) !== 0 && field >= lowest) fields.push(field);
      digit = (digit << 1) & 15;
    }
  }
  return fields;
}

/** Takes fields in ascending order; bit 1 is set when they need the second bitmap. */
export function writeBitmaps(fields: readonly number[]): [first: string, second?: string] {
  const needsSecond = (fields.at(-1) ?? 0) > 64;
  const digits: number[] = new Array(32).fill(0);
  if (needsSecond) digits[0] = 8;
  for (const field of fields) {
    const at = (field - 1) >> 2;
    digits[at] = (digits[at] ?? 0) | (8 >> ((field - 1) & 3));
  }
  const first = writeHexDigits(digits, 0);
  return needsSecond ? [first, writeHexDigits(digits, 16)] : [first];
}

function writeHexDigits(digits: readonly number[], start: number): string {
  let written = "";
  for (let at = start; at < start + 16; at++) written += hexDigits[digits[at] ?? 0];
  return written;
}

const hexDigits = "0123456789ABCDEF";
