/**
 * Encode and decode, tested with the sample messages of an independent codec and with random ones.
 * The properties follow two laws: decode reads what encode writes, and what decode accepts beyond
 * that changes no checked field and no boundary between fields.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import {
  DecodeFault,
  type DecodeReason,
  decode,
  encode,
  type FieldName,
  type FieldRow,
  type IsoFields,
  type IsoMessage,
  iso87Ascii,
  iso87BinaryLeft,
  iso87BinaryRight,
  iso87Bitmapped,
  responseMti,
  type Specification,
  tolerated,
} from "./index.ts";
import { prefixes } from "./specification.ts";
import { samples, specifications } from "./testing.ts";

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
      assert.ok(fault instanceof DecodeFault && fault.reason === "truncated", `${length} bytes`);
    }
    for (const byte of [0x00, 0x30, 0xff, ...(specification === iso87Ascii ? [] : [0x20])]) {
      const longer = Buffer.concat([payload, Buffer.of(byte)]);
      assert.deepEqual(decode(specification, longer), new DecodeFault("end", "trailing_bytes"));
    }
  });
}

// biome-ignore format: a table
const faults: Record<string, readonly [FieldName, DecodeReason]> = {
  "x01-truncated":              [48,       "truncated"],
  "x02-length-prefix":          [2,        "too_long"],
  "x03-bitmap-without-data":    [70,       "truncated"],
  "x04-trailing-bytes":         ["end",    "trailing_bytes"],
  "x05-non-digit":              [4,        "invalid_content"],
  "x06-length-not-digits":      [2,        "malformed_length"],
  "x07-bitmap-not-hex":         ["bitmap", "invalid_content"],
  "x08-bcd-not-decimal":        [4,        "invalid_content"],
  "x09-bcd-length-not-decimal": [2,        "malformed_length"],
  "x10-binary-truncated":       [128,      "truncated"],
};

test("every broken sample is refused for its own reason", () => {
  for (const { id, spec, hex } of samples.broken) {
    const fault = decode(specifications[spec], Buffer.from(hex, "hex"));
    assert.ok(fault instanceof DecodeFault, id);
    assert.deepEqual([fault.field, fault.reason], faults[id], id);
  }
});

type Refused = readonly [string, Specification, Buffer, FieldName, DecodeReason];

// biome-ignore format: a table
const refused: readonly Refused[] = [
  ["letter in the type",        iso87Ascii,       text("08X00000000000000000"),                         "mti",    "invalid_content"],
  ["bitmap not hex",            iso87Ascii,       text("080000000000000000g0"),                         "bitmap", "invalid_content"],
  ["third bitmap",              iso87Ascii,       text("080080000000000000008000000000000000"),         65,       "unknown_field"],
  ["hex of half a byte",        iso87Ascii,       text("08000000000000000200003ABC"),                   55,       "malformed_length"],
  ["control character",         iso87Ascii,       text("08000000000000800000TERM\n001"),                41,       "invalid_content"],
  ["byte above ASCII",          iso87Ascii,       text("08000000000000800000T\xe9RM0001"),              41,       "invalid_content"],
  ["spaces, then a byte",       iso87Ascii,       text("08000000000000000000  \n"),                     "end",    "trailing_bytes"],
  ["too many digits",           iso87Ascii,       text(`0800400000000000000020${"0".repeat(20)}`),     2,        "too_long"],
  ["plus sign in a length",     iso87Ascii,       text("08000000000000100000+2ab"),                     44,       "malformed_length"],
  ["padding is not 0",          iso87BinaryLeft,  Buffer.from("08000000000000008000" + "1276", "hex"), 49,       "invalid_padding"],
  ["padding is not F",          iso87BinaryRight, Buffer.from("08000000000000008000" + "2760", "hex"), 49,       "invalid_padding"],
  ["spaces after a binary one", iso87BinaryLeft,  Buffer.from("08000000000000000000" + "2020", "hex"), "end",    "trailing_bytes"],
  ["length above three digits", iso87BinaryLeft,  Buffer.from("08000000000000010000" + "1001", "hex"), 48,       "too_long"],
];

test("payloads that break the table are refused", () => {
  for (const [why, specification, payload, field, reason] of refused) {
    assert.deepEqual(decode(specification, payload), new DecodeFault(field, reason), why);
  }
});

const rightZero: Specification = { ...iso87BinaryLeft, oddDigits: "right 0" };

const codes = ["276", "840", "036"];
const cards = ["371449635398431", "4000001000000000010"];

type OtherEnd = readonly [
  host: Specification,
  configured: Specification,
  codes: readonly string[],
  cards: readonly string[],
];

// biome-ignore format: a table
const otherEnds: readonly OtherEnd[] = [
  [iso87BinaryLeft,  iso87BinaryRight, codes,   cards],
  [iso87BinaryRight, iso87BinaryLeft,  codes,   cards],
  // A 0 at the other end cannot be distinguished from padding.
  [iso87BinaryLeft,  rightZero,        ["276"], ["371449635398431"]],
  [rightZero,        iso87BinaryLeft,  ["276"], ["371449635398431"]],
];

test("a message that is padded at the other end is refused, also in unused fields", () => {
  for (const [host, configured, ofCodes, ofCards] of otherEnds) {
    for (const field of [2, 19, 20, 21, 22, 23, 24]) {
      for (const value of field === 2 ? ofCards : ofCodes) {
        const payload = encode(host, { mti: "0810", fields: { [field]: value } });

        const fault = new DecodeFault(field, "invalid_padding");
        assert.deepEqual(decode(configured, payload), fault, `${field}: ${value}`);
      }
    }
  }
});

type Tolerated = readonly [keyof typeof tolerated, why: string, Specification, Buffer, IsoFields];

// biome-ignore format: a table
const accepted: readonly Tolerated[] = [
  ["lower_case_hex",       "lower-case bitmap",          iso87Ascii,       text("08100020000000c00000" + "00010110000018GW0000000000042"),  { 11: "000101", 41: "10000018", 42: "GW0000000000042" }],
  ["lower_case_hex",       "lower-case bytes",           iso87Ascii,       text("081000000000000002000" + "04abCD"),                        { 55: "ABCD" }],
  ["unused_content",       "bytes that are not hex",     iso87Ascii,       text("08100000000000000200" + "004no!?"),                        { 55: "no!?" }],
  ["empty_second_bitmap",  "second bitmap is empty",     iso87Ascii,       text("08108020000000000000" + "0000000000000000" + "000101"),    { 11: "000101" }],
  ["trailing_spaces",      "spaces after the last one",  iso87Ascii,       text("08100020000000000000" + "000101" + "    "),                { 11: "000101" }],
  ["unused_content",       "a masked card number",       iso87Ascii,       text("08104000000000000000" + "16400000******0000"),             { 2: "400000******0000" }],
  ["unused_content",       "control character",          iso87Ascii,       text("08100000000000100000" + "02a\n"),                          { 44: "a\n" }],
  ["unused_content",       "byte above ASCII",           iso87Ascii,       text("08100000000000100000" + "02a\xe9"),                        { 44: "a\xe9" }],
  ["unused_length",        "text over its maximum",      iso87Ascii,       text(`0810000000000010000030${"x".repeat(30)}`),                 { 44: "x".repeat(30) }],
  ["track_separator",      "track with D",               iso87Ascii,       text("0810000000002000000014" + "4000D280320100"),               { 35: "4000=280320100" }],
  ["unused_content",       "track with F",               iso87BinaryLeft,  Buffer.from("08100000000020000000" + "08" + "400028FF", "hex"), { 35: "400028FF" }],
  ["unused_padding",       "padding of an unused field", iso87BinaryLeft,  Buffer.from("08100000200000000000" + "F276", "hex"),            { 19: "276" }],
  ["unused_padding",       "the same at the other end",  rightZero,        Buffer.from("08100000200000000000" + "276F", "hex"),            { 19: "276" }],
  ["unused_content",       "letters in unused digits",   iso87BinaryLeft,  Buffer.from("08100002000000000000" + "1A14", "hex"),            { 15: "1A14" }],
];

test("tolerated deviations do not change the other fields and their boundaries", () => {
  for (const [, why, specification, payload, fields] of accepted) {
    assert.deepEqual(decode(specification, payload), { mti: "0810", fields }, why);
    const length = payload.findLastIndex((byte) => byte !== 0x20);
    assert.ok(decode(specification, payload.subarray(0, length)) instanceof DecodeFault, why);
  }
});

test("everything that decode tolerates is tried", () => {
  const tried = new Set<string>(accepted.map(([what]) => what));

  // Sub-fields are tried in `composites.test.ts`.
  assert.deepEqual(
    Object.keys(tolerated).filter((what) => !tried.has(what)),
    ["unknown_subfield"],
  );
});

test("every data element of ISO 8583:1987 is read, alone and with all others", () => {
  for (const specification of layouts) {
    const numbers = specification.rows.map(([field]) => field);
    const all = Array.from({ length: 127 }, (_, at) => at + 2).filter((field) => field !== 65);
    assert.deepEqual(numbers, all);
    const fields = Object.fromEntries(specification.rows.map((row) => [row[0], shortest(row)]));
    const answer = { mti: "0210", fields };
    assert.deepEqual(decode(specification, encode(specification, answer)), answer);
  }
});

test("a variable field may be empty", () => {
  const message = { mti: "0810", fields: { 44: "" } };

  for (const specification of layouts) {
    assert.deepEqual(decode(specification, encode(specification, message)), message);
  }
});

// biome-ignore format: a table
const wrong: readonly (readonly [IsoMessage, complaint: string])[] = [
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
  [{ mti: "0200", fields: { 65: "0000000000000000" } },   "field 65 has no row"],
  [{ mti: "0200", fields: { 129: "0" } },                 "field 129 has no row"],
];

test("a message that breaks the table is not written, and the error shows no value", () => {
  for (const [message, complaint] of wrong) {
    assert.throws(() => encode(iso87Ascii, message), { message: complaint });
  }
});

test("any message that the table allows is read back", () => {
  for (const specification of layouts) {
    fc.assert(
      fc.property(anyMessage(specification), (message) => {
        assert.deepEqual(decode(specification, encode(specification, message)), message);
      }),
    );
  }
});

test("random bytes never throw, and accepted ones are a message", () => {
  for (const specification of layouts) {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expectRefusedOrSound(specification, bytes);
      }),
      { numRuns: 1000 },
    );
  }
});

test("a mutated message is refused, or its checked fields are sound", () => {
  const mutation = fc.record({ at: fc.nat(), byte: fc.nat(255), remove: fc.nat(3) });
  fc.assert(
    fc.property(
      fc.constantFrom(...good),
      fc.array(mutation, { minLength: 1 }),
      (sample, mutations) => {
        const bytes = [...sample.payload];
        for (const { at, byte, remove } of mutations) bytes.splice(at % bytes.length, remove, byte);

        expectRefusedOrSound(sample.specification, Uint8Array.from(bytes));
      },
    ),
    { numRuns: 5000 },
  );
});

const checked = [4, 11, 37, 38, 39, 41, 49, 64, 70, 128];

/**
 * Checks that checked fields are as encode writes them, and that the others take as many bytes as
 * they should.
 */
function expectRefusedOrSound(specification: Specification, bytes: Uint8Array): void {
  const message = decode(specification, bytes);
  if (message instanceof DecodeFault) return;
  const entries = Object.entries(message.fields).map(([field, value]) => {
    const row = specification.rows.find(([number]) => number === Number(field));
    assert.ok(row !== undefined);
    return [field, checked.includes(row[0]) ? value : sound(row, value)];
  });
  const repaired = { mti: message.mti, fields: Object.fromEntries(entries) };

  const written = encode({ ...specification, rows: specification.rows.map(widen) }, repaired);

  assert.deepEqual(decode(specification, written), repaired);
  const isText = specification.mti === "ascii";
  const announcesSecond = isText
    ? /^[89a-f]/i.test(String.fromCharCode(bytes[4] ?? 0))
    : (bytes[2] ?? 0) > 127;
  const hasEmpty =
    announcesSecond && !Object.keys(message.fields).some((field) => Number(field) > 64);
  const ignored = bytes.length - written.length - (hasEmpty ? (isText ? 16 : 8) : 0);
  const spaces = Buffer.from(bytes.subarray(bytes.length - Math.max(0, ignored)));
  assert.equal(spaces.toString("latin1"), " ".repeat(ignored), "fields are read where they are");
}

/** Returns a value of the same length that fits the row's content. */
function sound([, , content]: FieldRow, value: string): string {
  const fill = content === "b" ? "A" : "0";
  return [...value].map((one) => (/[0-9]/.test(one) ? one : fill)).join("");
}

/**
 * Returns a row without its maximum, because text may be longer than its maximum when it is read.
 */
function widen(row: FieldRow): FieldRow {
  const [field, name, content, prefix, , encoding] = row;
  const isText = content === "an" || content === "ans";
  if (prefix === "fixed" || !isText) return row;
  return [field, name, content, prefix, prefixes[prefix].countMax, encoding];
}

// biome-ignore format: a table
const answers: readonly (readonly [request: string, response: string])[] = [
  ["0100", "0110"], ["0200", "0210"], ["0220", "0230"], ["0221", "0230"],
  ["0400", "0410"], ["0401", "0410"], ["0420", "0430"], ["0421", "0430"],
  ["0500", "0510"], ["0800", "0810"], ["0423", "0432"], ["0180", "0190"],
];

test("a request is answered by the next function, and a repeat like its original", () => {
  for (const [request, response] of answers) assert.equal(responseMti(request), response);
});

test("an answer is not answered", () => {
  for (const mti of ["0110", "0210", "0430", "0810", "02", "02000", "02x0", ""]) {
    assert.throws(() => responseMti(mti), /is not a request/);
  }
});

function text(characters: string): Buffer {
  return Buffer.from(characters, "latin1");
}

function anyMessage({ rows }: Specification): fc.Arbitrary<IsoMessage> {
  const entries = fc
    .subarray([...rows])
    .chain((chosen) =>
      fc.tuple(...chosen.map((row) => fc.tuple(fc.constant(row[0]), anyValue(row)))),
    );
  return fc
    .tuple(fc.stringMatching(/^[0-9]{4}$/), entries)
    .map(([mti, fields]) => ({ mti, fields: Object.fromEntries(fields) }));
}

const contents = {
  n: "0123456789",
  z: "0123456789=",
  an: "AZaz09 ",
  ans: " ~A0+=",
  b: "0123456789ABCDEF",
};

function shortest([, , content, prefix, lengthMax]: FieldRow): string {
  const length = prefix === "fixed" ? lengthMax : 1;
  return (content === "b" ? "0A" : "0").repeat(length);
}

function anyValue([, , content, prefix, lengthMax]: FieldRow): fc.Arbitrary<string> {
  const unit = contents[content];
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
