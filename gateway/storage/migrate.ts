/**
 * Migrations: numbered SQL files, applied in order in one transaction, forward only. The files in
 * `main/` make what an installation has once, those in `cell/` the tables of each cell. A lock
 * keeps two nodes that start together from applying them both.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../values/problem.ts";
import { systemClock } from "../values/time.ts";
import type { Database, Query } from "./database.ts";
import { makePartitions } from "./partitions.ts";

type Report = (progress: string) => void;

const folder = join(import.meta.dirname, "migrations");
const lockNumber = 8_583_001;

/** The main database with the first cell, whose tables the files of `main/` have made. */
export async function migrate(database: Database, report: Report): Promise<Problem | undefined> {
  const problem = await apply(database, { folder: "main", table: "migrations" }, report);
  const cell = { folder: "cell", table: "cell_migrations", assumed: "0001-tables.sql" };
  return problem ?? applyToCell(database, cell, report);
}

/** Another cell: the connections' search_path is its schema, which is made if it is missing. */
export function migrateCell(
  database: Database,
  schema: string,
  report: Report,
): Promise<Problem | undefined> {
  return applyToCell(database, { folder: "cell", table: "cell_migrations", schema }, report);
}

async function applyToCell(database: Database, place: Place, report: Report) {
  const problem = await apply(database, place, report);
  if (problem === undefined) await makePartitions(database, systemClock.now());
  return problem;
}

type Place = {
  readonly folder: string;
  /** Where the names of applied files stand. */
  readonly table: string;
  readonly schema?: string;
  /** A file that counts as applied. */
  readonly assumed?: string;
};

function apply(database: Database, place: Place, report: Report): Promise<Problem | undefined> {
  return database.transaction(async (query) => {
    await query("select pg_advisory_xact_lock($1)", [lockNumber]);
    const files = await readdir(join(folder, place.folder));
    const names = files.filter((name) => name.endsWith(".sql")).sort();
    const applied = await listApplied(query, place);
    const unknown = applied.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      return new Problem(
        `The database was made by a newer version of Tollgate (it has ${unknown}): ` +
          "start that version, or set GW_DATA_DIR or GW_DATABASE_URL to another database.",
      );
    }

    const isMissing = (name: string) => !applied.includes(name);
    for (const name of names.filter(isMissing)) {
      const path = join(place.folder, name);
      if (name !== place.assumed) {
        report(`Applying ${path}`);
        await query(await readFile(join(folder, path), "utf8"));
      }
      await query(`insert into ${place.table} (name) values ($1)`, [name]);
    }
    return undefined;
  });
}

async function listApplied(query: Query, { table, schema }: Place): Promise<readonly string[]> {
  if (schema !== undefined) {
    // On Citus the schema's tables are then kept together on one node; elsewhere it says nothing.
    await query("set local citus.enable_schema_based_sharding = on");
    await query(`create schema if not exists ${schema}`);
  }
  await query(
    `create table if not exists ${table} (
       name text primary key, applied_at timestamptz not null default now())`,
  );
  const rows = await query<{ name: string }>(`select name from ${table} order by name`);
  return rows.map(({ name }) => name);
}
