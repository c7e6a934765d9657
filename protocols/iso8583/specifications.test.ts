/**
 * The tables are compared with the layouts of the sample file, which an independent codec wrote:
 * every row that it lists is printed in that file's words and must be equal.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldRow, Specification } from "./index.ts";
import { encodings, prefixes } from "./specification.ts";
import { type SpecificationName, samples, specifications } from "./testing.ts";

const names: readonly SpecificationName[] = [
  "iso87-ascii",
  "iso87-binary-left",
  "iso87-binary-right",
];

for (const name of names) {
  test(`the table of ${name} is the layout of the sample messages`, () => {
    const specification = specifications[name];
    const layout = samples.specs[name];

    assert.ok(layout.mtiEncoding.startsWith(`${specification.mti},`));
    assert.ok(layout.bitmapEncoding.startsWith(`${specification.bitmap},`));
    const listed = new Set(layout.fields.map(({ field }) => field));
    const rows = specification.rows.filter(([field]) => listed.has(field));
    assert.deepEqual(
      rows.map((row) => print(row, specification)),
      layout.fields,
    );
  });
}

function print(row: FieldRow, { oddDigits }: Specification): object {
  const [field, name, content, prefix, maxLength, dataEncoding] = row;
  const [lengthType, lengthEncoding = "none"] = prefix.split(" ");
  const isFixed = prefix === "fixed";
  const [side, digit] = oddDigits.split(" ");
  const isPadded = dataEncoding === "bcd" && !(isFixed && maxLength % 2 === 0);
  return {
    field,
    name,
    content,
    lengthType,
    lengthEncoding,
    lengthBytes: prefixes[prefix].bytes,
    maxLength,
    maxLengthUnit: encodings[dataEncoding].unit,
    dataEncoding,
    ...(isPadded ? { oddPad: { side, digit } } : {}),
    ...(dataEncoding === "hex" ? { note: isFixed ? hexNote : hexNote + countNote } : {}),
  };
}

const hexNote = "each byte is two upper-case hex characters on the wire";
const countNote = "; the length prefix counts those characters";
