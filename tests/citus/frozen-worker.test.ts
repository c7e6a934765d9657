/**
 * A cell that Citus has moved, on a worker that freezes: only the cell's own merchants are
 * affected.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import pg from "pg";
import { atEnd } from "../support/clean-up.ts";
import { addressOnNode, citusUrl, listNodes } from "../support/databases/citus.ts";
import { runGw } from "../support/programs.ts";
import { startWorld, type World } from "../support/world.ts";

const skip = citusUrl === undefined && "GW_TEST_CITUS_URL names no coordinator of a cluster";
const declined = { credit_card_number: "4000004000000020" };

test("a frozen worker affects only the merchants of its own cells", { skip }, async (t) => {
  const world = await startWorld(t, {
    GW_ACCEPT_RETRY_S: "1",
    GW_DATABASE_CONNECT_TIMEOUT_S: "1",
    GW_DATABASE_STATEMENT_TIMEOUT_S: "3",
    GW_READY_TIMEOUT_S: "1",
  });
  const added = await runGw(world, "cell", "add", "far", "--citus");
  assert.equal(added.code, 0, added.complaint);
  const worker = await moveCellAway(world, "far", "second");
  const far = await world.stranger("far-shop", "far");
  const near = world.merchant();
  // This sale is declined, because the books are compared at the end with the other cell.
  const before = await far.sale(declined);
  await world.settle();

  const thaw = await freeze(worker.url);
  atEnd(t, thaw);
  const refused = await far.sale(declined).then(
    () => "accepted",
    (error: unknown) => String(error),
  );
  const paid = await Promise.all(Array.from({ length: 20 }, () => near.sale()));
  await world.settle();
  const statuses = await Promise.all(paid.map(async (each) => (await near.describe(each)).status));
  const ready = await fetch(`${world.gateway.url}/health/ready`);
  const told = JSON.stringify(await ready.json());
  thaw();

  assert.match(refused, /TEMPORARILY_UNAVAILABLE/);
  assert.deepEqual(new Set(statuses), new Set(["approved"]));
  assert.equal(ready.status, 200);
  assert.match(told, /cell far/);
  assert.doesNotMatch(told, /cell (main|second)/);
  await world.restart();
  const again = await far.sale(declined);
  await world.settle();
  assert.equal((await far.describe(before)).status, "declined");
  assert.equal((await far.describe(again)).status, "declined");
  const listed = await runGw(world, "cell", "list");
  assert.match(listed.printed, RegExp(`far .*the main database, Citus worker ${worker.name}`));
  assert.equal((await runGw(world, "cell", "check")).code, 0);
});

/** Moves the cell with Citus to a worker without the other cell, and returns that worker. */
async function moveCellAway({ installation }: World, cell: string, other: string) {
  const { query } = installation.database;
  const nodeOf = async (name: string) => {
    const [row] = await query<{ port: number }>(
      `select nodeport as port from citus_shards where table_name = $1::regclass`,
      [`cell_${name}.orders`],
    );
    return row?.port;
  };
  const taken = await nodeOf(other);
  const nodes = await listNodes(installation.databaseUrl);
  const free = nodes.find(({ isCoordinator, port }) => !isCoordinator && port !== taken);
  assert.ok(free !== undefined, "a cluster for tests has two workers");
  if ((await nodeOf(cell)) !== free.port) {
    const place = [`cell_${cell}`, free.host, free.port, "block_writes"];
    await query("select citus_schema_move($1::regnamespace, $2, $3, $4)", place);
  }
  const url = addressOnNode(installation.databaseUrl, free);
  return { url, name: `${free.host}:${free.port}` };
}

/** Freezes all processes of a server on this machine. Returns a function that continues them. */
async function freeze(url: string): Promise<() => void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid
     union all select pid from pg_stat_activity where pid <> pg_backend_pid()`,
  );
  await client.end();
  const pids = rows.map(({ pid }) => pid).filter(isPostgres);
  assert.ok(pids.length > 1, "the worker does not run on this machine");
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  return () => {
    for (const pid of pids.splice(0)) process.kill(pid, "SIGCONT");
  };
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("postgres");
  } catch {
    return false;
  }
}
