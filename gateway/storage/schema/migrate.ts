/**
 * The schema of the database and its migrations. `main.sql` makes the tables that an installation
 * has once, and `cell.sql` those of each cell. Numbered files bring an existing database to the
 * same state, and are never reverted. Each declares which running nodes may continue during the
 * migration, whether it runs in a transaction, and what it locks (decision 0038).
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Problem } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import type { Database, Query } from "../server/database.ts";
import { makePartitions } from "./partitions.ts";

type Report = (progress: string) => void;

/** Returns a problem if the missing migrations may not be applied now. */
export type Approve = (missing: readonly Migration[]) => Promise<Problem | undefined>;

export type Migration = {
  readonly path: string;
  /** The name of the file without `main-` or `cell-`. */
  readonly name: string;
  readonly sql: string;
  /** Nodes that know the migration named here may run during this one. With `no`, none may. */
  readonly compatibleFrom: string | undefined;
  /** Without a transaction, the migration may fail halfway, and must be possible to run again. */
  readonly inTransaction: boolean;
  /** The tables that the migration locks, and for how long, as a text for the operator. */
  readonly locks: string;
  /** The migrations that a new database's schema contains, so that they are not applied to it. */
  readonly contains?: readonly Migration[];
};

const ownFolder = import.meta.dirname;
/**
 * The name that stands for the first release's schema in the list of applied migrations. If there
 * are migrations, the file of this name contains a copy of that schema.
 */
const firstName = "0001-schema.sql";
const lockNumber = 8_583_001;

export const approveAll: Approve = async () => undefined;

/** Refuses an older schema, because in production only `gw migrate` changes the schema. */
export const refuseOlder: Approve = async ([first]) =>
  new Problem(
    `The database's schema is older than this version of Tollgate (it lacks ${first?.path}): ` +
      "run `gw migrate`.",
  );

type Kind = "main" | "cell";

type MigrationTarget = {
  readonly kind: Kind;
  readonly table: string;
  readonly schema?: string;
  /** Applies only these migrations, to make the schema of another version of the gateway. */
  readonly only?: readonly string[];
  readonly folder?: string;
};

const main: MigrationTarget = { kind: "main", table: "migrations" };
const cell: MigrationTarget = { kind: "cell", table: "cell_migrations" };

export async function migrate(
  database: Database,
  report: Report,
  approve = approveAll,
  folder = ownFolder,
): Promise<Problem | undefined> {
  const targets = [
    { ...main, folder },
    { ...cell, folder },
  ];
  const problem = await update(database, targets, report, approve);
  if (problem === undefined) await makePartitions(database, systemClock.now());
  return problem;
}

/** Migrates an additional cell, and makes its schema if the schema is missing. */
export async function migrateCell(
  database: Database,
  schema: string,
  report: Report,
  approve = approveAll,
): Promise<Problem | undefined> {
  const problem = await update(database, [{ ...cell, schema }], report, approve);
  if (problem === undefined) await makePartitions(database, systemClock.now());
  return problem;
}

/** Returns the first name of an applied migration for which this version has no file. */
export async function findUnknownMigration(main: readonly string[], cells: readonly string[]) {
  const unknownIn = async (kind: Kind, names: readonly string[]) => {
    const known = new Set((await readMigrations(kind)).map(({ name }) => name));
    return names.find((name) => !known.has(name) && !isMark(name));
  };
  return (await unknownIn("main", main)) ?? (await unknownIn("cell", cells));
}

/** Brings an empty database to another version's schema, before its backup is restored. */
export async function migrateTo(
  database: Database,
  names: { readonly main: readonly string[]; readonly cell: readonly string[] },
  folder = ownFolder,
): Promise<Problem | undefined> {
  const targets = [
    { ...main, only: names.main, folder },
    { ...cell, only: names.cell, folder },
  ];
  return update(database, targets, () => undefined, approveAll);
}

export async function migrateCellTo(database: Database, schema: string, only: readonly string[]) {
  return update(database, [{ ...cell, schema, only }], () => undefined, approveAll);
}

/** Commands that only read refuse a schema that is older than this version of the gateway. */
export async function refuseOlderSchema(query: Query): Promise<Problem | undefined> {
  const missing = await findMissing(query, main);
  if (missing instanceof Problem) return missing;
  return missing.length === 0 ? undefined : refuseOlder(missing);
}

async function update(
  database: Database,
  targets: readonly MigrationTarget[],
  report: Report,
  approve: Approve,
): Promise<Problem | undefined> {
  const missing: Migration[] = [];
  for (const target of targets) {
    const found = await findMissing(database.query, target);
    if (found instanceof Problem) return found;
    missing.push(...found);
  }
  if (missing.length === 0) return undefined;
  const refusal = await approve(missing);
  if (refusal !== undefined) return refusal;
  // One connection holds the lock until all migrations are applied. A transaction's lock would end
  // with the transaction, and some migrations run outside of one.
  const holder = await database.connect();
  try {
    await holder.query("select pg_advisory_lock($1)", [lockNumber]);
    for (const target of targets) {
      await makeTable(database, target);
      // Another process may have applied migrations while this one waited for the lock.
      const found = await findMissing(database.query, target);
      if (found instanceof Problem) return found;
      for (const migration of found) await applyOne(database, target, migration, report);
    }
    return undefined;
  } finally {
    await holder.end();
  }
}

export async function readMigrations(
  kind: Kind,
  folder = ownFolder,
): Promise<readonly Migration[]> {
  const numbered = new RegExp(`^${kind}-(\\d{4}-.+\\.sql)$`);
  const found = (await readdir(folder)).sort().flatMap((file) => {
    const name = numbered.exec(file)?.[1];
    return name === undefined ? [] : [{ file, name }];
  });
  const [first] = found;
  if (first?.name === firstName) return Promise.all(found.map((each) => read(folder, each)));
  if (first !== undefined) throw new Error(`${kind}-${firstName} is missing before ${first.file}`);
  return [await readSchema(kind, folder)];
}

function readSchema(kind: Kind, folder: string): Promise<Migration> {
  return read(folder, { file: `${kind}.sql`, name: firstName });
}

type File = { readonly file: string; readonly name: string };

async function read(folder: string, { file, name }: File): Promise<Migration> {
  const sql = await readFile(join(folder, file), "utf8");
  const declared = (word: string) => new RegExp(`^-- ${word}: (.+)$`, "m").exec(sql)?.[1]?.trim();
  return {
    path: `schema/${file}`,
    name,
    sql,
    compatibleFrom: declared("compatible-from"),
    inTransaction: declared("transaction") !== "none",
    locks: declared("locks") ?? "the tables that it changes, until it is done",
  };
}

/** Returns whether the name marks a rehearsal. Names of migrations begin with 0001 or higher. */
function isMark(name: string): boolean {
  return name.startsWith("0000-");
}

type Applied = { readonly name: string; readonly compatible_from: string | null };

/** Returns the missing migrations, or a problem if this gateway cannot use a newer schema. */
async function findMissing(query: Query, { kind, schema, only, ...target }: MigrationTarget) {
  const files = await readMigrations(kind, target.folder);
  const table = schema === undefined ? target.table : `${schema}.${target.table}`;
  const [found] = await query<{ found: boolean }>("select to_regclass($1) is not null as found", [
    table,
  ]);
  const applied =
    found?.found === true
      ? await query<Applied>(`select name, compatible_from from ${table} order by name`)
      : [];
  const known = new Set(files.map(({ name }) => name));
  const newest = files.at(-1)?.name ?? "";
  const breaking = applied.find(
    ({ name, compatible_from: from }) => !known.has(name) && (from === null || from > newest),
  );
  if (breaking !== undefined) {
    return new Problem(
      `The database was made by another version of Tollgate (it has ${breaking.name}), beside ` +
        "which this version cannot run: start that version, or set GW_DATA_DIR or " +
        "GW_DATABASE_URL to another database.",
    );
  }
  const names = new Set(applied.map(({ name }) => name));
  const missing = files.filter(({ name }) => !names.has(name) && (only?.includes(name) ?? true));
  const isNew = missing.length === files.length && applied.every(({ name }) => isMark(name));
  if (!isNew) return missing;
  return [{ ...(await readSchema(kind, target.folder ?? ownFolder)), contains: files }];
}

function makeTable(database: Database, { table, schema }: MigrationTarget): Promise<void> {
  return database.transaction(async (query) => {
    if (schema !== undefined) await query(`create schema if not exists ${schema}`);
    await query(
      `create table if not exists ${table} (
         name text primary key, applied_at timestamptz not null default now(),
         compatible_from text)`,
    );
  });
}

export async function applyOne(
  database: Database,
  { table }: Pick<MigrationTarget, "table">,
  migration: Migration,
  report: Report,
  locking = usualLocking,
): Promise<void> {
  const { path, sql, inTransaction, contains = [migration] } = migration;
  const record = async (query: Query) => {
    const insert = `insert into ${table} (name, compatible_from) values ($1, $2)`;
    for (const { name, compatibleFrom } of contains) await query(insert, [name, compatibleFrom]);
  };
  report(`Applying ${path}`);
  if (!inTransaction) {
    for (const statement of statementsOf(sql)) {
      await retryLocked(() => reportIndex(database, statement, path, report));
    }
    await record(database.query);
    return;
  }
  await retryLocked(() =>
    database.transaction(async (query) => {
      await query(`set local lock_timeout = ${locking.waitMs}`);
      // Statements are sent one by one: Citus refuses two in one text if it has to forward one.
      for (const statement of statementsOf(sql)) await query(statement);
      await record(query);
    }),
  );

  async function retryLocked(run: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const error = await run().then(() => undefined, asError);
      if (error === undefined) return;
      if (error.code !== lockNotAvailable || tries === locking.tries) throw error;
      report(`${path} waits for a lock that another session holds (try ${tries})`);
      await pause(locking.gapMs);
    }
  }
}

/** Waits only briefly for a lock, because orders wait behind it, and tries again later. */
const usualLocking = { waitMs: 2_000, gapMs: 1_000, tries: 30 };
const lockNotAvailable = "55P03";

function asError(error: unknown): Error & { readonly code?: unknown } {
  return error instanceof Error ? error : new Error(String(error));
}

/** A statement ends with a semicolon at the end of a line, unless it is between two `$$`. */
export function statementsOf(sql: string): readonly string[] {
  const parts = sql.replace(/^--.*$/gm, "").split(/;\s*$/m);
  const statements = [""];
  for (const part of parts) {
    const last = statements.length - 1;
    const isInBlock = (statements[last]?.split("$$").length ?? 0) % 2 === 0;
    if (isInBlock) statements[last] += `;${part}`;
    else statements.push(part);
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}

const progressEveryMs = 5_000;

/** Reports the progress, because a large index takes long. */
async function reportIndex(
  { query }: Database,
  statement: string,
  path: string,
  report: Report,
): Promise<void> {
  const timer = setInterval(async () => {
    const [row] = await query<{ phase: string; done: number | null }>(
      `select phase, (100 * blocks_done / nullif(blocks_total, 0))::int as done
       from pg_stat_progress_create_index`,
    ).catch(() => []);
    if (row !== undefined) report(`${path}: ${row.phase}, ${row.done ?? 0} %`);
  }, progressEveryMs);
  try {
    await query(statement);
  } finally {
    clearInterval(timer);
  }
}
