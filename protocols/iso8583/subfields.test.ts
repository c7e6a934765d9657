/** Fields 48, 60, 63 and 90 of ISO 8583:1987, whose text has a structure of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  cardholder63,
  DecodeFault,
  type DecodeReason,
  type FieldName,
  type IsoFields,
  type Positions,
  pointOfService60,
  readPositions,
  readSubelements,
  writeOriginalData,
  writePositions,
  writeSubelements,
} from "./index.ts";
import { samples } from "./testing.ts";

test("the indicator of a sample is read from its position and written to it", () => {
  const text = samples.good.find(({ id }) => id === "b01-0100")?.fields[60] ?? "";

  const subfields = readPositions(pointOfService60, text);

  assert.ok(!(subfields instanceof DecodeFault));
  assert.equal(subfields[8], "05");
  assert.equal(writePositions(pointOfService60, { 8: "05" }), text);
});

test("a field ends after the last sub-field given, and what comes before it is filled", () => {
  assert.equal(writePositions(pointOfService60, {}), "");
  assert.equal(writePositions(pointOfService60, { 1: "7" }), "7");
  assert.equal(writePositions(cardholder63, { 2: "15".padEnd(12) }), "15".padStart(14).padEnd(24));
  assert.deepEqual(readPositions(pointOfService60, ""), {});
  assert.deepEqual(readPositions(pointOfService60, "70"), { 1: "7", 2: "0" });
});

// biome-ignore format: a table
const malformedPositions: readonly (readonly [text: string, FieldName, DecodeReason])[] = [
  ["000000000",    "60.8", "truncated"],
  ["00000",        "60.5", "truncated"],
  ["00000000050",  60,     "trailing_bytes"],
  ["000000000x",   60,     "invalid_content"],
];

test("text that does not fit the positions is refused", () => {
  for (const [text, field, reason] of malformedPositions) {
    assert.deepEqual(readPositions(pointOfService60, text), new DecodeFault(field, reason), text);
  }
});

// biome-ignore format: a table
const wrong: readonly (readonly [Positions, IsoFields, complaint: string])[] = [
  [pointOfService60, { 8: "5" },                "field 60.8 has the wrong width"],
  [pointOfService60, { 8: "0103212" },          "field 60.8 has the wrong width"],
  [pointOfService60, { 8: "O5" },               "field 60.8 has a character outside its content"],
  [pointOfService60, { 9: "1" },                "field 60 has no such position"],
  [pointOfService60, { 0: "1" },                "field 60 has no such position"],
  [cardholder63,     { 1: "é".padEnd(12) },     "field 63.1 has a character outside its content"],
];

test("sub-fields that do not fit are not written, and the error shows no value", () => {
  for (const [layout, subfields, complaint] of wrong) {
    assert.throws(() => writePositions(layout, subfields), { message: complaint });
  }
});

test("any positional text is read or refused, and what is read is written back", () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789x "), maxLength: 12 });
  fc.assert(
    fc.property(text, (made) => {
      const subfields = readPositions(pointOfService60, made);
      if (subfields instanceof DecodeFault) return;
      assert.equal(writePositions(pointOfService60, subfields), made);
    }),
    { numRuns: 2000 },
  );
});

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
const malformedElements: readonly (readonly [text: string, reason: DecodeReason])[] = [
  ["",                 "truncated"],
  ["t4201x",           "invalid_content"],
  ["14201x",           "invalid_content"],
  ["T4",               "truncated"],
  ["T420",             "truncated"],
  ["T4202x",           "truncated"],
  ["T4201xx",          "truncated"],
  ["TA201x",           "invalid_content"],
  ["T42+1x",           "malformed_length"],
  ["T42 1x",           "malformed_length"],
  ["T4201x4201y",      "duplicate"],
];

test("text that is not made of sub-elements is refused", () => {
  for (const [text, reason] of malformedElements) {
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

test("any tagged text is read or refused, and what is read is written back", () => {
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

const original = {
  mti: "0200",
  stan: "000120",
  transmittedAt: "1114120037",
  acquirerId: "400001",
  forwarderId: "40000100007",
};

test("a reversal names its original as the sample does", () => {
  const sample = samples.good.find(({ id }) => id === "a08-0420")?.fields[90] ?? "";

  assert.equal(writeOriginalData(original), sample);
});

test("an absent forwarder is written as zeros", () => {
  const { forwarderId: _, ...direct } = original;

  assert.equal(writeOriginalData(direct), "020000012011141200370000040000100000000000");
});

test("parts of the wrong width are not written", () => {
  const wrong = [{ stan: "120" }, { mti: "020" }, { transmittedAt: "114120037" }];
  for (const parts of wrong) {
    assert.throws(() => writeOriginalData({ ...original, ...parts }), /wrong width/);
  }
  assert.throws(() => writeOriginalData({ ...original, stan: "00012O" }), /42 digits/);
  assert.throws(() => writeOriginalData({ ...original, acquirerId: "400000000001" }), /42 digits/);
});
