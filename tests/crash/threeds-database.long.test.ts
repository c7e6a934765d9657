/**
 * The database ends while orders wait for cardholders. It keeps their card data without a log: a
 * crash destroys it, and then nothing is sent. A regular restart keeps it.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { countPending, payAt, readEnd, startSecureWorld } from "../support/crash-payments.ts";
import type { Node } from "../support/crash-world.ts";
import { startOwnServer } from "../support/databases/database-server.ts";
import { cards } from "../support/threeds.ts";

const server = await startOwnServer({ after });
const world = await startSecureWorld({ after }, { databaseUrl: server.url });
const verified = "AUTHENTICATED";
let node: Node;

before(async () => {
  node = await world.startNode();
  await node.untilReady();
});

test("orders that wait during a regular restart of the database are paid", async () => {
  const goOn = await beginAll();

  await server.stopAndAwaitNext();
  await node.untilReady();

  const paid = { status: "approved", code: undefined, verified, charges: 1, cvv: "123" };
  for (const order of await goOn()) assert.deepEqual(await readEnd(world, node, order), paid);
});

test("orders whose cards a crash of the database has lost end without a charge", async () => {
  const goOn = await beginAll();

  await server.killAndAwaitNext();
  await node.untilReady();

  assert.deepEqual(await countPending(world), { secrets: 0, keys: 0 });
  const lost = { status: "error", code: "5007", verified, charges: 0, cvv: undefined };
  for (const order of await goOn()) assert.deepEqual(await readEnd(world, node, order), lost);
});

/** Begins one order for each step of a cardholder. Returns how they continue. */
async function beginAll() {
  const pay = payAt(world, node);
  const method = await pay.begin(cards.other);
  const challenge = await pay.begin(cards.challengeNoMethod);
  const pares = await pay.begin(cards.v1Authenticated);
  await pay.untilStep(method, "MethodUrlFrame");
  await pay.untilStep(challenge, "CReqForm");
  await pay.untilStep(pares, "PaReqForm");
  return async () => {
    await Promise.all([pay.tellMethod(method), pay.pass(challenge), pay.answerPares(pares)]);
    return [method, challenge, pares];
  };
}
