/** A payload whose entry meets a bug: the others are carried out before the request fails. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { asSerialNumber } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import * as field from "./fields.ts";
import { type CalledParts, operation } from "./operation.ts";
import { pluralOf } from "./profile-payload.ts";
import { entryPoint } from "./testing.ts";

const context = {
  entryPoint,
  serialNumber: asSerialNumber("0195933a-7c48-7000-8000-000000000001"),
  receivedAt: asInstant(1),
  sent: new Map(),
  known: [],
  // The operation calls none.
  services: {} as CalledParts,
};

test("a request fails after a bug only when all of its entries have ended", async () => {
  const ended: string[] = [];
  const one = operation({
    name: "pay",
    path: "/v4/pay/{id}",
    purpose: "Pays.",
    control: [],
    request: { client_orderid: field.clientOrderId("order id") },
    async handle({ client_orderid: id }) {
      if (id === "2") throw new Error("a bug");
      for (let turns = 0; turns < 10; turns += 1) await setImmediate();
      ended.push(id);
      return { type: "paid", fields: [] };
    },
  });
  const many = pluralOf(one, { columns: [], hasSerialNumbers: false });
  const ids = Array.from({ length: 100 }, (_, at) => String(at));

  const asked = many.handle({ payload: ["client-orderid", ...ids].join("\n") }, context);

  await assert.rejects(asked, /a bug/);
  assert.deepEqual(ended.toSorted(), ids.filter((id) => id !== "2").toSorted());
});
