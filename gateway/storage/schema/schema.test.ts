/** New databases are made by the schema's files, older ones by migrations. Both become equal. */
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Database, openDatabase } from "../server/database.ts";
import { startEmpty } from "../testing/database-for-tests.ts";
import { describeTables } from "../testing/describe-tables.ts";
import { applyOne, approveAll, migrate, migrateTo, readMigrations } from "./migrate.ts";

const ownFolder = import.meta.dirname;

test("the schema's files make the same tables as the first release with all migrations", async (t) => {
  const made = await open(t);
  await migrate(made, () => undefined);
  const migrated = await open(t);
  await applyAll(migrated, ownFolder);

  assert.deepEqual(await describeTables(migrated), await withoutPartitions(made));
});

test("a schema file that lacks a migration is found", async (t) => {
  const folder = await makeFolder(t);
  await writeFile(join(folder, "main.sql"), await readFile(join(ownFolder, "main.sql")));
  const made = await open(t);
  await migrate(made, () => undefined, approveAll, folder);
  const migrated = await open(t);
  await applyAll(migrated, folder);

  assert.notDeepEqual(await describeTables(migrated), await withoutPartitions(made));
});

test("a new database gets the whole schema at once, which counts as every migration", async (t) => {
  const folder = await makeFolder(t);
  const database = await open(t);
  const progress: string[] = [];

  await migrate(database, (line) => progress.push(line), approveAll, folder);
  await migrate(database, () => assert.fail("nothing is left"), approveAll, folder);

  assert.deepEqual(progress, ["Applying schema/main.sql", "Applying schema/cell.sql"]);
  assert.deepEqual(await listApplied(database), ["0001-schema.sql", "0002-notes.sql"]);
  await database.query("select text from notes");
});

test("a database of the first release gets the migrations that it lacks, after approval", async (t) => {
  const folder = await makeFolder(t);
  const database = await open(t);
  await migrate(database, () => undefined);
  const progress: string[] = [];
  const planned: string[] = [];
  const approve: typeof approveAll = async (missing) => {
    planned.push(...missing.map(({ path, locks }) => `${path}: ${locks}`));
    return undefined;
  };

  await migrate(database, (line) => progress.push(line), approve, folder);

  assert.deepEqual(planned, ["schema/main-0002-notes.sql: nothing"]);
  assert.deepEqual(progress, ["Applying schema/main-0002-notes.sql"]);
  assert.deepEqual(await listApplied(database), ["0001-schema.sql", "0002-notes.sql"]);
});

test("rows of the first release are copied into its schema, which is then migrated", async (t) => {
  const folder = await makeFolder(t);
  const database = await open(t);
  const first = ["0001-schema.sql"];

  assert.equal(await migrateTo(database, { main: first, cell: first }, folder), undefined);

  assert.deepEqual(await listApplied(database), first);
  await assert.rejects(database.query("select from notes"), /does not exist/);
  await migrate(database, () => undefined, approveAll, folder);
  await database.query("select from notes");
});

/** Makes the folder of a next release: the first schema, a migration, and the schema after it. */
async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-schema-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const table = "create table notes (id bigint primary key, text text);\n";
  await cp(ownFolder, folder, { recursive: true });
  const main = await readFile(join(folder, "main.sql"), "utf8");
  await writeFile(join(folder, "main-0001-schema.sql"), main);
  const declared = "-- compatible-from: 0001\n-- locks: nothing\n";
  await writeFile(join(folder, "main-0002-notes.sql"), declared + table);
  await writeFile(join(folder, "main.sql"), main + table);
  return folder;
}

async function open(t: TestContext): Promise<Database> {
  const server = await startEmpty();
  const options = { poolSize: 2, connectTimeoutMs: 5000, onLost: () => undefined };
  const database = openDatabase(server.url, options);
  t.after(async () => {
    await database.close();
    await server.stop();
  });
  return database;
}

async function applyAll(database: Database, folder: string): Promise<void> {
  for (const [kind, table] of [
    ["main", "migrations"],
    ["cell", "cell_migrations"],
  ] as const) {
    await database.query(
      `create table ${table} (name text primary key,
         applied_at timestamptz not null default now(), compatible_from text)`,
    );
    for (const migration of await readMigrations(kind, folder)) {
      await applyOne(database, { table }, migration, () => undefined);
    }
  }
}

/** Describes the tables without monthly partitions, which are not part of the files. */
async function withoutPartitions(database: Database) {
  const rows = await describeTables(database);
  return rows.filter(({ table }) => !/_20\d\d_\d\d$/.test(table));
}

async function listApplied({ query }: Database): Promise<readonly string[]> {
  const rows = await query<{ name: string }>("select name from migrations order by name");
  return rows.map(({ name }) => name);
}
