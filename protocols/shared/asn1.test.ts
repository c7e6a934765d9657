/** BER is read strictly, and DER is written in the form in which it is read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  readBer,
  readObjectIdentifier,
  readTime,
  tags,
  writeDer,
  writeIndefinite,
  writeObjectIdentifier,
  writeSequence,
  writeSetOf,
  writeTime,
} from "./asn1.ts";

test("identifiers, lengths and times are written as they are read", () => {
  for (const dotted of [
    "1.2.840.113635.100.6.2.14",
    "2.16.840.1.101.3.4.2.1",
    "0.9.2342",
    "2.999.3",
  ]) {
    assert.equal(readObjectIdentifier(readBer(writeObjectIdentifier(dotted))), dotted);
  }
  for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
    assert.equal(readBer(writeDer(4, Buffer.alloc(length)))?.content.length, length);
  }
  const now = Date.parse("2026-11-15T08:00:00Z");
  assert.equal(writeTime(now).subarray(2).toString(), "261115080000Z");
  assert.equal(writeTime(Date.parse("2050-01-01")).subarray(2).toString(), "20500101000000Z");
  for (const time of [now, Date.parse("1999-12-31T23:59:59Z"), Date.parse("2050-01-01")]) {
    assert.equal(readTime(readBer(writeTime(time))), time);
  }
});

test("elements keep their bytes and children, with a length or with an end mark", () => {
  const inner = [writeDer(tags.integer, Buffer.of(1)), writeDer(tags.octetString, Buffer.of(2))];
  const definite = writeSequence(...inner);
  const indefinite = writeIndefinite(tags.sequence, ...inner);

  for (const bytes of [definite, indefinite]) {
    const element = readBer(bytes);
    assert.deepEqual(element?.encoded, bytes);
    assert.deepEqual(element?.content, Buffer.concat(inner));
    assert.deepEqual(
      element?.children.map(({ encoded }) => encoded),
      inner,
    );
    assert.equal(element?.isIndefinite, bytes === indefinite);
  }
  assert.deepEqual(writeSetOf(...inner), writeSetOf(...inner.toReversed()));
});

// biome-ignore format: a table
const refused: readonly (readonly [what: string, hex: string])[] = [
  ["no bytes",                         ""],
  ["a tag alone",                      "30"],
  ["content cut off",                  "0402aa"],
  ["a byte left over",                 "0401aa00"],
  ["a length not in its shortest form", "048101aa"],
  ["a length of four bytes",           "048400000001aa"],
  ["a tag of two bytes",               "1f8101aa"],
  ["an indefinite primitive element",  "0480aa0000"],
  ["no end mark",                      "30800201010000".slice(0, -4)],
  ["half an end mark",                 "308002010100"],
  ["an end mark with a length",        "30800201010001"],
  ["a child beyond its parent",        "30030402aaaa"],
  ["nesting without end",              "3080".repeat(2000)],
];

test("any other encoding is refused", () => {
  for (const [what, hex] of refused) {
    assert.equal(readBer(Buffer.from(hex, "hex")), undefined, what);
  }
});

test("a time is a date of the calendar, to the second and in UTC", () => {
  for (const text of ["260230120000Z", "2611150800Z", "261115080000", "261115080000+0100", ""]) {
    assert.equal(readTime(readBer(writeDer(tags.utcTime, Buffer.from(text)))), undefined, text);
  }
  assert.equal(
    readTime(readBer(writeDer(tags.utf8String, Buffer.from("261115080000Z")))),
    undefined,
  );
});
