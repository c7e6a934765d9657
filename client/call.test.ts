/** Errors as values, and the clock of the machine. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { realTiming } from "./call.ts";
import { asValue, Refused, Unreachable } from "./client.ts";
import { acknowledged, hangUp, makeScene, refuse, sale, say } from "./testing.ts";

test("replies and the gateway's errors become values, and a mistake of the caller is thrown", async (t) => {
  const taken = await makeScene(t, say(acknowledged));
  const refused = await makeScene(t, refuse(200, "DUPLICATE_ORDER", 7));
  const lost = await makeScene(t, hangUp);

  const reply = await asValue(taken.endpoint.sale(sale));
  const refusal = await asValue(refused.endpoint.sale(sale));

  assert.ok(!(reply instanceof Error));
  assert.equal(reply["gw-order-id"], "77000001");
  assert.ok(refusal instanceof Refused && refusal.word === "DUPLICATE_ORDER");
  assert.ok((await asValue(lost.endpoint.sale(sale))) instanceof Unreachable);
  const wrong = { ...sale, amount: 10 as unknown as string };
  await assert.rejects(asValue(taken.endpoint.sale(wrong)), TypeError);
});

test("a pause ends by itself, or with the reason of its signal", async () => {
  const calledOff = new AbortController();
  const reason = new Error("the shop closes");

  await realTiming.pause(1, calledOff.signal);
  const pause = realTiming.pause(600_000, calledOff.signal);
  calledOff.abort(reason);

  await assert.rejects(pause, reason);
  await assert.rejects(realTiming.pause(600_000, calledOff.signal), reason);
});
