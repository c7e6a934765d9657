/**
 * Migrations in production: only `gw migrate` applies them, and it says first what it will do. A
 * gateway of an older version goes on beside a schema that only grew.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { atEnd } from "../../support/clean-up.ts";
import { makeDatabase } from "../../support/databases/database-server.ts";
import { runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

test("in production the schema changes by `gw migrate` alone, after it was approved", async (t) => {
  const settings = await makeProduction(t);

  const early = await run(settings, "merchant", "list");
  const plan = await run(settings, "migrate", "--dry-run");
  const unasked = await run(settings, "migrate");
  const still = await run(settings, "serve");
  const applied = await run(settings, "migrate", "--yes");
  const again = await run(settings, "migrate");
  const late = await run(settings, "merchant", "list");
  const audited = await run(settings, "audit", "list", "--action", "migrate", "--json");

  for (const { code, output } of [early, still]) {
    assert.equal(code, 2);
    assert.match(output, /^The database's schema is older .* run `gw migrate`\.$/m);
  }
  assert.equal(plan.code, 0, plan.output);
  assert.match(plan.output, /schema\/main\.sql +yes .*Nothing was changed: \d+ to apply/s);
  // On an empty database there are none.
  assert.doesNotMatch(plan.output, /running nodes|must be stopped/);
  assert.deepEqual([unasked.code, applied.code, again.code, late.code], [2, 0, 0, 0]);
  assert.match(unasked.output, /--yes/);
  assert.match(applied.output, /Applying schema\/main\.sql\n.*up to date/s);
  assert.doesNotMatch(again.output, /Applying/);
  assert.equal(audited.output.match(/"schema\/main\.sql"/g)?.length, 1, audited.output);
});

test("a gateway goes on, and starts, beside the schema of a newer version that only grew", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const { query } = world.installation.database;
  const before = await merchant.sale();

  // What the next version's migration does, while this gateway runs.
  await query("alter table orders add column next_version text not null default ''");
  await query("alter table merchants add column next_version text");
  await query("create index concurrently orders_next on orders (next_version)");
  await query("insert into migrations (name, compatible_from) values ('9999-next.sql', '0001')");
  const beside = await merchant.sale();
  await world.settle();
  await world.restart();
  const after = await merchant.sale();
  await world.settle();
  await merchant.return(before);
  await world.settle();

  for (const order of [beside, after]) {
    assert.equal((await merchant.status(order)).status, "approved");
  }
  assert.equal((await merchant.status(before))["transaction-type"], "reversal");
});

test("a rehearsal marks its database, and takes gates to a sandbox bank alone", async (t) => {
  const production = await makeProduction(t);
  const rehearsal = { ...production, GW_REHEARSAL: "on" };
  const gate = [
    ...["gate", "create", "first-bank", "--terminal", "1", "--merchant-code", "1"],
    ...["--category", "5732", "--country", "840", "--acquirer-id", "1", "--descriptor", "ACME"],
    ...["--name-and-place", "ACME", "--kind", "iso87_binary", "--host"],
  ];

  await run(rehearsal, "migrate", "--yes");
  const real = await run(rehearsal, ...gate, "127.0.0.1:1");
  const away = await run(rehearsal, ...gate, "bank.example:1", "--sandbox");
  const rehearsed = await run(rehearsal, ...gate, "127.0.0.1:1", "--sandbox");
  const doctor = await run({ ...rehearsal, GW_ALLOW: "local-audit" }, "doctor");
  const refused = await run(production, "serve");
  const changed = await run(production, "gate", "set", "first-bank", "--host", "bank.example:1");

  assert.match(real.output, /^The gate does not lead to a sandbox bank: in a rehearsal/);
  assert.match(away.output, /^The gate leads to another machine: in a rehearsal/);
  assert.equal(rehearsed.code, 0, rehearsed.output);
  assert.match(doctor.output, /^warning environment: rehearsal\n.*no money moves/m);
  for (const { code, output } of [refused, changed]) {
    assert.match(output, /^This database was used for a rehearsal/);
    assert.equal(code, 2);
  }
});

async function makeProduction(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-migrations-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  return {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_DATABASE_URL: await makeDatabase(),
    GW_DATA_DIR: join(folder, "data"),
    GW_PORT: "0",
    GW_RESULTS_PORT: "0",
    GW_MASTER_KEY: "3".repeat(64),
  };
}

type Settings = Awaited<ReturnType<typeof makeProduction>> & { readonly GW_ALLOW?: string };

async function run(settings: Settings, ...words: readonly string[]) {
  const { GW_DATABASE_URL: databaseUrl, GW_DATA_DIR: dataDir } = settings;
  const place = { installation: { databaseUrl }, dataDir, settings };
  const { code, printed, complaint } = await runGw(place, ...words);
  return { code, output: complaint + printed };
}
