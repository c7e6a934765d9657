/** The vault's tables are out of the reach of the gateway's own statements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { makeDatabase } from "../support/database-server.ts";
import { runGw } from "../support/programs.ts";
import { startWorld } from "../support/world.ts";

const tables = ["vault.cards", "vault.keys", "vault.held_secrets", "vault.held_keys"];

test("a node takes and returns payments, and its statements cannot read the vault", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale();
  await world.settle();
  const returned = await merchant.return(sale);
  await world.settle();
  const { node, vault } = world.installation.databases;

  assert.equal((await merchant.describe(returned)).status, "approved");
  for (const table of tables) {
    await assert.rejects(node.query(`select from ${table}`), /permission denied/, table);
    await assert.rejects(node.hot(`select from ${table}`), /permission denied/, table);
  }
  await assert.rejects(node.query("update vault.cards set key_id = 1"), /permission denied/);
  await assert.rejects(node.query("delete from vault.cards"), /permission denied/);
  await assert.rejects(vault.query("select from orders"), /permission denied/);
  assert.equal((await vault.query("select from vault.cards")).length, 1);
  const doctor = await runGw(world, "doctor");
  assert.match(doctor.printed, /good +vault: its tables are closed/);
});

test("a login that may not make roles works all the same, and is told what to do", async (t) => {
  const url = await makeDatabaseOf(`plain_${process.pid}`);
  const world = await startWorld(t, { GW_DATABASE_URL: url });
  const merchant = world.merchant();
  const sale = await merchant.sale();
  await world.settle();

  const doctor = await runGw(world, "doctor");
  const migrated = await runGw(world, "migrate");

  assert.equal((await merchant.status(sale)).status, "approved");
  assert.match(doctor.printed, /trouble vault: its tables are open/);
  assert.match(migrated.printed, /create role tollgate_gateway;.* grant .* to "plain_\d+"/);
});

/** A database of the operator's, whose owner has no rights beyond it. */
async function makeDatabaseOf(login: string): Promise<string> {
  const url = new URL(await makeDatabase());
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`create role ${login} login password 'word'`);
  await client.query(`alter database ${url.pathname.slice(1)} owner to ${login}`);
  await client.end();
  url.username = login;
  url.password = "word";
  return url.href;
}
