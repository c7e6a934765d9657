/**
 * Encode and decode against the sample messages of an independent codec, and against chance. The
 * law behind the properties: decode takes exactly what encode can write.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import {
  DecodeFault,
  type DecodeField,
  type DecodeReason,
  decode,
  encode,
  iso87Ascii,
  iso87BinaryLeft,
  iso87BinaryRight,
  iso87Bitmapped,
  type Message,
  type Row,
  type Specification,
} from "./index.ts";
import { samples, specifications } from "./samples.ts";

const layouts = [...Object.values(specifications), iso87Bitmapped];

const good = samples.good.map((sample) => ({
  ...sample,
  specification: specifications[sample.spec],
  payload: Buffer.from(sample.hex, "hex"),
}));

for (const { id, specification, payload, mti, fields } of good) {
  test(`${id} is read as listed and written back to the same bytes`, () => {
    assert.deepEqual(decode(specification, payload), { mti, fields });
    assert.deepEqual(encode(specification, { mti, fields }), payload);
  });

  test(`${id} is refused when bytes are missing or left over`, () => {
    for (let length = 0; length < payload.length; length++) {
      const fault = decode(specification, payload.subarray(0, length));
      assert.ok(fault instanceof DecodeFault && fault.reason === "cut_short", `${length} bytes`);
    }
    for (const byte of [0x00, 0x20, 0x30, 0xff]) {
      const longer = Buffer.concat([payload, Buffer.of(byte)]);
      assert.deepEqual(decode(specification, longer), new DecodeFault("end", "left_over"));
    }
  });
}

// biome-ignore format: a table
const faults: Record<string, readonly [DecodeField, DecodeReason]> = {
  "x01-truncated":              [48,       "cut_short"],
  "x02-length-prefix":          [2,        "too_long"],
  "x03-bitmap-without-data":    [70,       "cut_short"],
  "x04-trailing-bytes":         ["end",    "left_over"],
  "x05-non-digit":              [4,        "wrong_content"],
  "x06-length-not-digits":      [2,        "malformed_length"],
  "x07-bitmap-not-hex":         ["bitmap", "wrong_content"],
  "x08-bcd-not-decimal":        [4,        "wrong_content"],
  "x09-bcd-length-not-decimal": [2,        "malformed_length"],
  "x10-binary-truncated":       [128,      "cut_short"],
};

test("every broken sample is refused for its own reason", () => {
  for (const { id, spec, hex } of samples.broken) {
    const fault = decode(specifications[spec], Buffer.from(hex, "hex"));
    assert.ok(fault instanceof DecodeFault, id);
    assert.deepEqual([fault.field, fault.reason], faults[id], id);
  }
});

type Refused = readonly [string, Specification, Buffer, DecodeField, DecodeReason];

// biome-ignore format: a table
const refused: readonly Refused[] = [
  ["letter in the type",        iso87Ascii,       text("08X00000000000000000"),                         "mti",    "wrong_content"],
  ["lower-case bitmap",         iso87Ascii,       text("080000000000000000a0"),                         "bitmap", "wrong_content"],
  ["second bitmap is empty",    iso87Ascii,       text("080080000000000000000000000000000000"),         "bitmap", "needless_bitmap"],
  ["third bitmap",              iso87Ascii,       text("080080000000000000008000000000000000"),         65,       "unknown_field"],
  ["field without a row",       iso87Ascii,       text("08000800000000000000123456789012"),             5,        "unknown_field"],
  ["hex of half a byte",        iso87Ascii,       text("08000000000000000200003ABC"),                   55,       "malformed_length"],
  ["hex in lower case",         iso87Ascii,       text("08000000000000000200002ab"),                    55,       "wrong_content"],
  ["control character",         iso87Ascii,       text("0800000000000010000002a\n"),                    44,       "wrong_content"],
  ["byte above ASCII",          iso87Ascii,       text("0800000000000010000002a\xe9"),                  44,       "wrong_content"],
  ["plus sign in a length",     iso87Ascii,       text("08000000000000100000+2ab"),                     44,       "malformed_length"],
  ["padding is not 0",          iso87BinaryLeft,  Buffer.from("08000000200000000000" + "1276", "hex"), 19,       "wrong_padding"],
  ["padding is not F",          iso87BinaryRight, Buffer.from("08000000200000000000" + "2760", "hex"), 19,       "wrong_padding"],
  ["length above three digits", iso87BinaryLeft,  Buffer.from("08000000000000010000" + "1001", "hex"), 48,       "too_long"],
];

test("payloads that encode could not have written are refused", () => {
  for (const [why, specification, payload, field, reason] of refused) {
    assert.deepEqual(decode(specification, payload), new DecodeFault(field, reason), why);
  }
});

test("a variable field may be empty", () => {
  const message = { mti: "0810", fields: { 44: "" } };

  for (const specification of layouts) {
    assert.deepEqual(decode(specification, encode(specification, message)), message);
  }
});

// biome-ignore format: a table
const wrong: readonly (readonly [Message, complaint: string])[] = [
  [{ mti: "020",  fields: {} },                           "field mti is too short"],
  [{ mti: "02O0", fields: {} },                           "field mti has a character outside its content"],
  [{ mti: "0200", fields: { 2: "4".repeat(20) } },        "field 2 is too long"],
  [{ mti: "0200", fields: { 3: "00000" } },               "field 3 is too short"],
  [{ mti: "0200", fields: { 4: "00000000104A" } },        "field 4 has a character outside its content"],
  [{ mti: "0200", fields: { 43: `${"x".repeat(39)}é` } }, "field 43 has a character outside its content"],
  [{ mti: "0200", fields: { 43: `${"x".repeat(39)}✓` } }, "field 43 has a character outside its content"],
  [{ mti: "0200", fields: { 52: "0123456789abcdef" } },   "field 52 has a character outside its content"],
  [{ mti: "0200", fields: { 55: "ABC" } },                "field 55 ends in half a byte"],
  [{ mti: "0200", fields: { 1: "00" } },                  "field 1 has no row"],
  [{ mti: "0200", fields: { 5: "000000000000" } },        "field 5 has no row"],
  [{ mti: "0200", fields: { 129: "0" } },                 "field 129 has no row"],
];

test("a message that breaks the table is not written, and the error shows no value", () => {
  for (const [message, complaint] of wrong) {
    assert.throws(() => encode(iso87Ascii, message), { message: complaint });
  }
});

test("any message that the table allows comes back", () => {
  for (const specification of layouts) {
    fc.assert(
      fc.property(anyMessage(specification), (message) => {
        assert.deepEqual(decode(specification, encode(specification, message)), message);
      }),
    );
  }
});

test("random bytes are never taken for a message and never throw", () => {
  for (const specification of layouts) {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const message = decode(specification, bytes);
        if (!(message instanceof DecodeFault)) {
          assert.deepEqual(encode(specification, message), Buffer.from(bytes));
        }
      }),
      { numRuns: 1000 },
    );
  }
});

test("a mutated message is refused, or is another message that encode could have written", () => {
  const mutation = fc.record({ at: fc.nat(), byte: fc.nat(255), remove: fc.nat(3) });
  fc.assert(
    fc.property(
      fc.constantFrom(...good),
      fc.array(mutation, { minLength: 1 }),
      (sample, mutations) => {
        const bytes = [...sample.payload];
        for (const { at, byte, remove } of mutations) bytes.splice(at % bytes.length, remove, byte);

        const message = decode(sample.specification, Uint8Array.from(bytes));

        if (message instanceof DecodeFault) return;
        assert.deepEqual(encode(sample.specification, message), Buffer.from(bytes));
      },
    ),
    { numRuns: 5000 },
  );
});

function text(characters: string): Buffer {
  return Buffer.from(characters, "latin1");
}

function anyMessage({ rows }: Specification): fc.Arbitrary<Message> {
  const entries = fc
    .subarray([...rows])
    .chain((chosen) =>
      fc.tuple(...chosen.map((row) => fc.tuple(fc.constant(row[0]), anyValue(row)))),
    );
  return fc
    .tuple(fc.stringMatching(/^[0-9]{4}$/), entries)
    .map(([mti, fields]) => ({ mti, fields: Object.fromEntries(fields) }));
}

function anyValue([, , content, prefix, lengthMax]: Row): fc.Arbitrary<string> {
  const unit = { n: "0123456789", an: "AZaz09 ", ans: " ~A0+=", b: "0123456789ABCDEF" }[content];
  const charactersMax = content === "b" ? lengthMax * 2 : lengthMax;
  return fc
    .string({
      unit: fc.constantFrom(...unit),
      minLength: prefix === "fixed" ? charactersMax : 0,
      maxLength: charactersMax,
      size: "max",
    })
    .map((value) => (content === "b" ? value.slice(0, value.length & ~1) : value));
}
