/**
 * The result of a challenge and the return of the browser reach two different nodes, in either
 * order or at the same time; or the browser never returns.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  payAt,
  readEnd,
  readEvents,
  startSecureWorld,
  untilStage,
  whileNobodyWrites,
} from "../support/crash-payments.ts";
import type { Node } from "../support/crash-world.ts";
import { cards } from "../support/threeds.ts";

const world = await startSecureWorld({ after });
const paid = {
  status: "approved",
  code: undefined,
  verified: "AUTHENTICATED",
  charges: 1,
  cvv: "123",
};
let left: Node;
let right: Node;

before(async () => {
  left = await world.startNode({ GW_NODE_NAME: "left" });
  right = await world.startNode({ GW_NODE_NAME: "right" });
  await Promise.all([left.untilReady(), right.untilReady()]);
});

test("a result that comes to one node while the other has just taken the return pays", async () => {
  const pay = payAt(world, left);
  world.results.leadTo(right.resultsPort);

  const order = await pay.begin(cards.challengeNoMethod);
  const pass = await pay.returnEarly(order);
  await pass();

  assert.deepEqual(await readEnd(world, right, order), paid);
});

test("simultaneous results and returns at two nodes pay each order once", async () => {
  const [pay, other] = [payAt(world, left), payAt(world, right)];
  world.results.leadTo(left.resultsPort);
  const begun = Array.from({ length: 20 }, async () => {
    const order = await pay.begin(cards.challengeNoMethod);
    await pay.untilStep(order, "CReqForm");
    return order;
  });
  const orders = await Promise.all(begun);
  const earlier = countResults();

  // Neither node can write an order until both have read it: both report to the same version.
  const told = await whileNobodyWrites(
    world,
    () => orders.flatMap((order) => [pay.passOnly(order), other.returnEarly(order)]),
    () => countResults() - earlier === orders.length,
  );
  await Promise.all(told);

  for (const order of orders) {
    assert.deepEqual(await readEnd(world, right, order), paid);
    const events = (await readEvents(world, order)).map(({ kind }) => kind);
    for (const kind of ["challenge_passed", "challenge_returned", "authorized"]) {
      assert.equal(events.filter((each) => each === kind).length, 1, events.join(", "));
    }
  }
});

test("if the browser never returns, the other node continues for a killed one", async () => {
  const doomed = await world.startNode({ GW_NODE_NAME: "doomed", GW_RESULT_GRACE_S: "2" });
  await doomed.untilReady();
  world.results.leadTo(doomed.resultsPort);
  const pay = payAt(world, doomed);
  const order = await pay.begin(cards.challengeNoMethod);
  await pay.passOnly(order);
  await untilStage(world, order, "awaiting_return");

  await doomed.kill();

  assert.deepEqual(await readEnd(world, right, order), paid);
});

function countResults(): number {
  return world.secureBank.threeDsMessages().filter(({ type }) => type === "RReq").length;
}
