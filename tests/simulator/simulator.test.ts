/**
 * Fixed seeds of the simulator hold every law, and a seed is the same simulation every time. A new
 * seed is run too: what it finds is printed, and fails nothing.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { isLongRun } from "../support/series.ts";
import { allCells, unreachable } from "./cells.ts";
import { makeNetwork, type VirtualSocket } from "./network.ts";
import { plantedFaults, readPlanted } from "./planted-faults.ts";
import { makeRandom } from "./random.ts";
import { cellsMin, longSeeds, ordersPerSeed, shortSeeds, splitSeeds } from "./seeds.ts";
import { planOf, simulate } from "./simulation.ts";
import { makeVirtualTime, SimulatedProcess } from "./virtual-time.ts";

const reached = new Set<string>();

for (const seeds of splitSeeds(isLongRun ? longSeeds : shortSeeds, 10)) {
  test(`the laws hold in the simulations of seeds ${seeds.join(", ")}`, async () => {
    for (const seed of seeds) {
      const outcome = await simulate(seed, planOf(seed, ordersPerSeed));

      const again = `npm run simulate -- --seed ${seed} --orders ${ordersPerSeed}`;
      assert.deepEqual(outcome.violations, [], again);
      assert.ok(outcome.orders > ordersPerSeed / 2, `seed ${seed}: ${outcome.orders} orders`);
      for (const cell of outcome.reached) reached.add(cell);
    }
  });
}

test("the simulations reach most cells of the transition tables", (t) => {
  t.diagnostic(`${reached.size} cells`);

  assert.ok(reached.size >= cellsMin, `${reached.size} cells; see seeds.ts`);
});

test("the host closes a connection a minute after the last byte", async () => {
  const time = makeVirtualTime();
  const network = makeNetwork(time, makeRandom(1));
  const [host, node] = [new SimulatedProcess("host"), new SimulatedProcess("node")];
  const closedAt: number[] = [];
  const accept = (socket: VirtualSocket) => {
    socket.closeWhenSilent(60_000);
    socket.on("close", () => closedAt.push(time.now()));
  };
  network.listen(1, { owner: host, accept });
  const near = time.runAs(node, () => network.connect("host", 1));

  time.after(30_000, node, () => void near.write(Buffer.from("echo")));
  await time.run(200_000);

  assert.equal(closedAt.length, 1);
  assert.ok(Math.abs((closedAt[0] ?? 0) - 90_000) < 1_000, String(closedAt));
});

test("every cell that is named unreachable is one of the transition tables", () => {
  const unknown = [...unreachable.keys()].filter((cell) => !allCells.includes(cell));

  assert.deepEqual(unknown, []);
});

test("every planted fault has its place in the gateway", () => {
  const gateway = join(import.meta.dirname, "../../gateway");

  for (const fault of plantedFaults) assert.ok(readPlanted(fault, gateway).size > 0);
});

test("one seed is one simulation, to the last event", async () => {
  const [first, second] = [await simulate(7, planOf(7, 30)), await simulate(7, planOf(7, 30))];

  assert.equal(first.hash, second.hash);
  assert.equal(first.events, second.events);
});

test("a new seed is printed with what it finds", (t) => {
  const program = join(import.meta.dirname, "simulate.ts");
  const options = ["--fresh", "--orders", String(ordersPerSeed), "--whole"];

  // A process of its own: the runner counts any rejection here as a failure of the test.
  const { stdout } = spawnSync(process.execPath, [program, ...options], {
    ...{ encoding: "utf8", timeout: 60_000 },
  });

  const [seed = "", ...found] = stdout.split("\n");
  assert.match(seed, /^seed \d+$/);
  for (const line of [seed, ...found.slice(0, 8)]) t.diagnostic(line);
});
