/** Callbacks whose fields are not proven: the gateway is asked, and only its answer is used. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { makeReceiver } from "./client.ts";
import {
  type Answer,
  asGet,
  callback,
  controlKey,
  hangUp,
  makeScene,
  refuse,
  say,
  serialNumber,
} from "./testing.ts";

const told = (changes: Readonly<Record<string, string>> = {}) =>
  say(
    String(
      new URLSearchParams({
        type: "status-response",
        "serial-number": "s-1",
        status: "approved",
        "merchant-order-id": "invoice-1",
        "gw-order-id": "77000001",
        "by-request-sn": serialNumber,
        "transaction-type": "sale",
        amount: "10.42",
        currency: "USD",
        "cardholder-name": "JANE DOE",
        ...changes,
      }),
    ),
  );

test("every field of a result comes from the gateway, and not from the callback", async (t) => {
  const { receiver, received } = await makeAsking(t, told());
  const lies = { ...callback, type: "reversal", amount: "9999.00", "approval-code": "666" };

  const verified = await receiver.verify(asGet(lies));

  assert.match(received[0]?.body ?? "", new RegExp(`&by-request-sn=${serialNumber}&`));
  if (verified.kind !== "result") return assert.fail(verified.kind);
  assert.deepEqual(verified.result, {
    status: "approved",
    orderid: "77000001",
    client_orderid: "invoice-1",
    type: "sale",
    amount: "10.42",
    currency: "USD",
    "serial-number": serialNumber,
    "card-holder-name": "JANE DOE",
  });
});

test("an order's transactions are distinguished by serial number in any spelling", async (t) => {
  const later = "0195933a-7c48-7000-8000-000000000002";
  const { receiver, received } = await makeAsking(
    t,
    told(),
    told({ "by-request-sn": later, "transaction-type": "reversal" }),
  );
  const kept: string[] = [];

  for (const number of [serialNumber, later, later, serialNumber.toUpperCase()]) {
    const request = asGet({ ...callback, "serial-number": number });
    const answer = await receiver.receive(request, ({ type }) => kept.push(type));
    assert.equal(answer.status, 200);
  }

  assert.deepEqual(kept, ["sale", "reversal"]);
  assert.equal(received.length, 2, "what is kept need not be asked for again");
});

test("a callback that the gateway does not confirm is refused or comes again", async (t) => {
  // biome-ignore format: a table
  const answers: readonly (readonly [answer: Answer, kind: string])[] = [
    [refuse(200, "ORDER_NOT_FOUND", 6),                            "refused"],
    [told({ "gw-order-id": "77000002" }),                          "refused"],
    [told({ "merchant-order-id": "2invoice-1" }),                  "refused"],
    [told({ "by-request-sn": "" }),                                "refused"],
    [told({ status: "declined" }),                                 "refused"],
    [told({ status: "processing" }),                               "later"],
    [refuse(429, "TOO_MANY_REQUESTS", 12),                         "later"],
    [refuse(200, "INVALID_CONTROL_CODE", 2),                       "later"],
    [hangUp,                                                       "later"],
  ];
  for (const [answer, kind] of answers) {
    const { receiver, answerWith } = await makeAsking(t, answer);

    const early = await receiver.verify(asGet());
    answerWith(told());
    const genuine = await receiver.verify(asGet());

    assert.equal(early.kind, kind);
    assert.equal(genuine.kind, "result", "a forged copy must not stand in the true one's way");
  }
});

test("the gateway is not asked about a callback that cannot be a result", async (t) => {
  const { receiver, received } = await makeAsking(t, told());
  const strange = [{ "serial-number": "1" }, { "serial-number": "" }, { type: "" }];

  for (const lie of strange) {
    assert.equal((await receiver.verify(asGet({ ...callback, ...lie }))).kind, "refused");
  }

  assert.equal(received.length, 0);
});

test("the gateway is asked once about simultaneous copies", async (t) => {
  const { receiver, received } = await makeAsking(t, told());

  const copies = await Promise.all([receiver.verify(asGet()), receiver.verify(asGet())]);

  assert.deepEqual(copies.map(({ kind }) => kind).toSorted(), ["later", "result"]);
  assert.equal(received.length, 1);
});

async function makeAsking(t: TestContext, ...answers: readonly Answer[]) {
  let next: Answer | undefined;
  const turned = answers.map(
    (answer): Answer =>
      (response, received) =>
        (next ?? answer)(response, received),
  );
  const { endpoint, received } = await makeScene(t, ...turned);
  const answerWith = (answer: Answer) => {
    next = answer;
  };
  return { receiver: makeReceiver({ controlKey, confirm: endpoint }), received, answerWith };
}
