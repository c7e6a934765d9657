/** The steps of orders that are logged, and those that raise an alarm. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { approved, events, inStage, meet, start } from "../orders/testing.ts";
import { makeLog } from "./log.ts";
import { makeMetrics } from "./metrics.ts";
import { makeObserveOrders } from "./observe.ts";

function observe(...orders: readonly Order[]): readonly string[] {
  const lines: string[] = [];
  const log = makeLog("debug", { write: (line) => void lines.push(line) });
  const metrics = makeMetrics();
  const { onStep } = makeObserveOrders(log, metrics);
  for (const order of orders) onStep({ from: 1, order, events: [events.received], at: start });
  return lines.map((line) => `${JSON.parse(line).level} ${JSON.parse(line).event}`);
}

const late = meet(meet(inStage("reversing"), events.reversed), events.approved_late);

function triedTimes(tries: number): Order {
  return { ...late, transaction: { ...late.transaction, tries } };
}

test("the end of an order is told, and doubt as long as it lasts", () => {
  assert.deepEqual(observe(approved(), inStage("reversing"), inStage("authorizing")), [
    "30 order.finished",
    "40 order.in_doubt",
  ]);
});

test("a late approval that is not reversed raises an alarm with every tenth try", () => {
  const alarms = Array.from({ length: 31 }, (_, tries) => observe(triedTimes(tries)).length - 1);

  assert.deepEqual(
    alarms.flatMap((count, tries) => (count > 0 ? [tries] : [])),
    [10, 20, 30],
  );
  assert.deepEqual(observe(triedTimes(10)), [
    "40 order.late_approval_reversing",
    "50 order.doubt_alarm",
  ]);
});

test("a claim and a note are no news of the order", () => {
  const { onStep } = makeObserveOrders(
    makeLog("debug", { write: () => assert.fail("nothing is logged") }),
    makeMetrics(),
  );

  for (const event of [events.claimed, events.noted]) {
    onStep({ from: 1, order: approved(), events: [event], at: start });
  }
});
