/** Ranges that overlap: the narrowest that holds a card counts, and the search stays fast. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { padFirst, padLast } from "./card-ranges.ts";
import { makeFindNarrowest, type Span } from "./disjoint-ranges.ts";

// biome-ignore format: a table
const cases: readonly (readonly [what: string, spans: readonly (readonly [string, string])[], card: string, found: string | undefined])[] = [
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

for (const [what, spans, card, found] of cases) {
  test(`overlapping ranges: ${what}`, () => {
    const find = makeFindNarrowest(spans.map(([first, last]) => spanOf(first, last)));
    assert.equal(find(padFirst(card)), found);
    const turned = makeFindNarrowest(spans.map(([first, last]) => spanOf(first, last)).reverse());
    assert.equal(turned(padFirst(card)), found);
  });
}

test("whatever overlaps whatever, the narrowest is found that a plain look finds", () => {
  const random = makeRandom(7);
  for (let round = 0; round < 300; round += 1) {
    const spans = Array.from({ length: 1 + random(12) }, () => {
      const [one, other] = [random(100), random(100)];
      return exactSpan(Math.min(one, other), Math.max(one, other));
    });
    const find = makeFindNarrowest(spans);
    for (let number = 0; number < 101; number += 1) {
      const holding = spans.filter(({ value: [first, last] }) => first <= number && number <= last);
      const width = Math.min(...holding.map(({ value: [first, last] }) => last - first));
      const [first, last] = find(String(number).padStart(19, "0")) ?? [0, Number.POSITIVE_INFINITY];
      assert.equal(last - first, width, `round ${round}, ${number}`);
      if (holding.length > 0) assert.ok(first <= number && number <= last);
    }
  }
});

for (const [what, place] of [
  ["side by side", (at: number) => [at * 10, at * 10 + 9]],
  ["each within the one before", (at: number) => [at, 10_000_000 - at]],
  ["each over the end of the one before", (at: number) => [at * 10, at * 10 + 5_000]],
] as const) {
  test(`300,000 ranges ${what} are ready within two seconds of one core`, () => {
    const spans = Array.from({ length: 300_000 }, (_, at) => {
      const [first = 0, last = 0] = place(at);
      return exactSpan(first, last);
    });

    const before = process.cpuUsage();
    const find = makeFindNarrowest(spans);
    const { user, system } = process.cpuUsage(before);

    // A third of a second alone. The processor's time, since others may work beside the tests.
    assert.ok(user + system < 2_000_000, `${user + system} µs`);
    assert.ok(find(String(1_234_567).padStart(19, "0")) !== undefined);
  });
}

function spanOf(first: string, last: string): Span<string> {
  return { first: padFirst(first), last: padLast(last), value: first };
}

function exactSpan(first: number, last: number): Span<readonly [number, number]> {
  const digits = (number: number) => String(number).padStart(19, "0");
  return { first: digits(first), last: digits(last), value: [first, last] };
}

/** The same numbers in every run. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
