/** Who issued a card, by its first digits: gaps, overlaps, and prefixes too short to tell. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstOf, type IssuerRange, lastOf, makeRange } from "./issuer-range.ts";
import { makeIssuerTable, startIssuerTable } from "./issuer-table.ts";

const named = (first: string, last: string, bankName: string) =>
  makeRange(first, last, { bankName });

const table = makeIssuerTable([
  named("400000", "400000", "Wide"),
  named("40000010", "40000019", "Narrow"),
  named("40000015000", "40000015000", "Narrowest"),
  named("510000", "519999", "Left"),
  named("515000", "529999", "Right"),
  named("99999999999", "99999999999", "Last"),
  named("00000000000", "00000000000", "First"),
]);

// biome-ignore format: a table
const found: readonly (readonly [prefix: string, bankName: string | undefined, why: string])[] = [
  ["39999999999",      undefined,   "below the range"],
  ["40000000000",      "Wide",      "its first card"],
  ["40000009999",      "Wide",      "before the narrower one"],
  ["40000010000",      "Narrow",    "within the narrower one"],
  ["40000014999",      "Narrow",    "before the narrowest one"],
  ["40000015000",      "Narrowest", "one prefix only"],
  ["40000015001",      "Narrow",    "after the narrowest one"],
  ["40000020000",      "Wide",      "after the narrower one"],
  ["40000099999",      "Wide",      "its last card"],
  ["40000100000",      undefined,   "above the range"],
  ["40000013",         "Narrow",    "eight digits that suffice"],
  ["400000130",        "Narrow",    "nine digits that suffice"],
  ["40000015",         undefined,   "eight digits that do not suffice"],
  ["4000001500",       undefined,   "ten digits that do not suffice"],
  ["400000",           undefined,   "six digits that do not suffice"],
  ["515500",           "Left",      "of two that cross the narrower one"],
  ["525000",           "Right",     "past the one that it crosses"],
  ["99999999999",      "Last",      "the last of all"],
  ["99999999998",      undefined,   "before the last of all"],
  ["00000000000",      "First",     "the first of all"],
  ["4000001500099999", "Narrowest", "only the first eleven digits count"],
  ["",                 undefined,   "no digits"],
  ["abcdefgh",         undefined,   "no digits at all"],
];

test("the narrowest range that holds the card tells its issuer", () => {
  for (const [prefix, bankName, why] of found) {
    assert.equal(table.find(prefix)?.bankName, bankName, `${prefix}: ${why}`);
  }
});

test("an empty table knows nothing", () => {
  assert.equal(makeIssuerTable([]).find("40000010000"), undefined);
});

test("whatever the ranges and their order, the table says what a search of them all says", () => {
  const ends = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }));
  const many = fc.uniqueArray(ends, { maxLength: 40, selector: ([a, b]) => [a, b].sort().join() });
  fc.assert(
    fc.property(many, (pairs) => {
      const ranges = pairs.map(([one, other], index) =>
        named(near(Math.min(one, other)), near(Math.max(one, other)), String(index % 7)),
      );

      const made = makeIssuerTable(ranges);

      for (let card = 0; card <= 61; card += 1) {
        assert.equal(made.find(near(card))?.bankName, searchAll(ranges, near(card)));
      }
    }),
  );
});

test("issuers that say the same are kept once", () => {
  const same = makeIssuerTable([
    named("400000", "400000", "Same"),
    named("400002", "400002", "Same"),
  ]);

  assert.ok(same.find("40000000000") !== undefined);
  assert.equal(same.find("40000000000"), same.find("40000200000"));
});

test("ranges that come out of order are a fault of the program", () => {
  const builder = startIssuerTable();
  builder.add(named("500000", "500000", "Later"));

  assert.throws(() => builder.add(named("400000", "400000", "Earlier")));
});

function near(offset: number): string {
  return String(41_000_000_000 + offset);
}

function searchAll(ranges: readonly IssuerRange[], prefix: string): string | undefined {
  const holding = ranges.filter(
    ({ first, last }) => first <= firstOf(prefix) && last >= lastOf(prefix),
  );
  const width = ({ first, last }: IssuerRange) => last - first;
  holding.sort((left, right) => width(left) - width(right) || right.first - left.first);
  return holding[0]?.issuer.bankName;
}
