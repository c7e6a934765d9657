/** Waiting for a result: when it ends, how the gaps grow, and what ends it early. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isInDoubt, StillProcessing } from "./client.ts";
import { acknowledged, makeScene, refuse, say } from "./testing.ts";

const order = { client_orderid: "invoice-1", orderid: "77000001" };

/** The serial number of the acknowledgement. */
const serialNumber = "0195933a-7c48-7000-8000-000000000001";

const answer = (status: string, more = "") =>
  say(
    `type=status-response&serial-number=s-1&merchant-order-id=invoice-1&gw-order-id=77000001` +
      `&status=${status}&order-stage=sale_${status}${more}`,
  );

test("the client asks until the status is final", async (t) => {
  for (const status of ["approved", "declined", "error", "filtered"]) {
    const { endpoint, received } = await makeScene(t, answer("processing"), answer(status));

    const result = await endpoint.waitForResult(order);

    assert.equal(result.status, status);
    assert.equal(received.length, 2);
  }
});

test("a status in doubt differs from one in progress and from a result", async (t) => {
  const unknown = answer("processing", "&order-stage=sale_unknown");
  for (const each of [unknown, answer("processing"), answer("approved")]) {
    const { endpoint } = await makeScene(t, each);

    assert.equal(isInDoubt(await endpoint.status(order)), each === unknown);
  }
});

test("waiting stops for a step that only the cardholder can do", async (t) => {
  for (const step of ["&tds-status=CReqForm", "&html=%3Cform%3E"]) {
    const { endpoint } = await makeScene(t, answer("processing"), answer("processing", step));

    const result = await endpoint.waitForResult(order);
    assert.equal(result.status, "processing");
  }
});

test("an acknowledgement identifies the transaction to ask for", async (t) => {
  const { endpoint, received } = await makeScene(t, answer("approved"));

  await endpoint.waitForResult({ "merchant-order-id": "invoice-1", "gw-order-id": "77000001" });
  assert.match(received[0]?.body ?? "", /^client_orderid=invoice-1&orderid=77000001&/);
});

test("a transaction is waited for by the serial number of its acknowledgement", async (t) => {
  const { endpoint, received } = await makeScene(t, say(acknowledged), answer("approved"));

  await endpoint.waitForResult(await endpoint.return(order));

  assert.match(received[1]?.body ?? "", new RegExp(`&by-request-sn=${serialNumber}&`));
});

test("a status that is not final is asked for with its own `by-request-sn`", async (t) => {
  const named = { ...order, "by-request-sn": serialNumber };
  for (const question of [named, order]) {
    const echo = "by-request-sn" in question ? `&by-request-sn=${serialNumber}` : "";
    const { endpoint, received } = await makeScene(
      t,
      answer("processing", echo),
      answer("approved", echo),
    );

    await endpoint.waitForResult(await endpoint.status(question));

    assert.equal(received[1]?.body, received[0]?.body);
  }
});

test("gaps grow by half up to ten times the first, and never past the end", async (t) => {
  const { endpoint, timing } = await makeScene(t, answer("processing"));

  const waiting = endpoint.waitForResult(order, { everyMs: 100, timeoutMs: 6_000 });

  await assert.rejects(waiting, (error) => {
    return error instanceof StillProcessing && error.stage === "sale_processing";
  });
  assert.deepEqual(timing.pauses.slice(0, 3), [100, 150, 225]);
  assert.equal(Math.max(...timing.pauses), 1_000);
  assert.equal(timing.now(), 6_000);
});

test("the client asks once more when the time is over", async (t) => {
  const { endpoint } = await makeScene(t, answer("processing"), answer("approved"));

  const result = await endpoint.waitForResult(order, { everyMs: 500, timeoutMs: 10 });
  assert.equal(result.status, "approved");
});

test("the caller can abort the waiting", async (t) => {
  const { endpoint, received } = await makeScene(t, answer("processing"));
  const signal = AbortSignal.abort(new Error("the shop closes"));

  await assert.rejects(endpoint.waitForResult(order, { signal }), /the shop closes/);
  assert.equal(received.length, 0);
});

test("a refusal ends the waiting", async (t) => {
  const { endpoint } = await makeScene(t, answer("processing"), refuse(200, "ORDER_NOT_FOUND", 6));

  await assert.rejects(endpoint.waitForResult(order), /ORDER_NOT_FOUND/);
});
