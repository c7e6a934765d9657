/**
 * Migrations in production: only `gw migrate` applies them, and it first prints its plan. A gateway
 * of an older version continues with a schema that has only additions.
 */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { atEnd } from "../../support/clean-up.ts";
import { makeDatabase, whileConnected } from "../../support/databases/database-server.ts";
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
  // An empty database has no running nodes.
  assert.doesNotMatch(plan.output, /running nodes|must be stopped/);
  assert.deepEqual([unasked.code, applied.code, again.code, late.code], [2, 0, 0, 0]);
  assert.match(unasked.output, /--yes/);
  assert.match(applied.output, /Applying schema\/main\.sql\n.*up to date/s);
  assert.doesNotMatch(again.output, /Applying/);
  assert.equal(audited.output.match(/"schema\/main\.sql"/g)?.length, 1, audited.output);
});

test("a gateway runs and starts with the schema of a newer version that has only additions", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const { query } = world.installation.database;
  const before = await merchant.sale();

  // The statements of the next version's migration, while this gateway runs.
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

test("a rehearsal marks its database, and accepts only gates to a sandbox bank", async (t) => {
  const production = await makeProduction(t);
  const rehearsal = { ...production, GW_REHEARSAL: "on" };
  const gate = [
    ...["gate", "create", "first-bank", "--terminal", "1", "--merchant-code", "1"],
    ...["--category", "5732", "--country", "840", "--acquirer-id", "1", "--descriptor", "ACME"],
    ...["--name-and-place", "ACME", "--kind", "iso87_binary", "--host"],
  ];

  const marked = await run(rehearsal, "migrate", "--yes");
  const real = await run(rehearsal, ...gate, "127.0.0.1:1");
  const away = await run(rehearsal, ...gate, "bank.example:1", "--sandbox");
  const rehearsed = await run(rehearsal, ...gate, "127.0.0.1:1", "--sandbox");
  const doctor = await run({ ...rehearsal, GW_ALLOW: "local-audit" }, "doctor");
  const refused = await run(production, "serve");
  const changed = await run(production, "gate", "set", "first-bank", "--host", "bank.example:1");

  assert.match(marked.output, /^This database is marked as a rehearsal's from now on/m);
  assert.match(real.output, /^The gate does not lead to a sandbox: in a rehearsal/);
  assert.match(away.output, /^The gate leads to another machine: in a rehearsal/);
  assert.equal(rehearsed.code, 0, rehearsed.output);
  assert.match(doctor.output, /^warning environment: rehearsal\n.*no money moves/m);
  for (const { code, output } of [refused, changed]) {
    assert.match(output, /^This database was used for a rehearsal/);
    assert.equal(code, 2);
  }
});

test("a backup is restored only with the same GW_REHEARSAL, and otherwise the database stays empty", async (t) => {
  const own = await makeProduction(t);
  const production = { ...own, GW_REHEARSAL: "off" };
  const rehearsal = { ...own, GW_REHEARSAL: "on" };
  const refusals = [
    [rehearsal, production, /^This backup is of a rehearsal.* Nothing was restored\.$/m],
    [
      production,
      rehearsal,
      /^GW_REHEARSAL is on, and this backup is of no rehearsal.* restored\.$/m,
    ],
  ] as const;

  for (const [made, other, refusal] of refusals) {
    const words = await backUp({ ...made, GW_DATABASE_URL: await makeDatabase() });
    const place = { GW_DATABASE_URL: await makeDatabase() };
    const refused = await run({ ...other, ...place }, "restore", ...words);
    const after = await run({ ...made, ...place }, "restore", "status");
    const restored = await run({ ...made, ...place }, "restore", ...words, "--verify");

    assert.equal(refused.code, 2, refused.output);
    assert.match(refused.output, refusal);
    assert.match(after.output, /schema is older .* \(it lacks schema\/main\.sql\)/);
    assert.equal(restored.code, 0, restored.output);
  }
});

test("a command without the rights to read a restore gives advice that works", async (t) => {
  const settings = await makeProduction(t);
  const words = await backUp(settings);
  const place = { ...settings, GW_DATABASE_URL: await makeDatabase() };
  const otherKey = { ...place, GW_MASTER_KEY: "4".repeat(64) };

  const failed = await run(otherKey, "restore", ...words);
  const empty = await run(place, "order", "list");
  const restored = await run(place, "restore", ...words);
  await whileConnected({ url: place.GW_DATABASE_URL, folder: "" }, (client) =>
    client.query("drop owned by tollgate_gateway, tollgate_vault"),
  );
  const unfinished = await run(place, "restore", "status");
  const verified = await run(place, "restore", "verify");
  const after = await run(place, "restore", "status");

  assert.match(failed.output, /key-encryption key .* is not the one/);
  assert.match(empty.output, /^The gateway.s role may not read .* run `gw restore` again\./m);
  assert.equal(restored.code, 0, restored.output);
  assert.match(unfinished.output, /^The gateway.s role may not read .* run `gw restore verify`/m);
  for (const { code, output } of [empty, unfinished]) assert.equal(code, 2, output);
  assert.equal(verified.code, 0, verified.output);
  assert.match(after.output, /^hold +restored from the backup/m);
});

/** Makes a new installation and its backup, and returns the words of `gw restore` for it. */
async function backUp(settings: Settings): Promise<readonly string[]> {
  const folder = await mkdtemp(join(settings.GW_DATA_DIR, "../backup-"));
  const identity = join(folder, "identity");
  await run(settings, "migrate", "--yes");
  const { output } = await run(settings, "backup", "identity", identity);
  const [recipient = ""] = /age1\w+/.exec(output) ?? [];
  const made = await run(settings, "backup", "--to", folder, "--recipient", recipient);
  assert.equal(made.code, 0, made.output);
  const [file = ""] = (await readdir(folder)).filter((name) => name.endsWith(".age"));
  return ["--from", join(folder, file), "--identity-file", identity];
}

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

type Settings = Awaited<ReturnType<typeof makeProduction>> & {
  readonly GW_ALLOW?: string;
  readonly GW_REHEARSAL?: string;
};

async function run(settings: Settings, ...words: readonly string[]) {
  const { GW_DATABASE_URL: databaseUrl, GW_DATA_DIR: dataDir } = settings;
  const place = { installation: { databaseUrl }, dataDir, settings };
  const { code, printed, complaint } = await runGw(place, ...words);
  return { code, output: complaint + printed };
}
