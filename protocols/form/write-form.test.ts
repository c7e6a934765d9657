/** Answers are compared byte for byte by their readers, so what is escaped is held exactly. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type FormPair, writeForm } from "./index.ts";

// biome-ignore format: a table
const written: readonly (readonly [value: string, escaped: string])[] = [
  ["",                     ""],
  ["AZaz09-_.~*",          "AZaz09-_.~*"],
  ["a b",                  "a+b"],
  ["+&=%",                 "%2B%26%3D%25"],
  ["!'()",                 "%21%27%28%29"],
  ["\0\r\n\x7f",           "%00%0D%0A%7F"],
  ["é€",                   "%C3%A9%E2%82%AC"],
  ["😀",                   "%F0%9F%98%80"],
  ["\ufeff",               "%EF%BB%BF"],
  ["\ud800",               "%EF%BF%BD"],
];

test("everything but letters, digits and five marks is escaped", () => {
  for (const [value, escaped] of written) {
    assert.equal(writeForm([["name", value]]), `name=${escaped}`);
    assert.equal(writeForm([[value, "value"]]), `${escaped}=value`);
  }
});

test("pairs are joined in the order given, repetitions included", () => {
  assert.equal(writeForm([]), "");
  assert.equal(writeForm(new Map([["b", "1"]])), "b=1");
  assert.equal(
    writeForm([
      ["b", "1"],
      ["a", "2"],
      ["b", ""],
    ]),
    "b=1&a=2&b=",
  );
});

test("with line feeds every value, the last one too, ends its line", () => {
  const pairs: readonly FormPair[] = [
    ["type", "async-response"],
    ["serial-number", ""],
  ];

  assert.equal(writeForm(pairs, { lineFeeds: true }), "type=async-response\n&serial-number=\n");
  assert.equal(writeForm([], { lineFeeds: true }), "");
});
