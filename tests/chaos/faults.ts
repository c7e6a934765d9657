/** Applies each kind of fault of the plan to the processes, and undoes it. */
import { execFileSync } from "node:child_process";
import { rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readRows } from "../support/books.ts";
import { untilReplicating } from "../support/databases/database-pair.ts";
import { type Answer, answerWith, hang, hangUp } from "../support/receiver.ts";
import { until, untilTrue } from "../support/until.ts";
import type { Fault, Kind } from "./plan.ts";
import type { ChaosWorld, NodeSlot } from "./world.ts";

/**
 * Applies a fault. Calls `over` when the part may work again, and resolves when the next fault may
 * begin. Returns why a fault was left out.
 */
type Do = (world: ChaosWorld, fault: Fault, over: () => void) => Promise<string | undefined>;

const receiverWays: Readonly<Record<string, Answer>> = {
  refuses: answerWith(500),
  hangs: hang,
  "hangs up": hangUp,
};

// biome-ignore format: a table
const table: Readonly<Record<Kind, Do>> = {
  "node killed":        killNodes,
  "node stopped":       (world, fault) => during(fault, () => nodeOf(world, fault).stop(), () => nodeOf(world, fault).resume()),
  "node out of memory": (world, fault) => fillMemory(nodeOf(world, fault)),
  "line cut":           cutLines,
  "bank killed":        ({ bank }, fault) => during(fault, () => bank.kill(), () => bank.startAgain()),
  "bank stopped":       ({ bank }, fault) => during(fault, () => bank.signal("SIGSTOP"), () => bank.signal("SIGCONT")),
  "primary killed":     ({ database: { primary } }, fault) => during(fault, () => primary.kill(), () => primary.launch()),
  "primary stopped":    ({ database: { primary } }, fault) => during(fault, () => primary.freeze(), () => primary.thaw()),
  "failover":           failOver,
  "standby stopped":    ({ database: { standby } }, fault) => during(fault, () => standby.freeze(), () => standby.thaw()),
  "standby killed":     ({ database: { standby } }, fault) => during(fault, () => standby.kill(), () => standby.launch()),
  "disk full":          fillDisk,
  "receiver failing":   ({ receiver, accept }, fault) => during(fault, () => receiver.answer(receiverWays[fault.way] ?? hang), () => receiver.answer(accept)),
};

export const inject: Do = (world, fault, over) => table[fault.kind](world, fault, over);

/** The time for which a frozen primary wakes up with its nodes before it is fenced. */
const awakeMs = 1_000;

async function during(
  { forMs }: Fault,
  begin: () => unknown,
  end: () => unknown,
): Promise<undefined> {
  await begin();
  await pause(forMs);
  await end();
}

function nodeOf({ nodes }: ChaosWorld, { part }: Fault): NodeSlot {
  const node = nodes.get(part);
  if (node === undefined) throw new Error(`there is no node ${part}`);
  return node;
}

async function killNodes(world: ChaosWorld, fault: Fault): Promise<undefined> {
  const killed = fault.way === "both" ? [...world.nodes.values()] : [nodeOf(world, fault)];
  await Promise.all(killed.map((node) => node.kill(fault.forMs)));
}

/** V8 ends the process when nothing more can be freed. */
async function fillMemory(node: NodeSlot): Promise<undefined> {
  const count = node.programs.length;
  node.fillMemory();
  await untilTrue("the node has run out of memory", () => node.programs.length > count);
}

async function cutLines({ lines }: ChaosWorld, { part, way, forMs }: Fault): Promise<undefined> {
  const cut = lines.get(part) ?? [];
  for (const line of cut) line.cut(way);
  await pause(forMs);
  for (const line of cut) line.restore();
}

/**
 * Promotes the standby only if it is in step, which an operator checks too. The old primary is
 * fenced and returns as the standby of the new one; a frozen one wakes up before it is fenced.
 */
async function failOver(
  world: ChaosWorld,
  { way, forMs }: Fault,
  over: () => void,
): Promise<undefined> {
  const { primary, standby } = world.database;
  await untilReplicating(primary);
  if (way === "killed") await primary.kill();
  else primary.freeze();
  await standby.promote();
  over();
  Object.assign(world.database, { primary: standby, standby: primary });
  await pause(forMs);
  primary.thaw();
  await pause(awakeMs);
  await world.follow(primary, standby);
}

/** Fills the disk. PostgreSQL may end for lack of room, and is started again when there is some. */
async function fillDisk(
  { database, diskOf }: ChaosWorld,
  { way, forMs }: Fault,
): Promise<string | undefined> {
  const server = way === "primary" ? database.primary : database.standby;
  const disk = diskOf(server);
  if (disk === undefined) return "skipped: only root can mount a small disk";
  const balloon = join(disk, "balloon");
  const { bavail, bsize } = await statfs(disk);
  execFileSync("fallocate", ["-l", String(bavail * bsize), balloon]);
  await pause(forMs);
  await rm(balloon);
  if (!server.isRunning) await server.launch();
  await until("the server answers", () => readRows(server.url, "select 1").catch(() => undefined));
  return undefined;
}
