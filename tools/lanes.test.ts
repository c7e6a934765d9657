/** Test files run in lanes: as many at a time as each lane allows, and load tests alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Lane, runInLanes, shareProcesses } from "./lanes.ts";

const jobsOf = (lane: Lane, count: number) =>
  Array.from({ length: count }, (_, index) => ({ files: ["tools/lanes.ts"], lane, index }));

/** Returns the lanes that ran together, for each start of a file. */
async function watch(jobs: readonly { readonly files: readonly string[]; readonly lane: Lane }[]) {
  const together: string[] = [];
  const running: Lane[] = [];
  let ended = 0;
  await runInLanes(jobs, async ({ lane }) => {
    running.push(lane);
    together.push(running.toSorted().join(" "));
    await new Promise(setImmediate);
    running.splice(running.indexOf(lane), 1);
    ended += 1;
  });
  return { together: new Set(together), last: together.at(-1), ended };
}

test("three files that work run beside two that wait, and later three that wait run together", async () => {
  const { together, ended } = await watch([...jobsOf("works", 4), ...jobsOf("waits", 6)]);

  assert.equal(ended, 10);
  assert.ok(together.has("waits waits works works works"));
  assert.ok(together.has("waits waits waits"));
  assert.ok(!together.has("waits waits waits works"));
});

test("a file that runs alone waits until every other has ended", async () => {
  const { together, last, ended } = await watch([...jobsOf("alone", 2), ...jobsOf("works", 3)]);

  assert.equal(ended, 5);
  assert.equal(last, "alone");
  assert.deepEqual(
    [...together].filter((lanes) => lanes.includes("alone")),
    ["alone"],
  );
});

test("a run without files ends", async () => {
  assert.equal((await watch([])).ended, 0);
});

test("files of a workspace share a process, except those that need one of their own", () => {
  const files = [
    "gateway/values/appearance.test.ts",
    "tools/lanes.test.ts",
    "gateway/storage/orders/requests.test.ts",
    "gateway/values/html.test.ts",
    "tests/scenarios/payments/random-journeys.test.ts",
  ];

  assert.deepEqual(shareProcesses(files), [
    ["gateway/values/appearance.test.ts", "gateway/values/html.test.ts"],
    ["tools/lanes.test.ts"],
    ["gateway/storage/orders/requests.test.ts"],
    ["tests/scenarios/payments/random-journeys.test.ts"],
  ]);
});
