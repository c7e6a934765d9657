/**
 * The vault: its keys are changed while merchants pay, and the gateway's own statements cannot read
 * its tables.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { atEnd } from "../../support/clean-up.ts";
import { makeDatabase } from "../../support/databases/database-server.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { migrateFirst, readGw, runGw, startProgram } from "../../support/programs.ts";
import { testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

type Listed = {
  readonly id: number;
  readonly purpose: string;
  readonly retiredAt: string | null;
  readonly destroyedAt: string | null;
  readonly cards: number;
};

const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");

test("keys are rotated under load: no payment fails and the old keys are gone", async (t) => {
  const world = await startWorld(t);
  const other = await world.otherNode("other");
  const load = startPaying([world.merchant(), world.merchantAt(other)]);
  await until("there are several pages of cards", () => load.paid.length > 510 || undefined);
  const [before] = (await listKeys(world)).filter(({ purpose }) => purpose === "cards");

  const rotated = await runGw(quickly(world), "key", "rotate");
  await load.finish();
  await world.settle();

  assert.equal(rotated.code, 0, rotated.complaint);
  assert.match(rotated.complaint, /Sealed anew: \d+ of \d+ cards, \d+ per second/);
  const keys = await listKeys(world);
  const cards = keys.filter(({ purpose }) => purpose === "cards");
  assert.deepEqual(
    cards.map(({ id, destroyedAt, cards: count }) => [id, destroyedAt !== null, count]),
    [
      [before?.id, true, 0],
      [cards[1]?.id, false, load.paid.length],
    ],
  );
  assert.deepEqual(
    keys.filter(({ destroyedAt }) => destroyedAt !== null).map(({ purpose }) => purpose),
    ["cards", "secrets", "held", "transfers"],
  );
  await until("all are approved", async () => {
    const open = await world.installation.database.query(
      "select from orders where stage <> 'approved'",
    );
    return open.length === 0 || undefined;
  });
  const first = load.paid[0] ?? assert.fail();
  const last = load.paid.at(-1) ?? assert.fail();
  for (const [merchant, sale] of [
    [world.merchant(), last],
    [world.merchantAt(other), first],
  ] as const) {
    const returned = await merchant.return(sale);
    await until("the return is through", async () => {
      const { status } = await merchant.describe(returned);
      return status === "approved" || undefined;
    });
  }
});

test("an interrupted rotation is continued", async (t) => {
  const world = await startWorld(t);
  await world.merchant().sale();
  await world.settle();
  const cut = startProgram([gw, "key", "rotate"], {
    GW_DATABASE_URL: world.installation.databaseUrl,
    GW_DATA_DIR: world.dataDir,
  });
  await until("it waits for slow nodes", () => /Waiting \d+ s/.test(cut.output) || undefined);

  const meanwhile = await runGw(world, "key", "rotate");
  await cut.kill();
  const again = await runGw(quickly(world), "key", "rotate");

  assert.match(meanwhile.complaint, /A rotation is under way already/);
  assert.match(again.complaint, /Going on with the rotation that was begun/);
  assert.equal(again.code, 0, again.complaint);
  const cards = (await listKeys(world)).filter(({ purpose }) => purpose === "cards");
  assert.equal(cards.length, 2);
  assert.equal(cards.filter(({ destroyedAt }) => destroyedAt !== null).length, 1);
});

test("after a change of the key-encryption key the old one decrypts nothing", async (t) => {
  const world = await startWorld(t);
  const sale = await world.merchant().sale();
  await world.settle();
  const parts = [join(world.dataDir, "one.part"), join(world.dataDir, "two.part")] as const;
  const split = await runGw(world, "key", "split", ...parts);
  const next = { GW_NEW_MASTER_KEY_PART_FILE_1: parts[0], GW_NEW_MASTER_KEY_PART_FILE_2: parts[1] };

  const rewrapped = await runGw({ ...world, settings: next }, "key", "rewrap");
  const withOld = await runGw(world, "key", "list");
  const settings = { GW_MASTER_KEY_PART_FILE_1: parts[1], GW_MASTER_KEY_PART_FILE_2: parts[0] };
  const withNew = await runGw({ ...world, settings }, "key", "check");
  const shown = await runGw({ ...world, settings }, "order", "show", sale["gw-order-id"]);

  assert.equal(rewrapped.code, 0, rewrapped.complaint);
  assert.match(withOld.complaint, /key-encryption key does not open this database's keys/);
  assert.equal(shown.code, 0, shown.complaint);
  const [, value = "none"] = /both together +([0-9a-f]{8})/.exec(split.printed) ?? [];
  assert.ok(rewrapped.printed.includes(value) && withNew.printed.includes(value));
  assert.match(withNew.printed, /^GW_MASTER_KEY_PART_FILE_1 and GW_MASTER_KEY_PART_FILE_2 /m);
  const ofFile = { ...world, settings: { GW_MASTER_KEY_FILE: parts[0] } };
  assert.match((await runGw(ofFile, "key", "check")).printed, /^GW_MASTER_KEY_FILE /m);
  assert.match((await runGw(world, "key", "check")).printed, /^\/.*master\.key /m);
  // The running node has its keys in memory, and continues until it is restarted.
  const returned = await world.merchant().return(sale);
  await world.settle();
  assert.equal((await world.merchant().describe(returned)).status, "approved");
  const health = await fetch(`${world.gateway.url}/health/ready`);
  const { missing } = (await health.json()) as {
    readonly missing: Readonly<Record<string, string>>;
  };
  assert.equal(health.status, 200);
  assert.match(missing["key-encryption key"] ?? "", /restart this node/);
});

testInLongRun("workers are handed a key that only their parent was given", async (t) => {
  const world = await startWorld(t);
  const folder = world.dataDir;
  const key = "3".repeat(64);
  const settings = {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_DATABASE_URL: await makeDatabase(),
    GW_DATA_DIR: join(folder, "workers"),
    GW_PORT: "0",
    GW_WORKERS: "2",
    GW_MASTER_KEY: key,
    GW_ALLOW: "local-audit",
  };
  await migrateFirst(settings);
  const gateway = startProgram([gw, "start"], settings);
  atEnd(t, () => gateway.stop());

  await until("it listens", () => {
    assert.ok(gateway.isRunning, gateway.output);
    return gateway.output.includes("Tollgate listens on") || undefined;
  });

  assert.ok(!gateway.output.includes(key));
});

function quickly(world: World) {
  return { ...world, settings: { GW_KEY_GRACE_S: "1" } };
}

async function listKeys(world: World): Promise<readonly Listed[]> {
  // The output of the command has this type.
  return (await readGw(world, "key", "list")) as Listed[];
}

type Merchant = ReturnType<World["merchant"]>;

/** Pays repeatedly at every node. The first failing sale ends the test. */
function startPaying(merchants: readonly Merchant[]) {
  const paid: Acknowledged[] = [];
  let finishing = false;
  const paying = Promise.all(
    merchants
      .flatMap((merchant) => [merchant, merchant, merchant])
      .map(async (merchant) => {
        while (!finishing) paid.push(await merchant.sale());
      }),
  );
  paying.catch(() => undefined);
  return {
    paid,
    async finish() {
      finishing = true;
      await paying;
    },
  };
}

const tables = ["vault.cards", "vault.keys", "vault.held_secrets", "vault.held_keys"];

test("a node accepts and refunds payments with a login that cannot read the vault", async (t) => {
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
  const { vault: ofCell } = world.installation.openCell({ name: "second", url: undefined });
  assert.equal((await ofCell.query("select from cards")).length, 1);
  await ofCell.close();
  const doctor = await runGw(world, "doctor");
  assert.match(doctor.printed, /good +vault: its tables are closed/);
});

test("a node replaces the key of pending card data and frees its space, with its own rights", async (t) => {
  const world = await startWorld(t, { GW_KEY_GRACE_S: "1" });
  const age = (column: string) =>
    world.readRows(`update vault.keys set ${column} = now() - interval '25 hours'
      where purpose = 'held' and ${column} is not null and destroyed_at is null`);
  await world.readRows(`insert into vault.held_keys (context, key_id, sealed, expires_at)
    values ('1/1', 1, 'x', now() - interval '1 hour')`);
  await age("created_at");

  await world.gateway.cleanUp();
  await age("retired_at");
  await world.gateway.cleanUp();

  const held = (await listKeys(world)).filter(({ purpose }) => purpose === "held");
  assert.deepEqual(
    held.map(({ destroyedAt }) => destroyedAt !== null),
    [true, false],
  );
  const [size] = await world.readRows("select pg_relation_size('vault.held_keys') as bytes");
  assert.deepEqual(size, { bytes: "0" });
});

testInLongRun(
  "a login without the right to make roles works, with advice what to do",
  async (t) => {
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
  },
);

/** Makes a database like an operator's, whose owner has no other rights. */
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
