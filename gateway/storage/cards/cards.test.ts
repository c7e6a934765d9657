/**
 * Pending card data in a real database: it can be read until it is destroyed or has expired, and
 * never from a backup, even with all keys.
 */
import assert from "node:assert/strict";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type Installation, openInstallation } from "../../installation/installation.ts";
import { CardNumber } from "../../values/card-number.ts";
import { asCardId, asMerchantId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant, later } from "../../values/time.ts";
import { openKeys } from "../../vault/keys.ts";
import { makePendingCards, makeVault, type PendingCards } from "../../vault/vault.ts";
import { startEmpty } from "../testing/database-for-tests.ts";
import { makeFindSealedCard, makePendingCardStore, vacuumPendingCards } from "./cards.ts";
import { makeKeyStore } from "./vault-keys.ts";

const number = new CardNumber("4000001000000018");
const card = { number, expiryYear: "31", expiryMonth: "12", cvv: new Secret("739") };
const [merchant, order] = [asMerchantId("101"), asCardId("7")];
const context = `${merchant}/${order}`;
const now = asInstant(1_800_000_000_000);
const tomorrow = later(now, 86_400_000);
const folders: string[] = [];

// The folders are removed after all databases in them have stopped.
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

test("pending card data can be read until its row and key are destroyed", async (t) => {
  const { pending, installation } = await openShared(t);
  await pending.store(context, card, later(now, 1000));
  await pending.store("101/8", { ...card, cvv: undefined }, later(now, 5000));

  const taken = await pending.find(context, now);
  const bare = await pending.find("101/8", now);
  await pending.destroy(context);

  assert.equal(taken?.number.reveal(), "4000001000000018");
  assert.equal(taken?.cvv?.reveal(), "739");
  assert.equal(bare?.cvv, undefined);
  assert.equal(await pending.find(context, now), undefined);
  assert.deepEqual(await countPending(installation), { keys: 1, secrets: 1 });
});

test("the pages of destroyed pending card data leave the files of its tables", {
  timeout: 60_000,
}, async (t) => {
  const { pending, installation } = await openShared(t);
  const { query } = installation.database;
  const vault = installation.cells.databasesOf("main").vault;
  const sizes = () =>
    query(
      "select pg_relation_size('held_keys') as keys, pg_relation_size('held_secrets') as cards",
    );
  await pending.store(context, card, later(now, 1000));
  await pending.destroy(context);
  await pending.destroyExpired(tomorrow);
  assert.notDeepEqual(await sizes(), [{ keys: "0", cards: "0" }]);

  // A page stays while another process writes it to the disk or can still see its rows.
  while (!isDeepStrictEqual(await sizes(), [{ keys: "0", cards: "0" }])) {
    await vacuumPendingCards(vault);
  }
});

test("pending card data does not outlive its deadline", async (t) => {
  const { pending, installation } = await openShared(t);
  await pending.store(context, card, later(now, 1000));
  await pending.store("101/8", card, later(now, 5000));

  assert.equal(await pending.find(context, later(now, 1000)), undefined);
  assert.equal(await pending.destroyExpired(later(now, 1000)), 1);
  assert.deepEqual(await countPending(installation), { keys: 1, secrets: 1 });
  assert.notEqual(await pending.find("101/8", later(now, 1000)), undefined);
});

test("pending card data without its key, or at another's place, does not open", async (t) => {
  const { pending, installation } = await openShared(t);
  await pending.store(context, card, tomorrow);
  await pending.store("101/8", card, tomorrow);
  const { query } = installation.database;

  await query("update vault.held_secrets set context = '101/9' where context = $1", [context]);
  await query("update vault.held_keys set context = '101/9' where context = $1", [context]);
  await query("delete from vault.held_keys where context = '101/8'");

  await assert.rejects(pending.find("101/9", now));
  assert.equal(await pending.find("101/8", now), undefined);
});

test("yesterday's backup of the running database does not open what was pending", async (t) => {
  const folder = await makeFolder();
  const { pending, installation, keep, reveal } = await open(t, folder);
  await keep();
  await pending.store(context, card, tomorrow);
  const traces = await tracesOf(installation);
  await installation.database.query("checkpoint");

  const backup = await backUpRunning(folder, installation);
  assert.notEqual(await pending.find(context, now), undefined, "it was there at the time");
  const restored = await open(t, backup);

  assert.equal((await restored.reveal())?.number.reveal(), (await reveal())?.number.reveal());
  assert.equal(await restored.pending.find(context, now), undefined);
  assert.deepEqual(await countPending(restored.installation), { keys: 0, secrets: 0 });
  assert.deepEqual(await findTraces(backup, traces), []);
});

test("a copy of the stopped data folder does not open what was pending", async (t) => {
  const folder = await makeFolder();
  const { pending, installation, keep } = await open(t, folder);
  await keep();
  await pending.store(context, card, tomorrow);
  const traces = await tracesOf(installation);

  await installation.close();
  const backup = await makeFolder();
  await cp(folder, backup, { recursive: true });
  const inFiles = await findTraces(backup, traces);
  const restored = await open(t, backup);

  assert.equal((await restored.reveal())?.number.reveal(), number.reveal());
  assert.equal(await restored.pending.find(context, now), undefined);
  assert.deepEqual(inFiles, []);
});

type Opened = {
  readonly installation: Installation;
  readonly pending: PendingCards;
  /** Stores an ordinary card, which shows later that a backup was really restored. */
  keep(): Promise<void>;
  reveal(): Promise<{ readonly number: CardNumber } | undefined>;
};

/** Opens a database for a test that looks at no file of it. */
async function openShared(t: TestContext): Promise<Opened> {
  const { url, stop } = await startEmpty("tables");
  const opened = await open(t, await makeFolder(), { GW_DATABASE_URL: url });
  t.after(stop);
  return opened;
}

/** Opens an installation as the gateway does, with the key-encryption key in the data folder. */
async function open(t: TestContext, dataDir: string, more: object = {}): Promise<Opened> {
  const environment = { GW_DATA_DIR: dataDir, ...more };
  const installation = await openInstallation({
    environment,
    report: () => undefined,
    besideOthers: false,
  });
  if (installation instanceof Problem) throw new Error(installation.sentence);
  t.after(() => installation.close());
  const { query } = installation.database;
  const keys = await openKeys(installation.masterKey, makeKeyStore(query));
  const vault = makeVault(keys, makeFindSealedCard(query));
  return {
    installation,
    pending: makePendingCards(keys, makePendingCardStore(query)),
    async keep() {
      const { fingerprint } = vault.fingerprint(merchant, number);
      const { keyId, sealed } = vault.seal(merchant, order, { ...card, fingerprint });
      await query(
        `insert into vault.cards (merchant_id, id, key_id, sealed, fingerprint)
         values ($1, $2, $3, $4, $5)`,
        [merchant, order, keyId, sealed, fingerprint],
      );
    },
    reveal: () => vault.findCard(merchant, order),
  };
}

/** Copies the files of a running database with PostgreSQL's own tool. */
async function backUpRunning(folder: string, { database }: Installation) {
  const backup = await makeFolder();
  const client = await database.connect();
  await client.query("select pg_backup_start('test', true)");
  for (const each of ["postgres", "postgres.password", "keys"]) {
    await cp(join(folder, each), join(backup, each), { recursive: true });
  }
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  const wal = join("postgres", "pg_wal");
  await rm(join(backup, wal), { recursive: true });
  await cp(join(folder, wal), join(backup, wal), { recursive: true });
  await writeFile(join(backup, "postgres", "backup_label"), rows[0].labelfile);
  await rm(join(backup, "postgres", "postmaster.pid"), { force: true });
  return backup;
}

async function countPending({ database }: Installation) {
  const [row] = await database.query<{ keys: number; secrets: number }>(
    `select (select count(*)::int from vault.held_keys) as keys,
       (select count(*)::int from vault.held_secrets) as secrets`,
  );
  return row;
}

/** Returns the bytes that an attacker would need, as a file would contain them. */
async function tracesOf({ database }: Installation): Promise<readonly Buffer[]> {
  const rows = await database.query<{ sealed: Buffer }>(
    "select sealed from vault.held_keys union all select sealed from vault.held_secrets",
  );
  return rows.map(({ sealed }) => sealed);
}

async function findTraces(folder: string, traces: readonly Buffer[]): Promise<readonly string[]> {
  assert.equal(traces.length, 2);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const bytes = await readFile(join(entry.parentPath, entry.name));
    if (traces.some((trace) => bytes.includes(trace))) found.push(entry.name);
  }
  return found;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-pending-"));
  await chmod(folder, 0o711);
  await mkdir(join(folder, "keys"));
  folders.push(folder);
  return folder;
}
