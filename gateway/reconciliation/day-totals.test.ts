/** The totals of a day: which movements they contain, and their sum and currency. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { approved, gate, start } from "../orders/testing.ts";
import { asInstant, hours, later } from "../values/time.ts";
import { dayTotalsOf, makeDayTotals, type Total } from "./reconcile.ts";

const total = (currency: string, kind: Total["kind"], count: number, minor: bigint): Total => {
  return { currency, kind, here: { count, minor }, there: { count: 9, minor: 9n } };
};

test("sales and captures are debits, reversals are of debits, refunds are credits", () => {
  const totals = [
    total("USD", "sale", 2, 3_000n),
    total("EUR", "refund", 1, 700n),
    total("USD", "capture", 1, 500n),
    total("USD", "reversal", 1, 200n),
    total("USD", "chargeback", 1, 90n),
  ];

  const [eur, usd, ...others] = dayTotalsOf(totals);

  assert.deepEqual(others, []);
  assert.equal(eur?.currency.numeric, "978");
  assert.deepEqual(eur?.credits, { count: 1, minor: 700n });
  assert.deepEqual(usd?.debits, { count: 3, minor: 3_500n });
  assert.deepEqual(usd?.debitReversals, { count: 1, minor: 200n });
  assert.deepEqual(usd?.credits, { count: 0, minor: 0n });
});

test("a currency in which nothing moved has zeros, and is there once", () => {
  const totals = dayTotalsOf([total("USD", "sale", 1, 5n)], ["USD", "JPY"]);

  assert.deepEqual(
    totals.map(({ currency, debits }) => `${currency.code} ${debits.count}`),
    ["JPY 0", "USD 1"],
  );
});

test("an order counts on the day of its approval only", () => {
  const from = asInstant(Math.floor(start / hours(24)) * hours(24));
  const countOn = (day: number) => {
    const begins = later(from, day * hours(24));
    const books = makeDayTotals(gate.id, { from: begins, until: later(begins, hours(24)) });
    books.expect(approved());
    return books.totals()[0]?.debits;
  };

  assert.deepEqual([-1, 0, 1].map(countOn), [undefined, { count: 1, minor: 1_042n }, undefined]);
});
