/**
 * A migration that declares `compatible-from` only extends the schema: everything that a node of
 * the last release reads and writes keeps its meaning, and its statements need nothing new.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { type Database, openDatabase } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { applyOne, migrate, readMigrations } from "./migrate.ts";

const server = await startDatabase();
after(() => server.stop());

/** New unique indexes and checks that refuse no row which a node of the last release writes. */
const harmless: readonly string[] = [];

for (const folder of ["main", "cell"] as const) {
  test(`compatible migrations of ${folder} leave what older gateways use`, async (t) => {
    const database = await makeEmpty(folder, t);
    await database.query("create table applied (name text, compatible_from text)");
    for (const migration of await readMigrations(folder)) {
      const { name, compatibleFrom } = migration;
      const before = await describe(database);
      await applyOne(database, { table: "applied" }, migration, () => undefined);
      const isDeclared = compatibleFrom !== undefined && compatibleFrom !== "no";
      const faults = isDeclared ? compare(before, await describe(database)) : [];

      assert.deepEqual(faults, [], `${folder}/${name} is not compatible with older gateways`);
      assert.ok(
        name === "0001-schema.sql" || /^(\d{4}|no)$/.test(compatibleFrom ?? ""),
        `${folder}/${name} must say "-- compatible-from: <number>", or "no"`,
      );
    }
  });
}

// biome-ignore format: a table
const breaking: readonly (readonly [sql: string, fault: RegExp])[] = [
  ["drop table held",                                               /held\.id is gone/],
  ["alter table held rename column note to remark",                 /held\.note is gone/],
  ["alter table held alter column note type bytea using null",      /held\.note was text/],
  ["alter table held alter column note set not null",               /held\.note may no longer be null/],
  ["alter table held add column more text not null",                /held\.more must be given/],
  ["create unique index on held (note)",                            /held has a new unique index/],
  ["alter table held add check (note <> '')",                       /held has a new check/],
];

test("a migration that removes something is found", async (t) => {
  const database = await makeEmpty("main", t);
  for (const [sql, fault] of breaking) {
    await database.query("drop table if exists held");
    await database.query("create table held (id bigint primary key, note text)");
    const before = await describe(database);
    await database.query(sql);

    assert.match(compare(before, await describe(database)).join("\n"), fault);
  }
});

test("a schema of a newer version is accepted only if it declares itself compatible", async () => {
  const { database } = server;
  const add = (table: string, from: string | null) =>
    database.query(`insert into ${table} (name, compatible_from) values ('9999-new.sql', $1)`, [
      from,
    ]);
  for (const table of ["migrations", "cell_migrations"]) {
    for (const [from, isTaken] of [
      ["0001", true],
      ["9998", false],
      [null, false],
    ] as const) {
      await add(table, from);
      const problem = await migrate(database, () => assert.fail("nothing is applied"));
      await database.query(`delete from ${table} where name = '9999-new.sql'`);

      if (isTaken) assert.equal(problem, undefined);
      else assert.match(problem?.sentence ?? "", /another version of Tollgate \(it has 9999-new/);
    }
  }
});

const future = {
  path: "main/9999-new.sql",
  name: "9999-new.sql",
  compatibleFrom: "0001",
  locks: "",
  sql: "alter table audit add column more text",
  inTransaction: true,
};

test("a migration does not keep orders waiting behind it for a lock", async (t) => {
  const { database } = server;
  t.after(() => database.query("delete from migrations where name = '9999-new.sql'"));
  const progress: string[] = [];
  const tried = Promise.withResolvers<void>();
  const report = (line: string) => {
    progress.push(line);
    if (progress.length === 3) tried.resolve();
  };
  let applied: Promise<void> | undefined;

  await database.transaction(async (query) => {
    await query("select from audit");
    const locking = { waitMs: 20, gapMs: 1, tries: 100_000 };
    applied = applyOne(database, { table: "migrations" }, future, report, locking);
    await tried.promise;
  });
  await applied;

  assert.match(progress[1] ?? "", /9999-new.sql waits for a lock/);
  await database.query("select more from audit");
});

test("a file outside of a transaction makes its indexes concurrently", async (t) => {
  const { database } = server;
  t.after(() => database.query("delete from migrations where name = '9999-new.sql'"));
  const sql = `-- transaction: none
drop index concurrently if exists audit_at;
create index concurrently audit_at
  on audit (at);
`;

  const file = { ...future, sql, inTransaction: false };
  await applyOne(database, { table: "migrations" }, file, () => undefined);

  const valid = "select from pg_index where indexrelid = 'audit_at'::regclass and indisvalid";
  assert.equal((await database.query(valid)).length, 1);
});

type SchemaObject = { readonly name: string; readonly kind: string; readonly what: string };
type SchemaObjects = ReadonlyMap<string, SchemaObject>;

function compare(before: SchemaObjects, now: SchemaObjects): readonly string[] {
  const tables = new Set([...before.values()].map(({ name }) => name.split(".")[0]));
  const faults: string[] = [];
  for (const [key, { name, kind, what }] of before) {
    const same = now.get(key);
    if (kind !== "column") continue;
    const [type, nullable] = what.split("|");
    const [newType, newNullable] = same?.what.split("|") ?? [];
    if (same === undefined) faults.push(`${name} is gone`);
    else if (type !== newType) faults.push(`${name} was ${type}, is ${newType}`);
    else if (nullable === "null" && newNullable !== "null") {
      faults.push(`${name} may no longer be null`);
    }
  }
  for (const [key, { name, kind, what }] of now) {
    if (before.has(key) || !tables.has(name.split(".")[0])) continue;
    if (kind !== "column") faults.push(`${name} has a new ${kind} ${what}`);
    else if (what.endsWith("|given")) faults.push(`${name} must be given`);
  }
  return faults.filter((fault) => !harmless.includes(fault));
}

/** Describes columns with their types, and unique indexes and checks, which refuse rows. */
async function describe({ query }: Database): Promise<SchemaObjects> {
  const rows = await query<SchemaObject>(`
    with tables as (
      select oid, relname from pg_class
      where relkind in ('r', 'p') and not relispartition
        and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'pg_toast')
    )
    select concat_ws('.', relname, attname) as name, 'column' as kind, concat_ws('|',
      format_type(atttypid, atttypmod), case when attnotnull then 'not null' else 'null' end,
      case when attnotnull and not atthasdef and attidentity = '' then 'given' end) as what
    from tables join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
    union all
    select relname, 'unique index', substring(pg_get_indexdef(indexrelid) from '[(].*')
    from tables join pg_index on indrelid = tables.oid where indisunique
    union all
    select relname, 'check', pg_get_constraintdef(pg_constraint.oid)
    from tables join pg_constraint on conrelid = tables.oid where contype = 'c'`);
  return new Map(
    rows.map((row) => [
      row.kind === "column" ? `column ${row.name}` : `${row.kind} ${row.name} ${row.what}`,
      row,
    ]),
  );
}

async function makeEmpty(
  folder: "main" | "cell",
  t: { after(clean: () => unknown): void },
): Promise<Database> {
  const name = `empty_${randomBytes(6).toString("hex")}`;
  await server.database.query(`create database ${name}`);
  const url = server.url.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
  const options = { poolSize: 2, connectTimeoutMs: 5000, onLost: () => undefined };
  const database = openDatabase(url, { ...options, ...(folder === "cell" && { searchPath: "c" }) });
  t.after(async () => {
    await database.close();
    await server.database.query(`drop database ${name}`);
  });
  if (folder === "cell") await database.query("create schema c");
  return database;
}
