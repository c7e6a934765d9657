/** Values by ranges: gaps, overlaps, prefixes too short to tell, and tables of many ranges. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { makeRangeTable, type NumberRange, startRangeTable } from "./range-table.ts";

type Named = { readonly name: string };

const digits = 11;

const table = tableOf([
  ["400000", "400000", "Wide"],
  ["40000010", "40000019", "Narrow"],
  ["40000015000", "40000015000", "Narrowest"],
  ["510000", "519999", "Left"],
  ["515000", "529999", "Right"],
  ["99999999999", "99999999999", "Last"],
  ["00000000000", "00000000000", "First"],
]);

// biome-ignore format: a table
const found: readonly (readonly [prefix: string, name: string | undefined, why: string])[] = [
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

test("the narrowest range that holds the number counts", () => {
  for (const [prefix, name, why] of found) {
    assert.equal(table.find(prefix)?.name, name, `${prefix}: ${why}`);
  }
});

// biome-ignore format: a table
const cases: readonly (readonly [what: string, ranges: readonly (readonly [string, string])[], card: string, found: string | undefined])[] = [
  ["one alone",                      [["400000", "400009"]],                                         "4000051", "400000"],
  ["before the first",               [["400000", "400009"]],                                         "3999999", undefined],
  ["behind the last",                [["400000", "400009"]],                                         "4000100", undefined],
  ["a narrow one within",            [["400000", "499999"], ["400005", "400005"]],                   "4000051", "400005"],
  ["the wide one before it",         [["400000", "499999"], ["400005", "400005"]],                   "4000041", "400000"],
  ["the wide one behind it",         [["400000", "499999"], ["400005", "400005"]],                   "4000061", "400000"],
  ["two narrow ones: behind both",   [["4", "4"], ["40", "40"], ["42", "42"]],                       "430000",  "4"],
  ["two narrow ones: between",       [["4", "4"], ["40", "40"], ["42", "42"]],                       "410000",  "4"],
  ["three, one within another",      [["4", "4"], ["40", "40"], ["400", "400"]],                     "400123",  "400"],
  ["partly: what only the first has", [["400", "405"], ["404", "499"]],                              "4030",    "400"],
  ["partly: the narrower",           [["400", "405"], ["404", "499"]],                               "4045",    "400"],
  ["partly: what only the other has", [["400", "405"], ["404", "499"]],                              "4060",    "404"],
  ["of other lengths",               [["4000000000000", "4000009999999"], ["4000005000000000", "4000005000000999"]], "4000005000000123", "4000005000000000"],
  ["of other lengths, beside",       [["4000000000000", "4000009999999"], ["4000005000000000", "4000005000000999"]], "4000005000001123", "4000000000000"],
  ["an end before the beginning",    [["400009", "400000"], ["400005", "400005"]],                   "4000051", "400005"],
  ["none at all",                    [],                                                             "4000051", undefined],
];

for (const [what, ranges, card, expected] of cases) {
  test(`overlapping ranges of nineteen digits: ${what}`, () => {
    const named = ranges.map(([first, last]) => [first, last, first] as const);
    for (const given of [named, named.toReversed()]) {
      assert.equal(tableOf(given, 19).find(card.padEnd(19, "0"))?.name, expected);
    }
  });
}

test("any ranges in any order give what a search of them all gives", () => {
  const ends = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }));
  const many = fc.uniqueArray(ends, { maxLength: 40, selector: ([a, b]) => [a, b].sort().join() });
  fc.assert(
    fc.property(many, (pairs) => {
      const ranges = pairs.map(([one, other], index) =>
        rangeOf(near(Math.min(one, other)), near(Math.max(one, other)), String(index % 7)),
      );

      const made = makeRangeTable(digits, ranges);

      for (let card = 0; card <= 61; card += 1) {
        assert.equal(made.find(near(card))?.name, searchAll(ranges, BigInt(near(card))));
      }
    }),
  );
});

for (const [what, place] of [
  ["side by side", (at: number) => [at * 10, at * 10 + 9]],
  ["each within the one before", (at: number) => [at, 10_000_000 - at]],
  ["each over the end of the one before", (at: number) => [at * 10, at * 10 + 5_000]],
] as const) {
  test(`300,000 ranges ${what} are ready within two seconds of one core`, () => {
    const ranges = Array.from({ length: 300_000 }, (_, at) => {
      const [first = 0, last = 0] = place(at);
      return { first: BigInt(first), last: BigInt(last), value: { name: String(at % 100) } };
    });

    const before = process.cpuUsage();
    const large = makeRangeTable(19, ranges);
    const { user, system } = process.cpuUsage(before);

    // It takes half a second by itself. The processor time is measured, because other programs may
    // run beside the tests.
    assert.ok(user + system < 2_000_000, `${user + system} µs`);
    assert.ok(large.find(String(1_234_567).padStart(19, "0")) !== undefined);
  });
}

test("equal values are kept once", () => {
  const same = tableOf([
    ["400000", "400000", "Same"],
    ["400002", "400002", "Same"],
  ]);

  assert.ok(same.find("40000000000") !== undefined);
  assert.equal(same.find("40000000000"), same.find("40000200000"));
});

test("ranges that come out of order are a fault of the program", () => {
  const builder = startRangeTable<Named>(digits);
  builder.add(rangeOf("500000", "500000", "Later"));

  assert.throws(() => builder.add(rangeOf("400000", "400000", "Earlier")));
});

function tableOf(ranges: readonly (readonly [string, string, string])[], length = digits) {
  return makeRangeTable(
    length,
    ranges.map(([first, last, name]) => rangeOf(first, last, name, length)),
  );
}

function rangeOf(first: string, last: string, name: string, length = digits): NumberRange<Named> {
  return {
    first: BigInt(first.padEnd(length, "0")),
    last: BigInt(last.padEnd(length, "9")),
    value: { name },
  };
}

function near(offset: number): string {
  return String(41_000_000_000 + offset);
}

function searchAll(ranges: readonly NumberRange<Named>[], number: bigint): string | undefined {
  const holding = ranges.filter(({ first, last }) => first <= number && number <= last);
  const width = ({ first, last }: NumberRange<Named>) => Number(last - first);
  holding.sort(
    (left, right) => width(left) - width(right) || Number(right.first) - Number(left.first),
  );
  return holding[0]?.value.name;
}
