/** What the ACS remembers is bounded, in number and in time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BankClock, type Moment } from "../bank-clock.ts";
import { Transactions } from "./transactions.ts";

class MovedClock extends BankClock {
  aheadMs = 0;

  override now(): Moment {
    const moment = super.now();
    return { ...moment, ms: moment.ms + this.aheadMs };
  }
}

test("the oldest is forgotten first when there are too many", () => {
  const transactions = new Transactions<number>(new BankClock());
  for (let id = 0; id <= 100_000; id += 1) transactions.add(String(id), id);

  assert.equal(transactions.find("0"), undefined);
  assert.equal(transactions.find("1"), 1);
  assert.equal(transactions.find("100000"), 100_000);
});

test("everything is forgotten after an hour", () => {
  const clock = new MovedClock();
  const transactions = new Transactions<string>(clock);
  transactions.add("early", "kept");
  clock.aheadMs = 3_500_000;
  transactions.add("late", "kept");
  assert.equal(transactions.find("early"), "kept");

  clock.aheadMs = 3_700_000;

  assert.equal(transactions.find("early"), undefined);
  assert.equal(transactions.find("late"), "kept");
});
