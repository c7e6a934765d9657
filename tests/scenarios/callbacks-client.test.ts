/** The client's receiver against the gateway itself: what one sends, the other believes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeReceiver, type Verified } from "@tollgate/client";
import { type Answer, answerWith, startReceiver } from "../support/receiver.ts";
import { readGw } from "../support/run-gw.ts";
import { startWorld, type World } from "../support/world.ts";

for (const method of ["GET", "POST"] as const) {
  test(`a ${method} is believed once, a repeat is told, and a wrong key is refused`, async (t) => {
    const world = await startWorld(t);
    await world.changeEndpoint("plain", { callbackMethod: method });
    const secret = await secretOf(world);
    const own = { controlKey: world.set.controlKey, now: () => world.clock.now() };
    const receiver = makeReceiver(method === "GET" ? own : { ...own, webhookSecret: secret });
    const stranger = makeReceiver({ controlKey: "another" });
    const verified: Verified[] = [];
    const shop = await startReceiver(t, hear(receiver, 500));

    const sale = await world.merchant().sale({ server_callback_url: `${shop.url}/told?a=b` });
    await world.settle();
    shop.answer(hear(receiver, 200));
    await world.pass(150_000);
    shop.answer(hear(stranger, 200));
    await world.merchant().sale({ server_callback_url: shop.url });
    await world.settle();

    assert.deepEqual(
      verified.map(({ kind }) => kind),
      ["result", "repeat", "refused"],
    );
    const [first] = verified;
    if (first?.kind !== "result") return assert.fail("the first is the result");
    assert.equal(first.result.orderid, sale["gw-order-id"]);
    assert.equal(first.result["serial-number"], sale["serial-number"]);
    assert.equal(first.result.status, "approved");

    function hear(by: typeof receiver, status: number): Answer {
      return async (response, { path, ...heard }) => {
        verified.push(await by.verify({ ...heard, url: path }));
        answerWith(status)(response, { path, ...heard });
      };
    }
  });
}

test("a client that hears the callback asks for the status once", async (t) => {
  const world = await startWorld(t);
  const receiver = makeReceiver({ controlKey: world.set.controlKey });
  const shop = await startReceiver(t, async (response, { path, ...heard }) => {
    await receiver.verify({ ...heard, url: path });
    response.end();
  });
  const merchant = world.merchant();

  const sale = await merchant.sale({ server_callback_url: shop.url });
  // By itself it would not ask again within the test's time.
  const patient = { receiver, everyMs: 3_600_000, timeoutMs: 86_400_000 };
  const status = await merchant.endpoint("plain").waitForResult(sale, patient);

  assert.equal(status.status, "approved");
});

async function secretOf(world: World): Promise<string> {
  const printed = await readGw(world, "callback", "secret", world.set.endpoints["plain"] ?? "");
  return (printed as { secret: string }).secret;
}
