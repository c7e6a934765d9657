/**
 * Migrations: numbered SQL files, forward only. The files in `main/` make what an installation has
 * once, those in `cell/` the tables of each cell. A file begins with declarations (decision 0038):
 * which older gateways may run beside it, whether it runs in a transaction, what it locks.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Problem } from "../values/problem.ts";
import { systemClock } from "../values/time.ts";
import type { Database, Query } from "./database.ts";
import { makePartitions } from "./partitions.ts";

type Report = (progress: string) => void;

/** Called with what is missing in the schema; answers with the reason not to apply it. */
export type Approve = (missing: readonly Migration[]) => Promise<Problem | undefined>;

export type Migration = {
  /** With its folder. */
  readonly path: string;
  readonly name: string;
  readonly sql: string;
  /** The migration that an older gateway must know to run beside this one, by number; or `no`. */
  readonly compatibleFrom: string | undefined;
  /** A file outside of a transaction must be repeatable: it may fail between its statements. */
  readonly inTransaction: boolean;
  /** For the operator: what is locked, and for how long. */
  readonly locks: string;
};

const folder = join(import.meta.dirname, "migrations");
const lockNumber = 8_583_001;

export const approveAll: Approve = async () => undefined;

/** For production: only `gw migrate` changes the schema. */
export const refuseOlder: Approve = async ([first]) =>
  new Problem(
    `The database's schema is older than this version of Tollgate (it lacks ${first?.path}): ` +
      "run `gw migrate`.",
  );

type Place = {
  readonly folder: string;
  /** Where the names of applied files stand. */
  readonly table: string;
  readonly schema?: string;
  /** A file that counts as applied. */
  readonly assumed?: string;
  /** For the schema of an earlier version. */
  readonly only?: readonly string[];
};

const main: Place = { folder: "main", table: "migrations" };
const cell: Place = { folder: "cell", table: "cell_migrations" };

/** The main database with the first cell, whose tables the files of `main/` have made. */
export async function migrate(
  database: Database,
  report: Report,
  approve = approveAll,
): Promise<Problem | undefined> {
  const places = [main, { ...cell, assumed: "0001-tables.sql" }];
  const problem = await update(database, places, report, approve);
  if (problem === undefined) await makePartitions(database, systemClock.now());
  return problem;
}

/** Another cell: the connections' search_path is its schema, which is made if it is missing. */
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

/** A name that this version has no file for. */
export async function findUnknownMigration(main: readonly string[], cells: readonly string[]) {
  const unknownIn = async (folderName: string, names: readonly string[]) => {
    const known = new Set((await readMigrations(folderName)).map(({ name }) => name));
    // Marks beside which older nodes do not start are no files.
    return names.find((name) => !known.has(name) && !name.startsWith("0000-"));
  };
  return (await unknownIn("main", main)) ?? (await unknownIn("cell", cells));
}

/** The schema that another version had: for rows that were copied from it. */
export async function migrateTo(
  database: Database,
  names: { readonly main: readonly string[]; readonly cell: readonly string[] },
): Promise<Problem | undefined> {
  const places = [
    { ...main, only: names.main },
    { ...cell, only: names.cell, assumed: "0001-tables.sql" },
  ];
  return update(database, places, () => undefined, approveAll);
}

/** The same for another cell. */
export async function migrateCellTo(database: Database, schema: string, only: readonly string[]) {
  return update(database, [{ ...cell, schema, only }], () => undefined, approveAll);
}

/** For commands that only look: they change no schema. */
export async function refuseOlderSchema(query: Query): Promise<Problem | undefined> {
  const missing = await findMissing(query, main);
  if (missing instanceof Problem) return missing;
  return missing.length === 0 ? undefined : refuseOlder(missing);
}

async function update(
  database: Database,
  places: readonly Place[],
  report: Report,
  approve: Approve,
): Promise<Problem | undefined> {
  const missing: Migration[] = [];
  for (const place of places) {
    const found = await findMissing(database.query, place);
    if (found instanceof Problem) return found;
    missing.push(...found);
  }
  if (missing.length === 0) return undefined;
  const refusal = await approve(missing);
  if (refusal !== undefined) return refusal;
  // Held by a connection: a file outside of a transaction has no other way to keep a lock.
  const holder = await database.connect();
  try {
    await holder.query("select pg_advisory_lock($1)", [lockNumber]);
    for (const place of places) {
      await makeTable(database, place);
      // Another process may have applied them while this one waited.
      const found = await findMissing(database.query, place);
      if (found instanceof Problem) return found;
      for (const migration of found) await applyOne(database, place, migration, report);
    }
    return undefined;
  } finally {
    await holder.end();
  }
}

export async function readMigrations(place: string): Promise<readonly Migration[]> {
  const files = await readdir(join(folder, place));
  const names = files.filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const path = join(place, name);
      const sql = await readFile(join(folder, path), "utf8");
      const declared = (word: string) =>
        new RegExp(`^-- ${word}: (.+)$`, "m").exec(sql)?.[1]?.trim();
      return {
        ...{ path, name, sql },
        compatibleFrom: declared("compatible-from"),
        inTransaction: declared("transaction") !== "none",
        locks: declared("locks") ?? "the tables that it changes, until it is done",
      };
    }),
  );
}

type Applied = { readonly name: string; readonly compatible_from: string | null };

/** The files to apply; a problem when a newer version has made this schema incompatible. */
async function findMissing(query: Query, place: Place) {
  const files = await readMigrations(place.folder);
  const table = place.schema === undefined ? place.table : `${place.schema}.${place.table}`;
  const [found] = await query<{ found: boolean }>("select to_regclass($1) is not null as found", [
    table,
  ]);
  const applied =
    found?.found === true
      ? // The column is younger than the table.
        await query<Applied>(
          `select name, to_jsonb(${place.table}) ->> 'compatible_from' as compatible_from
           from ${table} order by name`,
        )
      : [];
  const known = new Set(files.map(({ name }) => name));
  const newest = files.at(-1)?.name ?? "";
  const breaking = applied.find(
    ({ name, compatible_from: from }) => !known.has(name) && (from === null || from > newest),
  );
  if (breaking !== undefined) {
    return new Problem(
      `The database was made by a newer version of Tollgate (it has ${breaking.name}), beside ` +
        "which this version cannot run: start that version, or set GW_DATA_DIR or " +
        "GW_DATABASE_URL to another database.",
    );
  }
  const names = new Set(applied.map(({ name }) => name));
  const { only } = place;
  return files.filter(({ name }) => !names.has(name) && (only?.includes(name) ?? true));
}

function makeTable(database: Database, { table, schema }: Place): Promise<void> {
  return database.transaction(async (query) => {
    if (schema !== undefined) await query(`create schema if not exists ${schema}`);
    await query(
      `create table if not exists ${table} (
         name text primary key, applied_at timestamptz not null default now())`,
    );
    await query(`alter table ${table} add column if not exists compatible_from text`);
  });
}

export async function applyOne(
  database: Database,
  { table, assumed }: Pick<Place, "table" | "assumed">,
  { name, path, sql, compatibleFrom, inTransaction }: Migration,
  report: Report,
  locking = usualLocking,
): Promise<void> {
  const isRun = name !== assumed;
  const record = (query: Query) =>
    query(`insert into ${table} (name, compatible_from) values ($1, $2)`, [name, compatibleFrom]);
  if (isRun) report(`Applying ${path}`);
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
      // One by one: Citus forwards the text of some statements, and takes no second one in it.
      for (const statement of isRun ? statementsOf(sql) : []) await query(statement);
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

/** While a migration waits for a lock, orders wait behind it: so it gives up, and tries again. */
const usualLocking = { waitMs: 2_000, gapMs: 1_000, tries: 30 };
const lockNotAvailable = "55P03";

function asError(error: unknown): Error & { readonly code?: unknown } {
  return error instanceof Error ? error : new Error(String(error));
}

/** Each ends with a semicolon at the end of a line; those between two `$$` belong to a block. */
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

/** The making of a large index takes long, and reports how far it is. */
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
