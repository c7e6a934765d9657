/**
 * Fixed seeds of the simulator hold every law, and a seed is the same simulation every time. A new
 * seed is run too: its findings are printed, and fail nothing.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { isLongRun } from "../support/series.ts";
import { allCells, unreachable } from "./cells.ts";
import { makeTables } from "./database-model.ts";
import { makeNetwork, type VirtualSocket } from "./network.ts";
import { plantedFaults, readPlanted } from "./planted-faults.ts";
import { makeRandom } from "./random.ts";
import { cellsMin, longSeeds, ordersPerSeed, shortSeeds } from "./seeds.ts";
import { planOf, simulate } from "./simulation.ts";
import { makeVirtualTime, SimulatedProcess } from "./virtual-time.ts";

const program = join(import.meta.dirname, "simulate.ts");

test("the laws hold in the simulations of the seeds, which reach most cells", (t) => {
  const all = ["--seeds", String(longSeeds), "--orders", String(ordersPerSeed)];

  const { stdout, status } = runProgram([...(isLongRun ? all : ["--short"]), "--workers", "1"]);

  assert.equal(status, 0, stdout);
  const sums =
    /^(\d+) seeds in .* orders \(at least (\d+) in each\), .* (\d+) of \d+ cells$/m.exec(stdout) ??
    [];
  const [seeds = 0, fewest = 0, cells = 0] = sums.slice(1).map(Number);
  t.diagnostic(`${seeds} seeds, at least ${fewest} orders in each, ${cells} cells`);
  assert.equal(seeds, isLongRun ? longSeeds : shortSeeds.length);
  assert.ok(fewest > ordersPerSeed / 3, `${fewest} orders`);
  assert.ok(cells >= cellsMin, `${cells} cells; see seeds.ts`);
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

test("a statement that is tried out leaves no change while the journal forgets old ones", () => {
  const tables = makeTables();
  tables.cardKeys.add("1", { isDestroyed: false });

  tables.tryOut(() => {
    tables.setTime(3_600_000);
    tables.cardKeys.add("2", { isDestroyed: false });
  });

  assert.deepEqual([tables.cardKeys.has("1"), tables.cardKeys.has("2")], [true, false]);
});

test("every cell that is listed as unreachable is in the transition tables", () => {
  const unknown = [...unreachable.keys()].filter((cell) => !allCells.includes(cell));

  assert.deepEqual(unknown, []);
});

test("every planted fault fits the gateway's code", () => {
  const gateway = join(import.meta.dirname, "../../gateway");

  for (const fault of plantedFaults) assert.ok(readPlanted(fault, gateway).size > 0);
});

test("a seed repeats the same simulation, to the last event", async () => {
  const [first, second] = [await simulate(7, planOf(7, 30)), await simulate(7, planOf(7, 30))];

  assert.equal(first.hash, second.hash);
  assert.equal(first.events, second.events);
});

test("a new seed is printed with its findings", (t) => {
  const { stdout } = runProgram(["--fresh", "--orders", String(ordersPerSeed), "--whole"], 60_000);

  const [seed = "", ...found] = stdout.split("\n");
  assert.match(seed, /^seed \d+$/);
  for (const line of [seed, ...found.slice(0, 8)]) t.diagnostic(line);
});

/**
 * Runs in a separate process, because the test runner follows every promise of its process, which
 * takes longer than the simulation, and counts any rejection as a failure of the test.
 */
function runProgram(options: readonly string[], timeout = 1_800_000) {
  return spawnSync(process.execPath, [program, ...options], { encoding: "utf8", timeout });
}
