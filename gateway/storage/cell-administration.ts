/** Adds, lists and examines cells. A cell is listed when it has all tables and grants. */
import type { Vault } from "../vault/vault.ts";
import { copyDestroyedKeys } from "./card-keys.ts";
import { type CellPlace, type Cells, cellContext, mainCell, schemaOf } from "./cells.ts";
import { notifyNodes } from "./configuration.ts";
import type { Database, Query } from "./database.ts";
import { separateVault } from "./database-roles.ts";
import { approveAll, migrateCell } from "./migrate.ts";

/** The caller holds the lock of key rotations: no key is destroyed meanwhile. */
export async function addCell(
  { database, cells, sealSecret }: AddingCell,
  place: CellPlace,
  report: (progress: string) => void,
): Promise<void> {
  const cell = cells.open(place);
  try {
    await prepareCell(cell.node, place.name, report);
    await copyDestroyedKeys(database.query, cell.node.query);
  } finally {
    await cell.node.close();
  }
  const sealed = place.url === undefined ? null : sealSecret(place.url, cellContext(place.name));
  await database.query("insert into cells (name, sealed_url) values ($1, $2)", [
    place.name,
    sealed,
  ]);
  await notifyNodes(database.query);
}

type AddingCell = {
  readonly database: Database;
  readonly cells: Pick<Cells, "open">;
  readonly sealSecret: Vault["sealSecret"];
};

/** Tables and grants as this version needs them. */
export async function prepareCell(
  cell: Database,
  name: string,
  report: (progress: string) => void,
  approve = approveAll,
): Promise<void> {
  const problem = await migrateCell(cell, schemaOf(name), report, approve);
  if (problem !== undefined) throw new Error(problem.sentence);
  await separateVault(cell, [schemaOf(name)]);
}

export function countMerchants(query: Query) {
  return query<{ name: string; merchants: number }>(
    `select name, (select count(*)::int from merchants where cell = cells.name) as merchants
     from cells order by created_at, name`,
  );
}

/** What `gw cell check` tells of a cell that answers. */
export async function examineCell({ query }: Database, name: string) {
  const [row] = await query<{ version: string; orders: string; size: string; moved: number }>(
    `select current_setting('server_version') as version,
       greatest(0, (select sum(reltuples) from pg_class where relname = 'orders'
         and relnamespace = $1::regnamespace))::bigint as orders,
       (select pg_size_pretty(sum(pg_total_relation_size(oid))) from pg_class
        where relkind in ('r', 'm') and relnamespace = $1::regnamespace) as size,
       (select count(*)::int from moved_merchants) as moved`,
    [name === mainCell ? "public" : schemaOf(name)],
  );
  if (row === undefined) throw new Error("the cell did not answer");
  return row;
}
