/** Field 48 of ISO 8583:1987 in its tagged shape. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DecodeFault, type DecodeReason, readSubelements, writeSubelements } from "./index.ts";
import { samples } from "./samples.ts";

test("the indicators and the authentication value of a sample are read and written back", () => {
  const text = samples.good.find(({ id }) => id === "a01-0100")?.fields[48] ?? "";

  const subelements = readSubelements(text);

  assert.ok(!(subelements instanceof DecodeFault));
  assert.equal(subelements.category, "T");
  assert.deepEqual(
    [...subelements.elements],
    [
      ["42", "0103212"],
      ["43", "AAABBJg0VhI0VniQEjRWAAAAAAA="],
    ],
  );
  assert.equal(writeSubelements(subelements.category, subelements.elements), text);
});

// biome-ignore format: a table
const malformed: readonly (readonly [text: string, reason: DecodeReason])[] = [
  ["",                 "cut_short"],
  ["t4201x",           "wrong_content"],
  ["14201x",           "wrong_content"],
  ["T4",               "cut_short"],
  ["T420",             "cut_short"],
  ["T4202x",           "cut_short"],
  ["T4201xx",          "cut_short"],
  ["TA201x",           "wrong_content"],
  ["T42+1x",           "malformed_length"],
  ["T42 1x",           "malformed_length"],
  ["T4201x4201y",      "repeated"],
];

test("text that is not made of sub-elements is refused", () => {
  for (const [text, reason] of malformed) {
    assert.deepEqual(readSubelements(text), new DecodeFault(48, reason), text);
  }
});

test("a category alone has no elements", () => {
  assert.deepEqual(readSubelements("T"), { category: "T", elements: new Map() });
});

test("elements that cannot be read back are not written", () => {
  assert.throws(() => writeSubelements("", []), /category/);
  assert.throws(() => writeSubelements("TT", []), /category/);
  assert.throws(() => writeSubelements("T", [["1", "x"]]), /two digits/);
  assert.throws(() => writeSubelements("T", [["92", "x".repeat(100)]]), /too long/);
  assert.throws(
    () =>
      writeSubelements("T", [
        ["92", "1"],
        ["92", "2"],
      ]),
    /given twice/,
  );
});

test("any text is read or refused, and what is read is written back", () => {
  const text = fc.string({ unit: fc.constantFrom(..."T0123x") });
  fc.assert(
    fc.property(text, (tail) => {
      const subelements = readSubelements(`T${tail}`);
      if (subelements instanceof DecodeFault) return;
      assert.equal(writeSubelements(subelements.category, subelements.elements), `T${tail}`);
    }),
    { numRuns: 2000 },
  );
});
