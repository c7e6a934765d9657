/** The state of 3-D Secure transactions is limited in number and in time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BankClock, ExpiringMap, type Moment } from "./bank-context.ts";

class MovedClock extends BankClock {
  aheadMs = 0;

  override now(): Moment {
    const moment = super.now();
    return { ...moment, ms: moment.ms + this.aheadMs };
  }
}

test("the oldest is forgotten first when there are too many", () => {
  const map = new ExpiringMap<number>(new BankClock());
  for (let id = 0; id <= 100_000; id += 1) map.add(String(id), id);

  assert.equal(map.find("0"), undefined);
  assert.equal(map.find("1"), 1);
  assert.equal(map.find("100000"), 100_000);
});

test("everything is forgotten after an hour", () => {
  const clock = new MovedClock();
  const map = new ExpiringMap<string>(clock);
  map.add("early", "kept");
  clock.aheadMs = 3_500_000;
  map.add("late", "kept");
  assert.equal(map.find("early"), "kept");

  clock.aheadMs = 3_700_000;

  assert.equal(map.find("early"), undefined);
  assert.equal(map.find("late"), "kept");
});
