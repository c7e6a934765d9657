/**
 * Many orders with a mix of good, slow, failing and hanging receivers: every good one gets its
 * callback at once, and waiting callbacks need no memory.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { readRows } from "../support/books.ts";
import { atEnd, type Test } from "../support/clean-up.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { makeLoadClient } from "../support/load.ts";
import { saleFields } from "../support/merchant.ts";
import type { Program } from "../support/programs.ts";
import { answerWith, hang, startReceiver } from "../support/receiver.ts";
import { series } from "../support/series.ts";
import { until } from "../support/until.ts";

type Memory = { readonly heapUsed: number; readonly external: number; readonly rss: number };

const inspected = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

type Answer = { readonly id: number; readonly result: { result?: { value?: Memory } } };

const orders = series(4_000, 40_000);
const waves = 10;
const clients = 32;
const slowMs = 1_000;
/** The limit covers a hanging attempt or slow ones before a good receiver's callback. */
const toldWithinMs = 2_000;
/** The limit on a busy machine, in durations of simultaneous sales. */
const toldWithinSales = 4;
const mebibyte = 1024 * 1024;
/**
 * The growth from the middle waves to the last ones; the first waves need memory for code and
 * pools.
 */
const growthMaxMiB = { heapUsed: 4, external: 4, rss: 12 };
/** A hanging attempt ends soon, so that after a wave or two as many end as begin. */
const settings = { ...inspected, GW_CALLBACK_TIMEOUT_S: "2" };

test("good receivers get callbacks at once beside any number of bad ones", async (t) => {
  const world = await startCrashWorld(t, { settings });
  const node = await world.startNode();
  await node.untilReady();
  const measure = await openInspector(t, node);
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
  const memory: Memory[] = [];
  let begun = 0;
  let slowestSaleMs = 0;
  const payUntil = async (count: number) => {
    while (begun < count) {
      begun += 1;
      const url = receivers[begun % receivers.length]?.url;
      const beganMs = performance.now();
      await endpoint.sale(saleFields({ server_callback_url: url }));
      slowestSaleMs = Math.max(slowestSaleMs, performance.now() - beganMs);
    }
  };

  for (let wave = 1; wave <= waves; wave += 1) {
    const count = (orders / waves) * wave;
    await Promise.all(Array.from({ length: clients }, () => payUntil(count)));
    await good.untilHeard(count / receivers.length);
    memory.push(await measure());
  }
  const told = await until("all good ones are written down", async () => {
    const times = await readTimes(world.databaseUrl, good.url);
    return times.length >= orders / receivers.length ? times : undefined;
  });

  for (const [part, mostMiB] of Object.entries(growthMaxMiB)) {
    const sizes = memory.map((each) => Math.round(each[part as keyof Memory] / mebibyte));
    t.diagnostic(`${part} ${sizes.join(" ")} MiB`);
    const [before, last] = [Math.max(...sizes.slice(3, 7)), Math.max(...sizes.slice(7))];
    assert.ok(last - before <= mostMiB, `${part} grows: ${sizes.join(" ")} MiB`);
  }
  t.diagnostic(`all good ones within ${told.at(-1)} ms, half of them within ${median(told)} ms`);
  t.diagnostic(`the slowest sale took ${Math.round(slowestSaleMs)} ms`);
  assert.equal(good.heard.length, orders / receivers.length);
  assert.deepEqual(
    told.filter((tookMs) => tookMs >= Math.max(toldWithinMs, toldWithinSales * slowestSaleMs)),
    [],
  );
  assert.ok(hanging.heard.length >= 64);
});

/** Returns the times from each final status to the receiver's answer, the shortest first. */
async function readTimes(databaseUrl: string, url: string): Promise<readonly number[]> {
  const rows = await readRows<{ took_ms: number }>(
    databaseUrl,
    `select (extract(epoch from at - made_at) * 1000 + duration_ms)::float8 as took_ms
     from callbacks join callback_attempts using (merchant_id, order_id, sequence)
     where ended = 'delivered' and callbacks.url = '${url}' order by 1`,
  );
  return rows.map(({ took_ms: tookMs }) => Math.round(tookMs));
}

function median(sorted: readonly number[]): number | undefined {
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * Returns the memory that a program holds after a complete garbage collection, measured through the
 * debugger. The program is started with `inspected`.
 */
async function openInspector(t: Test, program: Program): Promise<() => Promise<Memory>> {
  const url = await until(
    "the debugger listens",
    () => /Debugger listening on (ws:\S+)/.exec(program.output)?.[1],
  );
  const socket = new WebSocket(url);
  await once(socket, "open");
  atEnd(t, () => socket.close());
  let asked = 0;

  return async () => {
    // The collection runs twice, because objects that the first one finalises are free after the
    // second.
    await ask("HeapProfiler.collectGarbage");
    await ask("HeapProfiler.collectGarbage");
    const expression = "process.memoryUsage()";
    const { result } = await ask("Runtime.evaluate", { expression, returnByValue: true });
    if (result?.value === undefined) throw new Error("the debugger does not know");
    return result.value;
  };

  function ask(method: string, params: object = {}): Promise<Answer["result"]> {
    asked += 1;
    const id = asked;
    const { promise, resolve } = Promise.withResolvers<Answer["result"]>();
    const hear = ({ data }: MessageEvent) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id !== id) return;
      socket.removeEventListener("message", hear);
      resolve(answer.result);
    };
    socket.addEventListener("message", hear);
    socket.send(JSON.stringify({ id, method, params }));
    return promise;
  }
}
