/**
 * A backup of a real database is read into another one, with every row, sequence and partition. A
 * forger who knows the public key can write a backup too, but it is refused as a whole, because
 * only the installation has the key-encryption key.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import type { Manifest, Part } from "../../backup/archive.ts";
import { readBackup, writeBackup } from "../../backup/backup.ts";
import { asMerchantId } from "../../values/ids.ts";
import { Secret } from "../../values/secret.ts";
import { monthStart, systemClock } from "../../values/time.ts";
import { openKeys, WrongMasterKey } from "../../vault/keys.ts";
import { makeVault } from "../../vault/vault.ts";
import { makeKeyStore, takeRotationLock } from "../cards/vault-keys.ts";
import { type Cells, makeCells } from "../cells/cells.ts";
import { moveMerchant } from "../cells/move-merchant.ts";
import { makeAudit, openSigner, type Signer } from "../people/audit.ts";
import { dropPartitions, listPartitions, makePartitions } from "../schema/partitions.ts";
import { type Database, openDatabase } from "../server/database.ts";
import { type DatabaseForTests, startDatabase, startEmpty } from "../testing/database-for-tests.ts";
import { fill } from "../testing/stored-rows.ts";
import { findHold } from "./installation-hold.ts";
import { findUsage, markRehearsal } from "./rehearsal.ts";
import { openRestoreTarget, refuseFilled } from "./restore-target.ts";
import { openPicture } from "./snapshots.ts";
import { listCopiedTables } from "./table-copies.ts";

const masterKey = randomBytes(32);
const now = systemClock.now();
let source: DatabaseForTests;
let other: Database;
let target: Database;
let targetUrl: string;
let stopTarget: () => Promise<unknown>;
let signer: Signer;
let parts: readonly Part[];

before(async () => {
  source = await startDatabase();
  other = await source.addCell("cell_other");
  const { query } = source.database;
  await query("insert into cells (name) values ('other')");
  const vault = await openVaultOver(source.database, masterKey);
  signer = await openSigner(query, vault);
  await makeAudit(source.database, {
    actor: { who: "a test", from: "here" },
    signer,
  }).write({ action: "test", subject: "a backup" });
  await markRehearsal(source.audit);
  const key = vault.sealSecret(new Secret("a control key"), "control-key/a");
  await query(`insert into merchants (id, login, name, control_key) values (101, 'a', 'A', $1)`, [
    key,
  ]);
  await query("insert into merchants (id, login, name, control_key) values (102, 'b', 'B', $1)", [
    key,
  ]);
  await makePartitions(source.database, monthStart(now, 5));
  await fill(source.database, 101, 50);
  await fill(other, 102, 20);
  await query("select nextval('order_sequence')");
  const empty = await startEmpty();
  stopTarget = empty.stop;
  targetUrl = empty.url;
  target = openDatabase(targetUrl, limits);
  // A database with an extension, which an administrator may have added, counts as empty.
  await target.query("create extension pg_stat_statements");
  parts = await takeBackup();
});

after(async () => {
  await target.close();
  await stopTarget();
  await source.stop();
});

const limits = { poolSize: 4, connectTimeoutMs: 5000, onLost: () => undefined };

test("no key of pending card data is in a backup", () => {
  const names = parts.map(({ name }) => name).join("\n");

  assert.match(names, /main\/vault\.cards\/000001/);
  assert.doesNotMatch(names, /held_keys|cvv_keys/);
});

// biome-ignore format: a table
const forgeries: readonly (readonly [string, (given: readonly Part[], older: readonly Part[]) => readonly Part[]])[] = [
  ["a row was added",              (given) => change(given, /vault\.cards/, (text) => `${text}${text.split("\n")[0]?.replace(/^\S+/, "1")}\n`)],
  ["a value was changed",          (given) => change(given, /merchants/, (text) => text.replace("\tA\t", "\tEvil\t"))],
  ["a part is missing",            (given) => given.filter(({ name }) => !/order_history/.test(name))],
  ["a part is there twice",        (given) => given.flatMap((part) => (/merchants/.test(part.name) ? [part, part] : [part]))],
  ["two parts are swapped",        (given) => given.toSpliced(1, 2, ...given.slice(1, 3).reverse())],
  ["a part has another name",      (given) => given.map((part) => (/merchants/.test(part.name) ? { ...part, name: "../../etc/passwd" } : part))],
  ["a table is unknown",           (given) => change(given, /contents/, (text) => text.replaceAll('"merchants"', '"pg_authid"'))],
  ["a column is a statement",      (given) => change(given, /contents/, (text) => text.replace('"control_key"', '"x) from stdin; drop table audit; --"'))],
  ["a cell is a path",             (given) => change(given, /contents/, (text) => text.replace('"cell":"other"', '"cell":"../x"'))],
  ["the manifest was replaced",    (given) => change(given, /manifest/, (text) => withRows(text))],
  ["the manifest is of an older one", (given, older) => given.map((part) => older.find(({ name }) => name === part.name && /manifest|signature/.test(name)) ?? part)],
  ["a table is of an older one",   (given, older) => given.map((part) => older.find(({ name }) => name === part.name && /audit_head/.test(name)) ?? part)],
  ["there is no signature",        (given) => given.slice(0, -1)],
  ["there is more behind it",      (given) => [...given, { name: "more", content: Buffer.from("x") }]],
  ["it is of another format",      (given) => change(given, /contents/, (text) => text.replace('"format":1', '"format":2'))],
  ["it is of a newer version",     (given) => change(given, /contents/, (text) => text.replace("0001-schema.sql", "9999-future.sql"))],
];

test("a forged backup is refused, and none of it is stored", async (t) => {
  const older = parts;
  await source.audit.write({ action: "test", subject: "between two backups" });
  parts = await takeBackup();

  for (const [name, forge] of forgeries) {
    await t.test(name, async () => {
      await assert.rejects(load(forge(parts, older)), (error: Error) => {
        // Some of the rows are refused by PostgreSQL itself.
        const refusals = ["BadArchive", "NotRestorable", "DatabaseError"];
        assert.ok(refusals.includes(error.constructor.name), String(error));
        return true;
      });
      assert.equal(await refuseFilled(target.query), undefined, "rows were committed");
    });
  }
  await t.test("a backup that a stranger has signed with keys of its own", async () => {
    await assert.rejects(load(parts, randomBytes(32)), WrongMasterKey);
    assert.equal(await refuseFilled(target.query), undefined);
  });
});

test("every row, sequence and partition is in the restored database, which is on hold", async () => {
  await load(parts);

  const tables = await listCopiedTables(source.database.query, schemas);
  for (const { schema, name } of tables) {
    if (name === "installation_hold" || name === "migrations") continue;
    const digest = `select count(*), md5(string_agg(each::text, '|' order by each::text)) as rows
      from "${schema}"."${name}" as each`;
    assert.deepEqual(await target.query(digest), await source.database.query(digest), name);
  }
  const sequences = "select sequencename, last_value from pg_sequences order by 1";
  assert.deepEqual(await target.query(sequences), await source.database.query(sequences));
  const months = async ({ query }: Database) => (await listPartitions(query)).map((p) => p.name);
  assert.deepEqual((await months(target)).sort(), (await months(source.database)).sort());
  const cell = openDatabase(targetUrl, { ...limits, searchPath: "cell_other" });
  assert.deepEqual((await months(cell)).sort(), (await months(other)).sort());
  await cell.close();
  assert.equal((await findHold(target.query))?.why, "restored in a test");
  assert.equal((await findUsage(target.query)).isMarked, true);
  assert.match((await refuseFilled(target.query))?.sentence ?? "", /not empty/);
});

test("nothing waits for a backup: partitions are dropped after it, and a second backup is refused", async () => {
  const picture = await openPicture(source.database, cells());
  // The first partition contains everything up to the end of this month.
  const old = monthStart(now, 1);

  const during = await dropPartitions(source.database, "order_history", old);
  await assert.rejects(openPicture(source.database, cells()), /Another backup is running/);
  const lock = await takeRotationLock(source.database);
  assert.ok(lock !== undefined, "a rotation has to wait");
  await lock.release();
  await picture.close();
  const later = await dropPartitions(source.database, "order_history", old);

  assert.deepEqual(during, []);
  assert.ok(later.length > 0);
});

test("a snapshot between two steps of a merchant's move has all of its rows in one cell", async () => {
  const rows = async ({ query }: Pick<Database, "query">, schema: string) =>
    (await query(`select from ${schema}.orders where merchant_id = 101`)).length;
  const places = { main: source.database, cells: cells() };
  let steps = 0;
  const taken: (readonly [string, number])[] = [];
  const report = async () => {
    steps += 1;
  };
  const picture = await openPicture(source.database, cells());
  await moveMerchant(places, asMerchantId("101"), "other", () => void report());
  const [main] = picture.places;
  const query: Database["query"] = async (text) => (await main?.client.query(text))?.rows as never;
  const [row] = await query<{ cell: string }>("select cell from public.merchants where id = 101");
  taken.push([row?.cell ?? "", await rows({ query }, "public")]);
  await picture.close();

  assert.ok(steps > 0);
  assert.deepEqual(taken, [["main", 50]]);
  assert.equal(await rows(source.database, "cell_other"), 50);
});

test("cells on servers of their own are not backed up during a rotation", async () => {
  const places = cells([{ name: "main" }, { name: "other", url: new Secret(source.url) }]);
  const lock = await takeRotationLock(source.database);

  await assert.rejects(openPicture(source.database, places), /run the backup after it/);
  await lock?.release();
  const picture = await openPicture(source.database, places);

  assert.deepEqual(
    picture.places.map(({ cell }) => cell),
    ["main", "other"],
  );
  assert.notEqual(picture.places[0]?.client, picture.places[1]?.client);
  await picture.close();
});

const schemas = ["public", "vault", "cell_other"];

function cells(places: ReturnType<Cells["places"]> = [{ name: "main" }, { name: "other" }]) {
  const made = makeCells({
    main: { node: source.database, vault: source.database },
    open: () => ({ node: other, vault: other }),
    waitMs: 100,
    onFailed: () => undefined,
  });
  const map = { cells: places, cellOf: new Map() };
  made.follow({ current: () => map, reload: async () => undefined });
  return made;
}

async function takeBackup(): Promise<readonly Part[]> {
  const picture = await openPicture(source.database, cells());
  const taken: Part[] = [];
  const options = { signer, report: () => undefined, onRead: () => undefined };
  for await (const part of writeBackup(picture, options)) taken.push(part);
  await picture.close();
  return taken;
}

async function load(given: readonly Part[], key: Uint8Array = masterKey): Promise<void> {
  const restoring = await openRestoreTarget({
    database: target,
    rehearsal: true,
    openSchema: (name) => openDatabase(targetUrl, { ...limits, searchPath: `cell_${name}` }),
    openSecrets: async (query) =>
      makeVault(await openKeys(key, makeKeyStore(query)), async () => undefined).openSecret,
  });
  try {
    await readBackup(each(given), { target: restoring, report: () => undefined });
    await restoring.commit("restored in a test");
  } finally {
    await restoring.close();
  }
}

async function openVaultOver({ query }: Database, key: Uint8Array) {
  return makeVault(await openKeys(key, makeKeyStore(query)), async () => undefined);
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

function change(given: readonly Part[], which: RegExp, edit: (text: string) => string) {
  const at = given.findIndex(({ name }) => which.test(name));
  const part = given[at];
  assert.ok(part !== undefined);
  const text = edit(part.content.toString());
  assert.notEqual(text, part.content.toString(), "nothing was forged");
  return given.with(at, { ...part, content: Buffer.from(text) });
}

function withRows(text: string): string {
  const manifest: Manifest = JSON.parse(text);
  return JSON.stringify({ ...manifest, audit: { ...manifest.audit, seq: 99 } });
}
