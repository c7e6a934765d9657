/** Gathering never mixes up answers, and one bad item does not fail its neighbours. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesArray, makeGather, plainArray, textArray } from "./gather.ts";

const limits = { batchMax: 4 };

test("the items of one turn become few statements, and each caller gets its own answer", async () => {
  const sizes: number[] = [];
  const double = makeGather(async (items: readonly number[]) => {
    sizes.push(items.length);
    return items.map((item) => item * 2);
  }, limits);

  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((item) => double(item)));

  assert.deepEqual(answers, [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(sizes, [4, 2]);
});

test("the next batch fills while a statement runs", async () => {
  const started: (() => void)[] = [];
  const sizes: number[] = [];
  const slow = makeGather(
    async (items: readonly number[]) => {
      sizes.push(items.length);
      if (sizes.length === 1) await new Promise<void>((go) => started.push(go));
      return items;
    },
    { batchMax: 100 },
  );

  const first = slow(1);
  while (started.length === 0) await new Promise(setImmediate);
  const others = [2, 3, 4].map((item) => slow(item));
  started[0]?.();
  await Promise.all([first, ...others]);

  assert.deepEqual(sizes, [1, 3]);
});

test("a batch takes a third of many items, and the others do not wait for the gap", async () => {
  const sizes: number[] = [];
  const run = async (items: readonly number[]) => {
    sizes.push(items.length);
    return items;
  };
  const gapMs = 1_000;
  const ask = makeGather(run, { wholeMax: 3, gapMs: () => gapMs });
  const startedAt = performance.now();

  const asked = Array.from({ length: 11 }, (_, item) => ask(item));
  await Promise.all(asked.slice(0, 10));

  assert.deepEqual(sizes, [4, 3, 3]);
  assert.ok(performance.now() - startedAt < gapMs);
});

test("with a gap between batches, items of several turns share one", async () => {
  const sizes: number[] = [];
  const run = async (items: readonly number[]) => {
    sizes.push(items.length);
    return items;
  };
  const ask = makeGather(run, { gapMs: () => 100 });

  await ask(1);
  const others: Promise<number>[] = [];
  for (const item of [2, 3, 4]) {
    others.push(ask(item));
    await new Promise(setImmediate);
  }
  await Promise.all(others);

  assert.deepEqual(sizes, [1, 3]);
});

test("one bad item fails alone, and a lost connection fails all", async () => {
  const run = async (items: readonly number[]) => {
    if (items.includes(13)) throw new Error("bad item");
    return items;
  };
  const careful = makeGather(run, { ...limits, retryAlone: true });
  const together = makeGather(run, limits);

  const alone = await Promise.allSettled([1, 13, 2].map((item) => careful(item)));
  const all = await Promise.allSettled([1, 13, 2].map((item) => together(item)));

  assert.deepEqual(
    alone.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.ok(all.every(({ status }) => status === "rejected"));
});

const away = (code = "57P01") => Object.assign(new Error("away"), { code });

function failing(times: number, error: Error) {
  const runs: { readonly items: readonly number[]; readonly isRepeated: boolean }[] = [];
  const run = async (items: readonly number[], isRepeated: boolean) => {
    runs.push({ items, isRepeated });
    if (runs.length <= times) throw error;
    return items;
  };
  return { run, runs };
}

test("items that failed are tried again together with newer ones", async () => {
  const { run, runs } = failing(2, away());
  const ask = makeGather(run, { retryMs: Number.POSITIVE_INFINITY });

  const first = ask(1);
  while (runs.length === 0) await new Promise(setImmediate);
  const answers = await Promise.all([first, ask(2)]);

  assert.deepEqual(answers, [1, 2]);
  assert.deepEqual(runs.at(-1), { items: [1, 2], isRepeated: true });
  assert.equal(runs[0]?.isRepeated, false);
});

test("a caller whose time has passed gets an error, and an item that must not be lost is kept", async () => {
  const brief = failing(3, away("25006"));
  const refused = failing(2, away("28P01"));
  const endless = failing(2, away("28P01"));

  const told = await Promise.allSettled([
    makeGather(brief.run)(1),
    makeGather(refused.run, { retryMs: 60_000 })(1),
    makeGather(endless.run, { retryMs: Number.POSITIVE_INFINITY })(1),
  ]);

  assert.deepEqual(
    told.map(({ status }) => status),
    ["rejected", "rejected", "fulfilled"],
  );
  assert.equal(refused.runs.length, 1);
});

test("a bug fails at once, however long the database would be waited for", async () => {
  const { run, runs } = failing(9, away("42703"));

  await assert.rejects(makeGather(run, { retryMs: 60_000 })(1));

  assert.equal(runs.length, 1);
});

const endless = { retryMs: Number.POSITIVE_INFINITY, stuckGapMs: 1 };

test("an item that must not be lost is tried until it succeeds, after any error", async () => {
  const held = setInterval(() => undefined, 1000);
  for (const error of [away("XX000"), away("42P01"), new Error("never heard of")]) {
    const { run, runs } = failing(3, error);
    const stuck: unknown[] = [];

    const answer = await makeGather(run, { ...endless, onStuck: (each) => stuck.push(each) })(1);

    assert.equal(answer, 1);
    assert.deepEqual(stuck, [error, error, error]);
    assert.equal(runs.at(-1)?.isRepeated, true);
  }
  clearInterval(held);
});

test("the others do not wait for an item that is stuck", async () => {
  let isMended = false;
  const held = setInterval(() => undefined, 1000);
  const ask = makeGather(async (items: readonly number[]) => {
    if (items.includes(13) && !isMended) throw away("XX001");
    return items;
  }, endless);

  const bad = ask(13);
  assert.deepEqual(await Promise.all([ask(1), ask(2)]), [1, 2]);
  assert.equal(await ask(3), 3);
  isMended = true;

  assert.equal(await bad, 13);
  clearInterval(held);
});

test("a merchant that has moved, and a node that ends, are no reason to try again here", async () => {
  const ended = new Error("Cannot use a pool after calling end on the pool");
  for (const error of [away("22012"), ended]) {
    const { run, runs } = failing(9, error);
    await assert.rejects(makeGather(run, endless)(1));
    assert.equal(runs.length, 1);
  }
});

// biome-ignore format: a table
const texts: readonly (readonly [value: string | null, literal: string])[] = [
  ["plain",          "{plain}"],
  ["",               '{""}'],
  ["NULL",           '{"NULL"}'],
  ["null",           '{"null"}'],
  [null,             "{NULL}"],
  ["a b",            '{"a b"}'],
  ["a,b",            '{"a,b"}'],
  ["{}",             '{"{}"}'],
  ['say "hi"',       '{"say \\"hi\\""}'],
  ["back\\slash",    '{"back\\\\slash"}'],
  ["line\nend",      '{"line\nend"}'],
];

test("every text is one element and is read back unchanged", () => {
  for (const [value, literal] of texts) assert.equal(textArray([value]), literal);
  assert.equal(textArray(["a", null, "b,c"]), '{a,NULL,"b,c"}');
});

test("numbers and bytes", () => {
  assert.equal(plainArray([1, 2n, "3", null]), "{1,2,3,NULL}");
  assert.equal(bytesArray([Buffer.from([0, 255])]), '{"\\\\x00ff"}');
});

test("a probe waits as long as an item would, and is sent with the waiting items", async () => {
  const running: ((items: readonly number[]) => void)[] = [];
  const batches: (readonly number[])[] = [];
  const queue = makeGather((items: readonly number[]) => {
    batches.push(items);
    return new Promise<readonly number[]>((resolve) => running.push(resolve));
  });

  const first = queue.probe();
  while (running.length === 0) await new Promise(setImmediate);
  const [item, second] = [queue(7), queue.probe()];
  assert.equal(queue.probe(), second);
  let isMoving = false;
  void second.then(() => {
    isMoving = true;
  });
  running[0]?.([]);
  await first;
  while (running.length === 1) await new Promise(setImmediate);
  assert.equal(isMoving, false);
  running[1]?.([7]);

  assert.equal(await item, 7);
  await second;
  assert.deepEqual(batches, [[], [7]]);
});

test("a probe fails with its batch, unless an item was at fault", async () => {
  let fault = new Error("a bad item");
  const queue = makeGather(
    async (items: readonly number[]) => {
      if (items.includes(13) || items.length === 0) throw fault;
      return items;
    },
    { retryAlone: true },
  );

  const [bad, good, probe] = [queue(13), queue(1), queue.probe()];
  await assert.rejects(bad, /a bad item/);
  assert.equal(await good, 1);
  await probe;
  fault = new Error("the server is unreachable");

  await assert.rejects(queue.probe(), /the server is unreachable/);
});
