/**
 * The bytes of a message that is known only as `describe` has masked it: encoded anew, with stars
 * for the bytes that stand for something hidden. A hidden value has the length of its field, or of
 * the stars where the field has none.
 */
import { masked } from "../shared/masked.ts";
import { encode } from "./encode.ts";
import type { IsoFields } from "./message.ts";
import { encodings, type FieldRow, type Specification } from "./specification.ts";

type Described = { readonly mti: string; readonly fields: Readonly<Record<string, string>> };

/** A line for sixteen bytes: where it begins, in hexadecimal, and as text. */
export function dumpMasked(
  specification: Specification,
  { mti, fields }: Described,
): string | undefined {
  const encodeWith = (filler: string) =>
    encode(specification, { mti, fields: fill(specification, fields, filler) });
  try {
    const [zeros, ones] = [encodeWith("0"), encodeWith("1")];
    // A byte that depends on what fills the gaps stands for something hidden.
    const bytes = [...zeros].map((byte, at) => (byte === ones[at] ? byte : undefined));
    return dump(bytes);
  } catch {
    // A value that was cut, or one of a layout that the gate has no more.
    return undefined;
  }
}

function fill(
  { rows, composites = [] }: Specification,
  fields: Described["fields"],
  filler: string,
): IsoFields {
  const filled = Object.entries(fields).map(([name, value]) => {
    const field = Number(name);
    const row = rows.find(([number]) => number === field);
    const isSplit = field === 48 || composites.some((composite) => composite.field === field);
    if (row === undefined || (!value.includes(masked) && !isSplit)) return [field, value];
    if (field === 2 && value !== masked) return [field, value.replace(masked, filler.repeat(6))];
    return [field, filler.repeat(lengthOf(row))];
  });
  return Object.fromEntries(filled);
}

function lengthOf([, , , prefix, lengthMax, encoding]: FieldRow): number {
  const { perUnit } = encodings[encoding];
  return perUnit * (prefix === "fixed" ? lengthMax : Math.min(masked.length, lengthMax));
}

const perLine = 16;

function dump(bytes: readonly (number | undefined)[]): string {
  const lines = Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, line) => {
    const part = bytes.slice(line * perLine, (line + 1) * perLine);
    const hex = part.map((byte) => byte?.toString(16).padStart(2, "0") ?? "**").join(" ");
    const text = part.map((byte) => (byte === undefined ? "*" : printable(byte))).join("");
    const at = (line * perLine).toString(16).padStart(4, "0");
    return `${at}  ${hex.padEnd(perLine * 3 - 1)}  ${text}`;
  });
  return lines.join("\n");
}

function printable(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
}
