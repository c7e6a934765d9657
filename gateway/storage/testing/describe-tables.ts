/** Describes the tables of a database as lines of text, so that tests can compare two databases. */
import type { Database } from "../server/database.ts";

type Line = { readonly table: string; readonly what: string };

/** Leaves out the names of the schemas, because each cell has its own. */
export async function describeTables({ query }: Database): Promise<readonly Line[]> {
  const rows = await query<Line>(`
    with tables as (
      select oid, relname, relkind, relpersistence, reloptions from pg_class
      where relkind in ('r', 'p', 'S')
        and relnamespace::regnamespace::name = any(current_schemas(false))
    )
    select relname as table,
      concat_ws(' ', 'table', relkind, relpersistence, reloptions::text) as what
    from tables
    union all
    select relname, concat_ws(' ', 'column', attname, format_type(atttypid, atttypmod), attnotnull,
      attidentity, attstorage, attstattarget, pg_get_expr(adbin, adrelid))
    from tables join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
      left join pg_attrdef on adrelid = tables.oid and adnum = attnum
    union all
    select relname, pg_get_indexdef(indexrelid)
    from tables join pg_index on indrelid = tables.oid
    union all
    select relname, concat_ws(' ', conname, pg_get_constraintdef(pg_constraint.oid))
    from tables join pg_constraint on conrelid = tables.oid
    union all
    select relname, pg_get_triggerdef(pg_trigger.oid)
    from tables join pg_trigger on tgrelid = tables.oid and not tgisinternal
    union all
    select proname, pg_get_functiondef(oid) from pg_proc
    where pronamespace::regnamespace::name = any(current_schemas(false))
    order by 1, 2`);
  return rows.map(({ table, what }) => ({
    table,
    what: what.replace(/\b(public|vault|cell_\w+)\./g, ""),
  }));
}

/** Lists the columns of the main database and the first cell, without those of partitions. */
export async function listColumns({ query }: Database): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(
    `select relname || '.' || attname as name
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
     where relkind in ('r', 'p') and not relispartition and not attisdropped
       and relnamespace::regnamespace::name = any(current_schemas(false))
       and relname not in ('migrations', 'cell_migrations')`,
  );
  return rows.map(({ name }) => name);
}
