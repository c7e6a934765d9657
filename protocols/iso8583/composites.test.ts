/** Sub-fields with a bitmap of their own: examples made by hand, a sample, and random values. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Composite,
  DecodeFault,
  type DecodeReason,
  decode,
  type FieldName,
  type FieldRow,
  type IsoFields,
  iso87Bitmapped,
  payment62,
  readComposite,
  security126,
  writeComposite,
} from "./index.ts";
import { samples } from "./testing.ts";

const cavv = "0000010498345612345678901234560000000000";

test("the authentication value of a sample is read and written back", () => {
  const sample = samples.good.find(({ id }) => id === "b01-0100");
  const message = decode(iso87Bitmapped, Buffer.from(sample?.hex ?? "", "hex"));
  assert.ok(!(message instanceof DecodeFault));
  const field = message.fields[126] ?? "";

  assert.deepEqual(readComposite(security126, field), { 9: cavv });
  assert.equal(writeComposite(security126, { 9: cavv }), field);
});

// biome-ignore format: a table
const written: readonly (readonly [Composite, IsoFields, hex: string])[] = [
  [payment62,   { 2: "151121000000001" },               "4000000000000000" + "0151121000000001"],
  [security126, { 10: "11 123" },                       "0040000000000000" + "313120313233"],
  [security126, { 13: "R" },                            "0008000000000000" + "52"],
  [security126, { 13: "C", 10: "111234", 9: cavv },     `00C8000000000000${cavv}31313132333443`],
  [security126, {},                                     "0000000000000000"],
];

test("sub-fields follow their bitmap in ascending order", () => {
  for (const [composite, subfields, hex] of written) {
    assert.equal(writeComposite(composite, subfields), hex);
    assert.deepEqual(readComposite(composite, hex), subfields);
  }
});

// biome-ignore format: a table
const malformed: readonly (readonly [Composite, hex: string, FieldName, DecodeReason])[] = [
  [payment62,   "",                                      62,       "truncated"],
  [payment62,   "40000000000000",                        62,       "truncated"],
  [payment62,   "4000000000000000" + "01511210000000",   "62.2",   "truncated"],
  [payment62,   "4000000000000000" + "1151121000000001", "62.2",   "invalid_padding"],
  [payment62,   "4000000000000000" + "015112100000000A", "62.2",   "invalid_content"],
  [payment62,   "4000000000000000" + "015112100000000100", 62,     "trailing_bytes"],
  [payment62,   "8000000000000000",                      "62.1",   "truncated"],
  [payment62,   "151121000000001",                       62,       "invalid_content"],
  [payment62,   "400000000000000g",                      62,       "invalid_content"],
  [security126, `0080000000000000${cavv.slice(2)}`,     "126.9",  "truncated"],
  [security126, "0040000000000000" + "313100313233",     "126.10", "invalid_content"],
];

test("bytes that are not sub-fields are refused with the name of the field", () => {
  for (const [composite, hex, field, reason] of malformed) {
    assert.deepEqual(readComposite(composite, hex), new DecodeFault(field, reason), hex);
  }
});

test("a sub-field without a row is kept as bytes, together with the rest", () => {
  const known = "4100000000000000" + "0151121000000001";

  assert.deepEqual(readComposite(payment62, `${known}C1C2C3`), {
    2: "151121000000001",
    rest: "C1C2C3",
  });
  assert.deepEqual(readComposite(payment62, known), { 2: "151121000000001", rest: "" });
});

// biome-ignore format: a table
const wrongSubfields: readonly (readonly [Composite, IsoFields, complaint: string])[] = [
  [payment62,   { 2: "15112100000000" },   "field 62.2 is too short"],
  [payment62,   { 2: "15112100000000A" },  "field 62.2 has a character outside its content"],
  [payment62,   { 8: "Y" },                "field 62.8 has no row"],
  [payment62,   { 65: "Y" },               "field 62.65 has no row"],
  [security126, { 9: cavv.slice(2) },      "field 126.9 is too short"],
  [security126, { 10: "11-123" },          "field 126.10 has a character outside its content"],
];

test("sub-fields that break the table are not written, and the error shows no value", () => {
  for (const [composite, subfields, complaint] of wrongSubfields) {
    assert.throws(() => writeComposite(composite, subfields), { message: complaint });
  }
});

test("a composite table that cannot work is refused", () => {
  const one: FieldRow = [1, "one", "n", "fixed", 2, "bcd"];
  const beyond: FieldRow = [65, "beyond", "n", "fixed", 2, "bcd"];

  const repeated = { ...payment62, rows: [one, one] };
  assert.throws(() => writeComposite(repeated, {}), /field 62.1 has two rows/);
  const outside = { ...payment62, rows: [beyond] };
  assert.throws(() => writeComposite(outside, {}), /field 62.65 has no bit of its own/);
});

// biome-ignore format: a table
const wide: Composite = {
  field: 126,
  oddDigits: "right F",
  rows: [
    [ 1, "first bit",  "n",   "fixed",     3, "bcd"   ],
    [ 2, "variable",   "ans", "LL bcd",   20, "ascii" ],
    [33, "odd digits", "n",   "LL bcd",    9, "bcd"   ],
    [64, "last bit",   "b",   "LL binary", 5, "binary"],
  ],
};

test("any sub-fields that the table allows are read back", () => {
  const digits = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength });
  const subfields = fc.record(
    {
      1: digits(3, 3),
      2: fc.string({ unit: fc.constantFrom(..." ~A0+="), maxLength: 20 }),
      33: digits(0, 9),
      64: fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString("hex")),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(subfields, (made) => {
      const upper = Object.entries(made).map(([key, value]) => [key, value.toUpperCase()]);
      const given: IsoFields = Object.fromEntries(upper);
      assert.deepEqual(readComposite(wide, writeComposite(wide, given)), given);
    }),
  );
});

test("any bytes are read or refused, and what is read is written back", () => {
  const bitmaps = ["4000000000000000", "C000000080000001", "00C8000000000000", ""];
  const bytes = fc.tuple(fc.constantFrom(...bitmaps), fc.uint8Array({ maxLength: 40 }));
  for (const composite of [payment62, security126, wide]) {
    fc.assert(
      fc.property(bytes, ([bitmap, rest]) => {
        const hex = bitmap + Buffer.from(rest).toString("hex").toUpperCase();
        const subfields = readComposite(composite, hex);
        if (subfields instanceof DecodeFault || subfields.rest !== undefined) return;
        assert.equal(writeComposite(composite, subfields), hex);
      }),
      { numRuns: 2000 },
    );
  }
});
