/** Two nodes share what they see of a gate through a real database. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Authorization } from "../../acquirers/acquirer.ts";
import type { Gate } from "../../acquirers/gates.ts";
import { type HealthChange, makeGateHealth } from "../../acquirers/health.ts";
import { asGateId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { migrate } from "../schema/migrate.ts";
import { type Database, openDatabase } from "../server/database.ts";
import { startEmpty } from "../testing/database-for-tests.ts";
import { makeHealthStore } from "./gate-health.ts";

const second = 1_000;
const answer = {
  responseCode: "00",
  approvalCode: "1",
  networkId: undefined,
  approvedAmount: undefined,
  processedAt: asInstant(0),
};
const approved: Authorization = { kind: "approved", answer };
const lost: Authorization = { kind: "unknown", cause: "timeout" };

let database: Database;
let clean = async (): Promise<void> => undefined;
let now = asInstant(1_900_000_000_000);
const pass = (durationMs: number) => {
  now = asInstant(now + durationMs);
};

before(async () => {
  const server = await startEmpty();
  const options = { poolSize: 2, connectTimeoutMs: 5_000, onLost: () => undefined };
  database = openDatabase(server.url, options);
  clean = async () => {
    await database.close();
    await server.stop();
  };
  await migrate(database, () => undefined);
});
after(() => clean());

async function addGate(id: string, settings: object = {}): Promise<Gate> {
  const gate = { id: asGateId(id), name: `gate-${id}`, kind: "sandbox", settings } as Gate;
  await database.query("insert into gates (id, name, kind, settings) values ($1, $2, $3, $4)", [
    id,
    gate.name,
    gate.kind,
    JSON.stringify(settings),
  ]);
  return gate;
}

function startNode(name: string, ...gates: readonly Gate[]) {
  const changes: HealthChange[] = [];
  const health = makeGateHealth({
    clock: { now: () => now },
    node: { name },
    store: makeHealthStore(database.query),
    gates: () => gates,
    onChange: (change) => void changes.push(change),
  });
  const charge = (gate: Gate, count: number, outcome: Authorization) => {
    for (let at = 0; at < count; at += 1) health.begin(gate.id)(outcome);
  };
  return { ...health, changes, charge };
}

test("a gate that loses the answers of both nodes is unhealthy at both, and one node says so", async () => {
  const gate = await addGate("1");
  const [one, other] = [startNode("a1", gate), startNode("a2", gate)];
  one.charge(gate, 12, lost);
  other.charge(gate, 12, lost);

  await one.exchange();
  await other.exchange();
  await one.exchange();

  assert.deepEqual(one.shares(), new Map([[gate.id, 0.02]]));
  assert.deepEqual(other.shares(), one.shares());
  assert.deepEqual(
    [...one.changes, ...other.changes],
    [
      {
        gate: "gate-1",
        from: "healthy",
        to: "unhealthy",
        why: "24 of 24 charges unanswered or refused by the host",
      },
    ],
  );
});

test("a node with a fault of its own changes nothing while another node sees a good gate", async () => {
  const gate = await addGate("2");
  const [unlucky, other] = [startNode("b1", gate), startNode("b2", gate)];
  unlucky.charge(gate, 50, lost);
  other.charge(gate, 50, approved);

  await other.exchange();
  await unlucky.exchange();
  await other.exchange();

  assert.equal(unlucky.report().get("gate-2")?.state, "healthy");
  assert.equal(unlucky.report().get("gate-2")?.failed, 50);
  assert.deepEqual([...unlucky.changes, ...other.changes], []);
});

test("a gate comes back by probes, after a window each, and a restarted node knows its state", async () => {
  const gate = await addGate("3");
  const node = startNode("c1", gate);
  node.charge(gate, 30, approved);
  await node.exchange();
  pass(70 * second);
  node.charge(gate, 20, lost);
  await node.exchange();
  const restarted = startNode("c1", gate);
  await restarted.exchange();
  const unhealthy = restarted.report().get("gate-3")?.state;

  pass(61 * second);
  restarted.charge(gate, 5, approved);
  await restarted.exchange();
  const weakened = restarted.shares()?.get(gate.id);
  pass(61 * second);
  restarted.charge(gate, 5, approved);
  await restarted.exchange();

  assert.equal(unhealthy, "unhealthy");
  assert.equal(weakened, 0.5);
  assert.equal(restarted.shares(), undefined);
  assert.equal(restarted.report().get("gate-3")?.usualRate, 1);
});

test("a charge that waits for ten seconds counts before its time-out", async () => {
  const gate = await addGate("4");
  const node = startNode("d1", gate);
  const ends = Array.from({ length: 20 }, () => node.begin(gate.id));
  await node.exchange();
  const before = node.shares();

  pass(11 * second);
  await node.exchange();
  const after = node.shares();
  for (const end of ends) end(lost);
  await node.exchange();
  // Each charge counts once, and a new state begins with new counts.

  assert.equal(before, undefined);
  assert.equal(after?.get(gate.id), 0.02);
  assert.equal(node.report().get("gate-4")?.failed, 0);
});

test("settings of a gate decide, and a gate whose health is off keeps its orders", async () => {
  const strict = await addGate("5", { healthMin: 4, healthFailures: 50, healthProbe: 10 });
  const off = await addGate("6", { health: false });
  const node = startNode("e1", strict, off);
  node.charge(strict, 4, lost);
  node.charge(off, 100, lost);

  await node.exchange();

  assert.deepEqual(node.shares(), new Map([[strict.id, 0.1]]));
  assert.equal(node.report().get("gate-6")?.state, "off");
  await database.query("delete from gates where id = 5");
  await node.exchange();
});
