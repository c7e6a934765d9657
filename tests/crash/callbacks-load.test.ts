/**
 * Many orders whose receivers are good, slow, failing and hanging, all mixed: the good ones are
 * told at once whatever the others do, and what waits for the others takes no memory.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readRows } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { makeLoadClient } from "../support/load.ts";
import { saleFields } from "../support/merchant.ts";
import { answerWith, hang, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const orders = Number(process.env["TOLLGATE_CALLBACK_ORDERS"] ?? 2_000);
const clients = 32;
const toldAfterMs = "(extract(epoch from at - made_at) * 1000 + duration_ms)";
const slowMs = 1_000;
const toldWithinMs = 2_000;
/** What is collected only now and then, not what is kept. */
const growthMaxBytes = 64 * 1024 * 1024;

test("good receivers are told at once, however bad the others are", async (t) => {
  const world = await startCrashWorld(t);
  const node = await world.startNode();
  await node.untilReady();
  const slowly: Parameters<typeof startReceiver>[1] = (response) =>
    void setTimeout(() => response.end(), slowMs).unref();
  const [good, slow, failing, hanging] = [
    await startReceiver(t),
    await startReceiver(t, slowly),
    await startReceiver(t, answerWith(500)),
    await startReceiver(t, hang),
  ];
  const receivers = [good, slow, failing, hanging];
  const endpoint = makeLoadClient({ set: world.set, url: () => node.url });
  let begun = 0;
  const memory: number[] = [];
  const pay = async () => {
    while (begun < orders) {
      begun += 1;
      const url = receivers[begun % receivers.length]?.url;
      if (begun % (orders / 10) === 0) memory.push(await heapBytes(node.url));
      await endpoint.sale(saleFields({ server_callback_url: url }));
    }
  };

  await Promise.all(Array.from({ length: clients }, pay));
  await until("all are done", async () => {
    const open = await readRows(
      world.databaseUrl,
      "select id from orders where finished_at is null limit 1",
    );
    return open.length === 0 && good.heard.length >= orders / 4 ? true : undefined;
  });
  const [told] = await readRows<{ late_ms: number; latest_ms: number }>(
    world.databaseUrl,
    `select percentile_cont(0.99) within group (order by ${toldAfterMs})::float8 as late_ms,
       max(${toldAfterMs})::float8 as latest_ms
     from callbacks join callback_attempts using (merchant_id, order_id, sequence)
     where ended = 'delivered' and callbacks.url = '${good.url}'`,
  );

  t.diagnostic(`99 of 100 good ones within ${told?.late_ms} ms, all within ${told?.latest_ms} ms`);
  t.diagnostic(`memory ${memory.map((bytes) => Math.round(bytes / 1024 / 1024)).join(" ")} MiB`);
  assert.equal(good.heard.length, orders / 4);
  // On a busy machine the last one may be held up by anything; the others may not.
  assert.ok((told?.late_ms ?? Number.POSITIVE_INFINITY) < toldWithinMs);
  assert.ok(hanging.heard.length >= 32);
  assert.ok((memory.at(-1) ?? 0) - (memory[4] ?? 0) < growthMaxBytes, String(memory));
});

async function heapBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, bytes = "0"] = /^\S*nodejs_heap_size_used_bytes (\S+)$/m.exec(text) ?? [];
  assert.notEqual(Number(bytes), 0, "the gateway says how much memory it has");
  return Number(bytes);
}
