/** Array literals must survive whatever a merchant can put into a text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesArray, plainArray, textArray } from "./array-literal.ts";

// biome-ignore format: a table
const texts: readonly (readonly [value: string | null, literal: string])[] = [
  ["plain",          "{plain}"],
  ["",               '{""}'],
  ["NULL",           '{"NULL"}'],
  ["null",           '{"null"}'],
  [null,             "{NULL}"],
  ["a b",            '{"a b"}'],
  ["a,b",            '{"a,b"}'],
  ["{}",             '{"{}"}'],
  ['say "hi"',       '{"say \\"hi\\""}'],
  ["back\\slash",    '{"back\\\\slash"}'],
  ["line\nend",      '{"line\nend"}'],
];

test("every text is one element and comes out as it went in", () => {
  for (const [value, literal] of texts) assert.equal(textArray([value]), literal);
  assert.equal(textArray(["a", null, "b,c"]), '{a,NULL,"b,c"}');
});

test("numbers and bytes", () => {
  assert.equal(plainArray([1, 2n, "3", null]), "{1,2,3,NULL}");
  assert.equal(bytesArray([Buffer.from([0, 255])]), '{"\\\\x00ff"}');
});
