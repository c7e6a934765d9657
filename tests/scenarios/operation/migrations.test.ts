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
import { startProgram } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
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
  assert.match(plan.output, /main\/0001-house\.sql +yes .*Nothing was changed: \d+ to apply/s);
  assert.deepEqual([unasked.code, applied.code, again.code, late.code], [2, 0, 0, 0]);
  assert.match(unasked.output, /--yes/);
  assert.match(applied.output, /Applying main\/0001-house\.sql\n.*up to date/s);
  assert.doesNotMatch(again.output, /Applying/);
  assert.equal(audited.output.match(/"main\/0001-house\.sql"/g)?.length, 1, audited.output);
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
  await query("insert into migrations (name, compatible_from) values ('9999-next.sql', '0020')");
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

async function makeProduction(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-migrations-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  return {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_DATABASE_URL: await makeDatabase(),
    GW_DATA_DIR: join(folder, "data"),
    ...{ GW_PORT: "0", GW_RESULTS_PORT: "0", GW_MASTER_KEY: "3".repeat(64) },
  };
}

async function run(settings: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const program = startProgram(["gateway/cli/gw.ts", ...words], settings);
  await until(words.join(" "), () => !program.isRunning || undefined);
  return { code: program.child.exitCode, output: program.output };
}
