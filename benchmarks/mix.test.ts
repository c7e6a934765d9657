/** The mix has every kind in its share, the cost of each part is separate, and pauses are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kindAt } from "./mix-load.ts";
import { addedBy } from "./mix-report.ts";
import { parsePauses, readPauses } from "./pauses.ts";

test("a hundred orders have every kind in its share, spread over all of them", () => {
  const shares = { "sale": 60, "preauth": 20, "refund": 20 };
  const kinds = Array.from({ length: 100 }, (_, index) => kindAt(index, shares));

  const counts = Map.groupBy(kinds, (kind) => kind);
  assert.deepEqual(
    Object.entries(shares).map(([kind, share]) => [kind, share]),
    [...counts].map(([kind, all]) => [kind, all.length]).sort(byShare),
  );
  const gaps = kinds.flatMap((kind, index) => (kind === "refund" ? [index] : []));
  assert.ok(gaps.every((at, index) => index === 0 || at - (gaps[index - 1] ?? 0) <= 11));
  assert.equal(kindAt(1_234, { wallet: 100 }), "wallet");
});

function byShare([, left]: readonly unknown[], [, right]: readonly unknown[]): number {
  return Number(right) - Number(left);
}

test("a part adds its cost above that of a plain sale, by its share of the orders", () => {
  const none = { load: 0, route: 0 };
  const plain = { gateway: 500, database: 300, bank: 50, ...none };
  const cost = { gateway: 1_500, database: 400, bank: 50, ...none };

  const added = addedBy({ name: "wallet", share: 0.1, cost }, plain);

  assert.deepEqual(added, { gateway: 100, database: 10, bank: 0 });
});

const mu = "(average mu = 0.997, current mu = 0.998)";
const steps =
  "(+ 41.8 ms in 76 steps since start of marking, biggest step 20.2 ms, " +
  "walltime since start of marking 73 ms)";
// biome-ignore format: a table
const trace = [
  `[7:0x10000000:0] 5873 ms: Scavenge 46.7 (60.7) -> 38.0 (63.2) MB, pooled: 0.0 MB, 8.38 / 0.71 ms ${mu}`,
  `[7:0x20000000] 5900 ms: Scavenge 6.7 (8.7) -> 5.0 (8.2) MB, pooled: 0.0 MB, 99.00 / 0.71 ms ${mu}`,
  `[8:0x10000000] 5901 ms: Scavenge 6.7 (8.7) -> 5.0 (8.2) MB, 99.00 / 0.71 ms ${mu}`,
  "Ctrl-C stops everything.",
  `[7:0x10000000] 6103 ms: Incremental Mark-Compact 45.9 (69.7) -> 36.3 (67.9) MB, 11.11 / 0.02 ms ${steps}`,
].join("\n");

test("pauses are those of the gateway's main thread, and a long step is one of them", () => {
  const gateway = { readOutput: () => trace, processes: { gateway: 7 } };

  assert.deepEqual(parsePauses(trace, 7, "0x10000000"), [8.38, 20.2]);
  assert.deepEqual(readPauses(gateway, 0), { count: 2, longestMs: 20.2, long: 1 });
  assert.deepEqual(readPauses(gateway, trace.length), { count: 0, longestMs: 0, long: 0 });
});
