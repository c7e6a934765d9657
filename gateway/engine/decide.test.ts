/** An operator's decision meets the order as it is now, and never while a node asks the bank. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../orders/advance.ts";
import type { Commit } from "../orders/apply.ts";
import type { Order } from "../orders/order.ts";
import { advance, events, inStage, meet, start } from "../orders/testing.ts";
import { Failure } from "../values/failure.ts";
import { bankIsAsked, makeDecide } from "./decide.ts";

const asked = inStage("reversing");
const resting = meet(asked, events.reversal_unanswered);
const notDone = { kind: "settled_as_not_done", by: "ann", why: "the bank says so" } as const;
const again = { kind: "asked_again", by: "ann", why: "the bank is back" } as const;

test("an order that rests between two tries is settled", async () => {
  const { decide, steps } = makeStore(resting);

  const decided = await decide(resting, notDone);

  assert.ok(!(decided instanceof Failure));
  assert.equal(decided.transaction.stage, "error");
  assert.deepEqual(steps[0]?.events, [notDone]);
});

test("an order that the bank is being asked about is not settled, but may be asked again", async () => {
  const { decide, steps } = makeStore(asked);

  assert.equal(await decide(asked, notDone), bankIsAsked);
  assert.equal(steps.length, 0);
  assert.ok(!((await decide(asked, again)) instanceof Failure));
});

test("a node that begins to ask first keeps the order, which notes the decision", async () => {
  const claimed: Order = { ...asked, version: resting.version + 1 };
  const { decide, steps } = makeStore(claimed);

  assert.equal(await decide(resting, notDone), bankIsAsked);
  assert.equal(steps.length, 1);
  assert.equal(steps[0]?.order.transaction.stage, "reversing");
  assert.equal(steps[0]?.events[0]?.kind, "noted");
});

/** Of one order: a step is committed when it was made from the stored version. */
function makeStore(stored: Order) {
  const steps: Step[] = [];
  let current = stored;
  const commit: Commit = async (step) => {
    if (step.from !== current.version) return "stale";
    steps.push(step);
    current = step.order;
    return "done";
  };
  const clock = { now: () => start, after: () => () => undefined };
  return { steps, decide: makeDecide({ advance, commit, load: async () => current, clock }) };
}
