/**
 * Each column of a table is tested alone: a field in every encoding, after every length prefix,
 * padded on either side, with bytes computed by hand; and all characters of EBCDIC.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { DecodeFault, type DecodeReason, decode, encode, type Specification } from "./index.ts";
import type { Encoding, FieldRow, Padding } from "./specification.ts";

/** The row's columns after its number and name, a value, and its bytes in hex. */
type Case = readonly [FieldRow[2], FieldRow[3], number, Encoding, Padding, string, bytes: string];

// biome-ignore format: a table
const cases: readonly Case[] = [
  // Which side of an odd number of digits is filled, and with which digit.
  ["n",   "fixed",                3, "bcd",       "left 0",  "276",      "0276"],
  ["n",   "fixed",                3, "bcd",       "left F",  "276",      "F276"],
  ["n",   "fixed",                3, "bcd",       "right 0", "276",      "2760"],
  ["n",   "fixed",                3, "bcd",       "right F", "276",      "276F"],
  ["n",   "fixed",                4, "bcd",       "left F",  "1276",     "1276"],
  ["n",   "LL bcd",              19, "bcd",       "left 0",  "12345",    "05" + "012345"],
  ["n",   "LL bcd",              19, "bcd",       "right 0", "12345",    "05" + "123450"],
  ["n",   "LL bcd",              19, "bcd",       "right 0", "1234",     "04" + "1234"],
  // A length of digits, of the bytes on the wire, or of the bytes that hex stands for.
  ["n",   "LL ascii",            19, "bcd",       "right F", "12345",    "3035" + "12345F"],
  ["n",   "LL ascii of bytes",   19, "bcd",       "right F", "12345",    "3033" + "12345F"],
  ["n",   "LL bcd of bytes",     19, "bcd",       "right F", "12345",    "03" + "12345F"],
  ["n",   "LL bcd of bytes",     19, "bcd",       "left F",  "12345",    "03" + "F12345"],
  ["n",   "LL bcd of bytes",     19, "bcd",       "right F", "123456",   "03" + "123456"],
  ["n",   "LL binary of bytes",  19, "bcd",       "right F", "1234567890123456789", "0A" + "1234567890123456789F"],
  ["n",   "LL binary",           19, "bcd",       "left 0",  "1234567890123456789", "13" + "01234567890123456789"],
  ["b",   "LLL ascii",           10, "hex",       "none",    "ABCD",     "303034" + "41424344"],
  ["b",   "LLL ascii of bytes",  10, "hex",       "none",    "ABCD",     "303032" + "41424344"],
  ["b",   "LLL ascii",           10, "binary",    "none",    "ABCD",     "303032" + "ABCD"],
  // How a length is written.
  ["ans", "LL ascii",            12, "ascii",     "none",    "0123456789", "3130" + "30313233343536373839"],
  ["ans", "LL bcd",              12, "ascii",     "none",    "0123456789", "10" + "30313233343536373839"],
  ["ans", "LL ebcdic",           12, "ascii",     "none",    "0123456789", "F1F0" + "30313233343536373839"],
  ["ans", "LL binary",           12, "ascii",     "none",    "0123456789", "0A" + "30313233343536373839"],
  ["ans", "LLL ascii",           12, "ascii",     "none",    "A",        "303031" + "41"],
  ["ans", "LLL bcd",             12, "ascii",     "none",    "A",        "0001" + "41"],
  ["ans", "LLL ebcdic",          12, "ascii",     "none",    "A",        "F0F0F1" + "41"],
  ["ans", "LLL binary",          12, "ascii",     "none",    "A",        "0001" + "41"],
  ["ans", "LLLL ascii",          12, "ascii",     "none",    "A",        "30303031" + "41"],
  ["ans", "LLLL bcd",            12, "ascii",     "none",    "A",        "0001" + "41"],
  // Text in EBCDIC. The code pages agree in letters and digits.
  ["an",  "fixed",                6, "cp037",     "none",    "aZ 09i",   "81E940F0F989"],
  ["an",  "fixed",                6, "cp1047",    "none",    "aZ 09i",   "81E940F0F989"],
  ["ans", "fixed",                3, "cp037",     "none",    "[^]",      "BAB0BB"],
  ["ans", "fixed",                3, "cp1047",    "none",    "[^]",      "AD5FBD"],
  ["b",   "fixed",                2, "hex cp037", "none",    "0AF9",     "F0C1C6F9"],
  // The separator of a track.
  ["z",   "LL ascii",            37, "ascii",     "none",    "4000=2803", "3039" + "343030303D32383033"],
  ["z",   "LL bcd",              37, "bcd",       "right 0", "4000=2803", "09" + "4000D28030"],
  ["z",   "LL bcd",              37, "bcd",       "left 0",  "4000=2803", "09" + "04000D2803"],
];

test("a field is written and read in each layout as computed by hand", () => {
  for (const [content, prefix, lengthMax, encoding, padding, value, bytes] of cases) {
    const row = [2, "field", content, prefix, lengthMax, encoding, padding] as const;
    const specification = makeSpecification([row], [2]);
    const message = { mti: "0210", fields: { 2: value } };
    const payload = Buffer.from(`02104000000000000000${bytes}`, "hex");

    assert.deepEqual(encode(specification, message), payload, row.join(" "));
    assert.deepEqual(decode(specification, payload), message, row.join(" "));
    const cut = decode(specification, payload.subarray(0, -1));
    assert.ok(cut instanceof DecodeFault, `${row.join(" ")}: cut`);
  }
});

/** A case that a checked field refuses. */
type Refusal = readonly [...Case, DecodeReason];

// biome-ignore format: a table
const refusals: readonly Refusal[] = [
  ["n",   "fixed",                3, "bcd",    "right 0", "", "0276",                     "invalid_padding"],
  ["n",   "fixed",                3, "bcd",    "left F",  "", "0276",                     "invalid_padding"],
  ["n",   "LL bcd of bytes",     19, "bcd",    "right F", "", `10${"11".repeat(10)}`,     "too_long"],
  ["n",   "LL bcd of bytes",     19, "bcd",    "right F", "", "03" + "1234FF",            "invalid_content"],
  ["ans", "LL ebcdic",           12, "ascii",  "none",    "", "3031" + "41",              "malformed_length"],
  ["ans", "LL binary",           12, "ascii",  "none",    "", `0D${"41".repeat(13)}`,     "too_long"],
  ["ans", "LLLL bcd",            12, "ascii",  "none",    "", `000A${"41".repeat(10)}`,   "malformed_length"],
  ["an",  "fixed",                2, "cp037",  "none",    "", "8141",                     "invalid_content"],
  ["an",  "fixed",                2, "cp037",  "none",    "", "814B",                     "invalid_content"],
];

test("a checked field that breaks its layout is refused", () => {
  for (const [content, prefix, lengthMax, encoding, padding, , bytes, reason] of refusals) {
    const row = [2, "field", content, prefix, lengthMax, encoding, padding] as const;
    const payload = Buffer.from(`02104000000000000000${bytes}`, "hex");

    const fault = decode(makeSpecification([row], [2]), payload);

    assert.deepEqual(fault, new DecodeFault(2, reason), row.join(" "));
  }
});

test("fields of one message may each have a layout of their own", () => {
  const specification = makeSpecification([
    [2, "card", "n", "LL bcd", 19, "bcd", "right F"],
    [19, "country", "n", "fixed", 3, "bcd", "left 0"],
    [39, "response", "an", "fixed", 2, "cp037"],
    [49, "currency", "n", "fixed", 3, "bcd", "right 0"],
  ]);
  const message = { mti: "0210", fields: { 2: "12345", 19: "276", 39: "00", 49: "978" } };
  const hex = "0210" + "4000200002008000" + "0512345F" + "0276" + "F0F0" + "9780";

  assert.equal(encode(specification, message).toString("hex").toUpperCase(), hex);
  assert.deepEqual(decode(specification, Buffer.from(hex, "hex")), message);
});

test("type and bitmap may be text in EBCDIC, and spaces may follow", () => {
  const row: FieldRow = [39, "response", "an", "fixed", 2, "cp037"];
  const specification = { ...makeSpecification([row]), mti: "cp037", bitmap: "hex cp037" } as const;
  const message = { mti: "0210", fields: { 39: "00" } };
  const hex = "F0F2F1F0" + "F0F0F0F0F0F0F0F0F0F2F0F0F0F0F0F0" + "F0F0";

  assert.equal(encode(specification, message).toString("hex").toUpperCase(), hex);
  assert.deepEqual(decode(specification, Buffer.from(`${hex}4040`, "hex")), message);
  const ascii = decode(specification, Buffer.from(`${hex}2020`, "hex"));
  assert.deepEqual(ascii, new DecodeFault("end", "trailing_bytes"));
});

test("any bytes are read or refused in a layout that mixes everything, and never throw", () => {
  const rows = cases.map(([content, prefix, lengthMax, encoding, padding], at): FieldRow => {
    return [at + 2, "field", content, prefix, lengthMax, encoding, padding];
  });
  const specification = makeSpecification(rows, [2, 10, 20, 30]);
  const bitmaps = ["4000000000000000", "7FFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF8000000000000000"];
  const bytes = fc.tuple(fc.constantFrom(...bitmaps), fc.uint8Array({ maxLength: 200 }));
  fc.assert(
    fc.property(bytes, ([bitmap, rest]) => {
      decode(specification, Buffer.concat([Buffer.from(`0210${bitmap}`, "hex"), rest]));
    }),
    { numRuns: 2000 },
  );
});

test("every printable character survives both code pages", () => {
  const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(at + 32)).join("");
  for (const encoding of ["cp037", "cp1047"] as const) {
    const specification = makeSpecification([[48, "text", "ans", "LL bcd", 95, encoding]]);
    const message = { mti: "0210", fields: { 48: printable } };

    const payload = encode(specification, message);

    assert.equal(new Set(payload.subarray(-95)).size, 95);
    assert.deepEqual(decode(specification, payload), message);
  }
});

function makeSpecification(
  rows: readonly FieldRow[],
  checked: readonly number[] = [39],
): Specification {
  return { mti: "bcd", bitmap: "binary", oddDigits: "none", rows, checked };
}
