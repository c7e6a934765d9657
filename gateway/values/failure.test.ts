/** The catalogue of failures: its numbers are part of the interface. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure, type FailureRow, type FailureType, failures } from "./failure.ts";

const rows: readonly FailureRow[] = Object.values(failures);

test("every number and every word means one thing", () => {
  assert.equal(new Set(rows.map(({ number }) => number)).size, rows.length);
  assert.equal(new Set(rows.map(({ word }) => word)).size, rows.length);
});

test("words are upper case and meanings are there", () => {
  for (const { word, meaning } of rows) {
    assert.match(word, /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
    assert.match(meaning, /^\S.+[^.\s]$/);
  }
});

// biome-ignore format: a table
const ranges: readonly (readonly [first: number, last: number, type: FailureType])[] = [
  [1,    8,    "validation-error"],
  [9,    9,    "error"],
  [10,   12,   "validation-error"],
  [13,   15,   "error"],
  [16,   16,   "validation-error"],
  [100,  999,  "declined"],
  [1000, 1999, "filtered"],
  [2000, 2999, "declined"],
  [3000, 3999, "declined"],
  [5000, 5999, "error"],
];

test("every number is in a range, and of the type of its range", () => {
  for (const { number, word, type } of rows) {
    const range = ranges.find(([first, last]) => number >= first && number <= last);
    assert.equal(type, range?.[2], `${number} ${word}`);
  }
});

// biome-ignore format: a table
const published: readonly (readonly [number: number, word: string])[] = [
  [1,  "INVALID_REQUEST"],
  [2,  "INVALID_CONTROL_CODE"],
  [3,  "INVALID_ENDPOINT"],
  [4,  "MISSING_PARAMETER"],
  [5,  "INVALID_PARAMETER"],
  [6,  "ORDER_NOT_FOUND"],
  [7,  "DUPLICATE_ORDER"],
  [8,  "CARD_REFERENCE_NOT_FOUND"],
  [9,  "NOT_ALLOWED_IN_THIS_STATE"],
  [10, "CURRENCY_NOT_SUPPORTED"],
  [11, "AMOUNT_OUT_OF_RANGE"],
  [12, "TOO_MANY_REQUESTS"],
  [13, "NOT_SUPPORTED_BY_GATE"],
];

/** The gateway's own numbers are above those that the interface defines. */
const added = [
  [14, "CARD_REFERENCE_EXPIRED"],
  [15, "CARD_REFERENCE_REMOVED"],
  [16, "TOKEN_NOT_FOUND"],
];

test("the numbers that the interface fixes are as it fixes them", () => {
  const low = rows.filter(({ number }) => number < 100).map(({ number, word }) => [number, word]);

  assert.deepEqual(low.slice(0, published.length), published);
  assert.deepEqual(low.slice(published.length), added);
});

test("the wire sees the word and the detail, and never the cause", () => {
  const failure = new Failure("invalid_parameter", "email: not an email address", "secret cause");

  assert.equal(failure.message, "INVALID_PARAMETER: email: not an email address");
  assert.equal(failure.number, 5);
  assert.equal(new Failure("control_mismatch").message, "INVALID_CONTROL_CODE");
});
