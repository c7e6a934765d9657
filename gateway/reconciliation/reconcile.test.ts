/** The comparison: the day's edges, sums that offset each other, and stray lines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { approved, asks, events, gate, meet, start } from "../orders/testing.ts";
import { initialOf } from "../orders/transactions.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { asInstant, hours, later, minutes } from "../values/time.ts";
import { makeReconciliation, type Neighbour } from "./reconcile.ts";

const usd = getCurrency("USD");
const from = asInstant(Math.floor(start / hours(24)) * hours(24));
const period = { from, until: later(from, hours(24)), windowMs: minutes(15) };

const sale = approved();
const reference = initialOf(sale).identifiers?.reference ?? "";
const minor = 1042n;

/** The same sale, approved at another time of the day. */
function at(instant: number): Order {
  const { answer } = sale.transaction;
  assert.ok(answer !== undefined);
  const moved = { ...answer, processedAt: asInstant(instant) };
  return { ...sale, transaction: { ...sale.transaction, answer: moved } };
}

type Lines = readonly (readonly [kind: "sale" | "reversal", minor: bigint])[];

async function compare(
  order: Order,
  lines: Lines,
  neighbours: { [Which in Neighbour]?: Lines } = {},
) {
  const books = makeReconciliation({
    gateId: gate.id,
    period,
    neighbours: Object.keys(neighbours) as Neighbour[],
    findOrder: async (wanted) => (wanted === reference ? order : undefined),
  });
  books.expect(order);
  const lineOf = ([kind, amount]: Lines[number], index: number) => {
    return { line: index + 2, reference, kind, money: new Money(amount, usd) };
  };
  for (const line of lines.map(lineOf)) books.take(line);
  for (const which of ["previous", "next"] as const) {
    for (const line of (neighbours[which] ?? []).map(lineOf)) books.takeNeighbour(line, which);
  }
  const { differences, ...rest } = await books.finish();
  return { ...rest, kinds: differences.map(({ kind }) => kind) };
}

const midday = from + hours(12);
const lastMinute = period.until - minutes(1);
const firstMinuteAfter = period.until + minutes(1);

test("a line agrees with its order, or differs by amount, or misses it", async () => {
  assert.deepEqual((await compare(at(midday), [["sale", minor]])).kinds, []);
  assert.deepEqual((await compare(at(midday), [["sale", 1n]])).kinds, ["different amount"]);
  assert.deepEqual((await compare(at(midday), [])).kinds, ["missing there"]);
});

test("the same line twice is a duplicate, also when the order is right", async () => {
  const twice = await compare(at(midday), [
    ["sale", minor],
    ["sale", minor],
  ]);

  assert.deepEqual([twice.matched, twice.kinds], [1, ["duplicate"]]);
});

test("a charge at the day's edge is awaited in the next file, and missing when neither has it", async () => {
  const late = at(lastMinute);

  const alone = await compare(late, []);
  const found = await compare(late, [], { next: [["sale", minor]] });
  const nowhere = await compare(late, [], { next: [] });
  const wrongSide = await compare(late, [], { previous: [["sale", minor]] });

  assert.deepEqual([alone.awaited, alone.kinds], [1, []]);
  assert.deepEqual([found.awaited, found.kinds], [0, []]);
  assert.deepEqual(nowhere.kinds, ["missing there"]);
  assert.deepEqual([wrongSide.awaited, wrongSide.kinds], [1, []]);
});

test("a line that both days' files have is a duplicate, at whichever side of midnight", async () => {
  const line: Lines = [["sale", minor]];

  const both = await compare(at(lastMinute), line, { next: line });
  const dated = await compare(at(firstMinuteAfter), line, { next: line });
  const thrice = await compare(at(lastMinute), line, { next: [...line, ...line] });
  const otherAmount = await compare(at(lastMinute), line, { next: [["sale", 1n]] });
  const otherSide = await compare(at(lastMinute), line, { previous: line });

  assert.deepEqual([both.matched, both.kinds], [1, ["duplicate"]]);
  assert.deepEqual([dated.matched, dated.kinds], [1, ["duplicate"]]);
  assert.deepEqual(thrice.kinds, ["duplicate"]);
  assert.deepEqual([otherAmount.kinds, otherSide.kinds], [[], []]);
});

test("a line whose charge the gateway dates to the neighbouring day matches it", async () => {
  const near = await compare(at(firstMinuteAfter), [["sale", minor]]);
  const absent = await compare(at(firstMinuteAfter), []);
  const far = await compare(at(period.until + hours(20)), [["sale", minor]]);

  assert.deepEqual([near.matched, near.kinds], [1, []]);
  assert.deepEqual([absent.awaited, absent.kinds], [0, []]);
  assert.deepEqual(far.kinds, ["other day"]);
});

test("a charge and its return of one day may be absent, or presented as one", async () => {
  const asked = meet(at(midday), asks("return", 42n), asInstant(midday));
  const returned = meet(asked, {
    ...events.returned,
    answer: { ...events.returned.answer, processedAt: asInstant(midday) },
  });
  const whole = meet(meet(at(midday), asks("return")), {
    ...events.returned,
    answer: { ...events.returned.answer, processedAt: asInstant(midday) },
  });

  assert.deepEqual((await compare(returned, [["sale", 1000n]])).kinds, []);
  assert.deepEqual((await compare(whole, [])).kinds, []);
  assert.deepEqual((await compare(whole, [["sale", minor]])).kinds, ["missing there"]);
  assert.deepEqual((await compare(returned, [])).kinds, ["missing there", "missing there"]);
});
