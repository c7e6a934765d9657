/** Identifiers: texts that are accepted from outside, and the form of order ids. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isNumericId, isSerialNumber, receiverOf } from "./ids.ts";

// biome-ignore format: a table
const numericIds: readonly (readonly [text: string, good: boolean])[] = [
  ["1",                     true],
  ["42000001",              true],
  ["999999999999999999",    true],
  ["9223372036854775807",   true],
  ["9223372036854775808",   false],
  ["9999999999999999999",   false],
  ["10000000000000000000",  false],
  ["100000000000000000000", false],
  ["0",                     false],
  ["01",                    false],
  ["-1",                    false],
  ["+1",                    false],
  ["1.0",                   false],
  ["1e3",                   false],
  ["0x1",                   false],
  ["١",                     false],
  ["1\n",                   false],
  [" 1",                    false],
  ["",                      false],
];

test("an id is digits that fit the database's bigint", () => {
  for (const [text, good] of numericIds)
    assert.equal(isNumericId(text), good, JSON.stringify(text));
});

// biome-ignore format: a table
const serialNumbers: readonly (readonly [text: string, good: boolean])[] = [
  ["0195933a-7c48-7000-8000-000000000001",  true],
  ["0195933A-7C48-7000-8000-00000000ABCD",  true],
  ["0195933a7c4870008000000000000001",      false],
  ["0195933a-7c48-7000-8000-00000000000",   false],
  ["0195933a-7c48-7000-8000-0000000000011", false],
  ["g195933a-7c48-7000-8000-000000000001",  false],
  ["{0195933a-7c48-7000-8000-000000000001}", false],
  ["",                                      false],
];

test("a serial number is shaped like a UUID", () => {
  for (const [text, good] of serialNumbers) assert.equal(isSerialNumber(text), good, text);
});

test("all spellings of a receiver are one", () => {
  const spellings = [
    ...["https://shop.example/told", "HTTPS://Shop.Example", "https://shop.example.:443/told?a=1"],
    ...[
      "https://%73hop.example/",
      "https://shop.example:0443/#part",
      "https:\\\\shop.example\\told",
    ],
  ];

  for (const url of spellings) assert.equal(receiverOf(url), "shop.example", url);
  assert.equal(receiverOf("http://SHOP.example.:8080/"), "shop.example:8080");
  assert.equal(receiverOf("http://0x7f.1/"), "127.0.0.1");
  assert.equal(receiverOf("http://[::0001]:8080/"), "[::1]:8080");
});

test("what is no address is nobody in particular", () => {
  for (const url of ["", "shop.example", "https://"]) assert.equal(receiverOf(url), "", url);
});
