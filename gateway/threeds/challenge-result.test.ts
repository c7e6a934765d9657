/** A result that arrives when its challenge has ended, and the order may be in another one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { inStage, threeds } from "../orders/testing.ts";
import { Failure } from "../values/failure.ts";
import { asInstant } from "../values/time.ts";
import { makeReceiveResult } from "./challenge-result.ts";

const acs = {
  one: "11111111-1111-4111-8111-111111111111",
  two: "22222222-2222-4222-8222-222222222222",
};
const ds = "33333333-3333-4333-8333-333333333333";

function challenged(which: keyof typeof acs): Order {
  const order = inStage("awaiting_challenge");
  const number = Number(order.id).toString(16).padStart(12, "0");
  const transactionId = `${acs[which].slice(0, 24)}${number}`;
  const challenge = {
    acsUrl: "https://acs.example",
    creq: "",
    acsTransactionId: acs[which],
    directoryTransactionId: ds,
  };
  const own = { ...threeds, version: "2.2.0", transactionId, challenge };
  return { ...order, transaction: { ...order.transaction, threeds: own } };
}

test("the result of one try is no result of the next, which began while it was stored", async () => {
  const [first, second] = [challenged("one"), challenged("two")];
  const reported: OrderEvent[] = [];
  const receive = makeReceiveResult({
    findByNumber: async () => first,
    load: async () => second,
    async report(order, event) {
      if (order === first) return new Failure("not_allowed_now");
      reported.push(event);
      return order;
    },
    policyOf: () => "always",
    allowHttp: false,
    warn: () => undefined,
    clock: { now: () => asInstant(0) },
  });
  const { directory, transactionId } = first.transaction.threeds ?? assert.fail();

  const answer = await receive(
    directory,
    JSON.stringify({
      messageType: "RReq",
      messageVersion: "2.2.0",
      messageCategory: "01",
      threeDSServerTransID: transactionId,
      acsTransID: acs.one,
      dsTransID: ds,
      authenticationType: "02",
      interactionCounter: "01",
      transStatus: "Y",
      eci: "05",
      authenticationValue: "AAECAwQFBgcICQoLDA0ODxAREhM=",
    }),
  );

  assert.deepEqual(reported, []);
  const { messageType, errorCode } = JSON.parse(String(answer));
  assert.deepEqual([messageType, errorCode], ["Erro", "301"]);
});
