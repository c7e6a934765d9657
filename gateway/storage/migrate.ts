/**
 * Migrations: numbered SQL files, applied in order in one transaction, forward only. A lock keeps
 * two nodes that start together from applying them both.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../values/problem.ts";
import type { Database, Query } from "./database.ts";

const folder = join(import.meta.dirname, "migrations");
const lockNumber = 8_583_001;

export async function migrate(
  database: Database,
  report: (progress: string) => void,
): Promise<Problem | undefined> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return database.transaction(async (query) => {
    await query("select pg_advisory_xact_lock($1)", [lockNumber]);
    const applied = await listApplied(query);
    const unknown = applied.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      return new Problem(
        `The database was made by a newer version of Tollgate (it has ${unknown}): ` +
          "start that version, or set GW_DATA_DIR or GW_DATABASE_URL to another database.",
      );
    }

    for (const name of names.filter((each) => !applied.includes(each))) {
      report(`Applying ${name}`);
      await query(await readFile(join(folder, name), "utf8"));
      await query("insert into migrations (name) values ($1)", [name]);
    }
    return undefined;
  });
}

async function listApplied(query: Query): Promise<readonly string[]> {
  await query(
    `create table if not exists migrations (
       name text primary key, applied_at timestamptz not null default now())`,
  );
  const rows = await query<{ name: string }>("select name from migrations order by name");
  return rows.map(({ name }) => name);
}
