/**
 * How values are written (ISO 8583:1987 leaves it to the parties). Columns: how characters lie in
 * bytes, the unit of the specification's length, the characters of a value that make one unit, and
 * those that make one step of a length prefix: a prefix before hex counts characters, not bytes.
 */
import { packed, text, type Wire } from "./wire.ts";

export type EncodingName = "ascii" | "bcd" | "hex" | "binary";

export type Encoding = {
  readonly wire: Wire;
  readonly unit: "characters" | "digits" | "bytes";
  readonly charactersPerUnit: number;
  readonly charactersPerCount: number;
};

// biome-ignore format: a table
export const encodings: Record<EncodingName, Encoding> = {
  ascii:  { wire: text,   unit: "characters", charactersPerUnit: 1, charactersPerCount: 1 },
  bcd:    { wire: packed, unit: "digits",     charactersPerUnit: 1, charactersPerCount: 1 },
  hex:    { wire: text,   unit: "bytes",      charactersPerUnit: 2, charactersPerCount: 1 },
  binary: { wire: packed, unit: "bytes",      charactersPerUnit: 2, charactersPerCount: 2 },
};
