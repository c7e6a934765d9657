/** Tables are written by hand, so one that cannot work is refused before its first use. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FieldRow, iso87Ascii, iso87BinaryLeft } from "./index.ts";
import { compile } from "./specification.ts";

// biome-ignore format: a table
const impossible: readonly (readonly [FieldRow, complaint: RegExp])[] = [
  [[  1, "second bitmap",     "b",   "fixed",       8, "hex"   ], /no bit of its own/],
  [[ 65, "third bitmap",      "b",   "fixed",       8, "hex"   ], /no bit of its own/],
  [[129, "beyond",            "n",   "fixed",       8, "ascii" ], /no bit of its own/],
  [[ 48, "too long for LL",   "ans", "LL ascii",  100, "ascii" ], /does not fit its prefix/],
  [[ 55, "hex counts twice",  "b",   "LLL ascii", 500, "hex"   ], /does not fit its prefix/],
  [[ 48, "text as digits",    "ans", "LL bcd",     20, "bcd"   ], /digits go with content n or z/],
  [[ 48, "text as bytes",     "ans", "LL bcd",     20, "binary"], /bytes go with content b/],
  [[ 52, "bytes as text",     "b",   "fixed",       8, "ascii" ], /bytes go with content b/],
  [[ 19, "odd, not padded",   "n",   "fixed",       3, "bcd"   ], /odd digits need padding/],
  [[  2, "bytes of digits",   "n",   "LL bcd of bytes", 19, "bcd", "right 0"], /counted bytes need padding F/],
  [[  2, "maybe odd",         "n",   "LL bcd",     18, "bcd"   ], /odd digits need padding/],
];

test("a row that cannot work is refused", () => {
  for (const [row, complaint] of impossible) {
    assert.throws(() => compile({ ...iso87Ascii, rows: [row] }), complaint, row[1]);
  }
});

test("a field with two rows is refused", () => {
  const { rows } = iso87Ascii;

  assert.throws(() => compile({ ...iso87Ascii, rows: [...rows, ...rows] }), /has two rows/);
});

test("a specification is compiled once", () => {
  assert.equal(compile(iso87BinaryLeft), compile(iso87BinaryLeft));
});
