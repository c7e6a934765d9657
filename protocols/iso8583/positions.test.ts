/** Fields 60 and 63 of ISO 8583:1987, whose sub-fields are known by their place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  cardholder63,
  DecodeFault,
  type DecodeField,
  type DecodeReason,
  type Fields,
  type Positions,
  pointOfService60,
  readPositions,
  writePositions,
} from "./index.ts";
import { samples } from "./samples.ts";

test("the indicator of a sample is read from its place and written back to it", () => {
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
const malformed: readonly (readonly [text: string, DecodeField, DecodeReason])[] = [
  ["000000000",    "60.8", "cut_short"],
  ["00000",        "60.5", "cut_short"],
  ["00000000050",  60,     "left_over"],
  ["000000000x",   60,     "wrong_content"],
];

test("text that does not fit the places is refused", () => {
  for (const [text, field, reason] of malformed) {
    assert.deepEqual(readPositions(pointOfService60, text), new DecodeFault(field, reason), text);
  }
});

// biome-ignore format: a table
const wrong: readonly (readonly [Positions, Fields, complaint: string])[] = [
  [pointOfService60, { 8: "5" },                "field 60.8 has the wrong width"],
  [pointOfService60, { 8: "0103212" },          "field 60.8 has the wrong width"],
  [pointOfService60, { 8: "O5" },               "field 60.8 has a character outside its content"],
  [pointOfService60, { 9: "1" },                "field 60 has no such place"],
  [pointOfService60, { 0: "1" },                "field 60 has no such place"],
  [cardholder63,     { 1: "é".padEnd(12) },     "field 63.1 has a character outside its content"],
];

test("sub-fields that do not fit are not written, and the error shows no value", () => {
  for (const [layout, subfields, complaint] of wrong) {
    assert.throws(() => writePositions(layout, subfields), { message: complaint });
  }
});

test("any text is read or refused, and what is read is written back", () => {
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
