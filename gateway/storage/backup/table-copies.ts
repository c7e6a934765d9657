/**
 * The content of a database in a backup: the rows of its tables in PostgreSQL's own text form, the
 * values of its sequences, and the names of its partitions. Unlogged tables are omitted, because
 * they contain keys that must never be in a backup (decision 0015).
 */
import type { Readable, Writable } from "node:stream";
import type pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { listPartitions } from "../schema/partitions.ts";
import type { Query } from "../server/database.ts";

export type StoredTable = {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
};
export type AppliedMigration = { readonly name: string; readonly compatibleFrom: string | null };
/** Estimates from the database's statistics, which show the progress of a backup. */
export type TableSize = { readonly rows: number; readonly bytes: number };
export type SequenceValue = {
  readonly schema: string;
  readonly name: string;
  /** Null if the sequence has issued no value yet. */
  readonly last: string | null;
};

/** Lists the tables so that each comes after the tables to which its foreign keys refer. */
export async function listCopiedTables(query: Query, schemas: readonly string[]) {
  const tables = await query<StoredTable & TableSize & { readonly after: readonly string[] }>(
    `select relnamespace::regnamespace::text as schema, relname as name,
       (select array_agg(attname::text order by attname) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '')
         as columns,
       (select sum(greatest(0, part.reltuples))::float8 from pg_class as part
        where ${isPart}) as rows,
       (select sum(pg_table_size(part.oid))::float8 from pg_class as part
        where ${isPart}) as bytes,
       array(select confrelid::regclass::text from pg_constraint
        where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid) as after
     from pg_class where relkind in ('r', 'p') and not relispartition and relpersistence = 'p'
       and relnamespace::regnamespace::text = any($1) and ${isNoExtensions}
     order by array_position($1, relnamespace::regnamespace::text), relname`,
    [schemas],
  );
  return sortByKeys(tables);
}

/** A condition that excludes tables and views of extensions, like `pg_stat_statements`. */
export const isNoExtensions = `not exists (
  select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid
    and deptype = 'e')`;

const isPart = `part.oid = pg_class.oid
  or part.oid in (select inhrelid from pg_inherits where inhparent = pg_class.oid)`;

function sortByKeys<Table extends StoredTable & { readonly after: readonly string[] }>(
  tables: readonly Table[],
): readonly Table[] {
  const sorted = new Set<Table>();
  const visit = (table: Table): void => {
    if (sorted.has(table)) return;
    for (const name of table.after) {
      const other = tables.find((each) => name === each.name || name === qualified(each));
      if (other !== undefined) visit(other);
    }
    sorted.add(table);
  };
  for (const table of tables) visit(table);
  return [...sorted];
}

export function qualified({ schema, name }: Pick<StoredTable, "schema" | "name">): string {
  return `${schema}.${name}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function placeOf({ schema, name }: StoredTable): string {
  return `${quoted(schema)}.${quoted(name)}`;
}

export function listSequences(query: Query, schemas: readonly string[]) {
  return query<SequenceValue>(
    `select schemaname as schema, sequencename as name, last_value::text as last
     from pg_sequences where schemaname = any($1) order by 1, 2`,
    [schemas],
  );
}

export async function setSequences(query: Query, values: readonly SequenceValue[]): Promise<void> {
  for (const { schema, name, last } of values) {
    if (last === null) continue;
    await query("select setval(format('%I.%I', $1::text, $2::text)::regclass, $3::bigint)", [
      ...[schema, name, last],
    ]);
  }
}

/** Lists the names of a schema's partitions. Sets the search path until the transaction ends. */
export async function listPartitionNames(query: Query, schema: string) {
  await query("select set_config('search_path', $1, true)", [schema]);
  return (await listPartitions(query)).map(({ name }) => name).toSorted();
}

/** Reads a table in PostgreSQL's COPY format, which escapes line feeds: each row is one line. */
export function copyOut(client: pg.ClientBase, table: StoredTable): Readable {
  const columns = table.columns.map(quoted).join(", ");
  return client.query(copyTo(`copy (select ${columns} from ${placeOf(table)}) to stdout`));
}

export function copyInto(
  client: pg.ClientBase,
  table: StoredTable,
): Writable & { readonly rowCount: number | null } {
  const columns = table.columns.map(quoted).join(", ");
  return client.query(copyFrom(`copy ${placeOf(table)} (${columns}) from stdin`));
}

export async function truncateAll(query: Query, tables: readonly StoredTable[]): Promise<void> {
  await query(`truncate ${tables.map(placeOf).join(", ")}`);
}

/** Triggers are off during a restore, because they would read tables that are not filled yet. */
export async function switchTriggers(
  query: Query,
  tables: readonly StoredTable[],
  to: "enable" | "disable",
): Promise<void> {
  for (const table of tables) await query(`alter table ${placeOf(table)} ${to} trigger user`);
}

/** Until the transaction ends, no other transaction can drop or rewrite the tables. */
export async function lockForReading(query: Query, tables: readonly StoredTable[]): Promise<void> {
  await query(`lock table ${tables.map(placeOf).join(", ")} in access share mode`);
}

export async function countRows(query: Query, table: StoredTable): Promise<number> {
  const [row] = await query<{ count: string }>(`select count(*) as count from ${placeOf(table)}`);
  return Number(row?.count);
}
