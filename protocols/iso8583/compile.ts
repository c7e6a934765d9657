/**
 * A specification made ready for use, once: an array of codecs by field number. The message type
 * and the bitmaps of ISO 8583:1987 are codecs of fixed length like any other.
 */
import assert from "node:assert/strict";
import type { DecodeField, Subfield } from "./decode-fault.ts";
import { type Alphabet, alphabets } from "./parts/content.ts";
import { encodings } from "./parts/encoding.ts";
import { type Padding, paddings } from "./parts/padding.ts";
import { type Prefix, prefixes } from "./parts/prefix.ts";
import { packed, type Wire } from "./parts/wire.ts";
import type { Composite, Row, Specification } from "./specification.ts";

export type Compiled = {
  readonly mti: FieldCodec;
  readonly bitmap: FieldCodec;
  readonly fields: readonly (FieldCodec | undefined)[];
  readonly isPacked: boolean;
};

export type CompiledComposite = Pick<Compiled, "bitmap" | "fields">;

export type FieldCodec = {
  readonly field: DecodeField;
  readonly alphabet: Alphabet;
  readonly prefix: Prefix;
  readonly isFixed: boolean;
  readonly charactersMax: number;
  readonly charactersPerUnit: number;
  readonly charactersPerCount: number;
  readonly wire: Wire;
  readonly padding: Padding;
};

export function compile(specification: Specification): Compiled {
  const known = compiled.get(specification);
  if (known !== undefined) return known;
  const made = compileAfresh(specification);
  compiled.set(specification, made);
  return made;
}

const compiled = new WeakMap<Specification, Compiled>();

export function compileComposite(composite: Composite): CompiledComposite {
  const known = compiledComposites.get(composite);
  if (known !== undefined) return known;
  const made = compileCompositeAfresh(composite);
  compiledComposites.set(composite, made);
  return made;
}

const compiledComposites = new WeakMap<Composite, CompiledComposite>();

/** The bytes of a value without its prefix; an odd number of packed digits fills its last byte. */
export function bytesOf(codec: FieldCodec, characters: number): number {
  return codec.wire === packed ? (characters + 1) >> 1 : characters;
}

function compileAfresh({ rows, oddDigits, ...specification }: Specification): Compiled {
  const padding = paddings[oddDigits];
  const mti = makeCodec(padding, ["mti", "", "n", "fixed", 4, specification.mti]);
  const bitmap = makeCodec(padding, ["bitmap", "", "b", "fixed", 8, specification.bitmap]);
  const fields: (FieldCodec | undefined)[] = new Array(129).fill(undefined);
  for (const row of rows) {
    const [field] = row;
    assert.ok(field >= 2 && field <= 128 && field !== 65, `field ${field} has no bit of its own`);
    assert.ok(fields[field] === undefined, `field ${field} has two rows`);
    fields[field] = makeCodec(padding, row);
  }
  return { mti, bitmap, fields, isPacked: [mti, bitmap, ...fields].some(usesPacked) };
}

function compileCompositeAfresh({ field, oddDigits, rows }: Composite): CompiledComposite {
  const padding = paddings[oddDigits];
  const bitmap = makeCodec(padding, [field, "", "b", "fixed", 8, "binary"]);
  const fields: (FieldCodec | undefined)[] = new Array(65).fill(undefined);
  for (const [subfield, ...columns] of rows) {
    const name: Subfield = `${field}.${subfield}`;
    assert.ok(subfield >= 1 && subfield <= 64, `field ${name} has no bit of its own`);
    assert.ok(fields[subfield] === undefined, `field ${name} has two rows`);
    fields[subfield] = makeCodec(padding, [name, ...columns]);
  }
  return { bitmap, fields };
}

function makeCodec(padding: Padding, row: Row<DecodeField>): FieldCodec {
  const [field, , content, prefixName, lengthMax, encodingName] = row;
  const prefix = prefixes[prefixName];
  const isFixed = prefixName === "fixed";
  const { wire, unit, charactersPerUnit, charactersPerCount } = encodings[encodingName];
  const charactersMax = lengthMax * charactersPerUnit;

  const isTooLong = !isFixed && charactersMax > prefix.countMax * charactersPerCount;
  const canBeOdd = unit === "digits" && !(isFixed && charactersMax % 2 === 0);
  assert.equal(unit === "bytes", content === "b", `field ${field}: bytes go with content b`);
  assert.ok(unit !== "digits" || content === "n", `field ${field}: digits go with content n`);
  assert.ok(!isTooLong, `field ${field}: its length does not fit its prefix`);
  assert.ok(!canBeOdd || padding.side !== "neither", `field ${field}: odd digits need padding`);

  const alphabet = alphabets[content];
  const lengths = { charactersMax, charactersPerUnit, charactersPerCount };
  return { field, alphabet, prefix, isFixed, ...lengths, wire, padding };
}

function usesPacked(codec: FieldCodec | undefined): boolean {
  return codec?.wire === packed || codec?.prefix.wire === packed;
}
