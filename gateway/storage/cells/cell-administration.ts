/** Adds, lists and examines cells, also on Citus. A listed cell has all tables and grants. */
import { Problem } from "../../values/problem.ts";
import type { Vault } from "../../vault/vault.ts";
import { copyDestroyedKeys } from "../cards/card-keys.ts";
import { notifyNodes } from "../configuration/configuration.ts";
import type { Audit } from "../people/audit.ts";
import { checkRoles, separateVault } from "../schema/database-roles.ts";
import { approveAll, migrateCell } from "../schema/migrate.ts";
import type { Database, Query } from "../server/database.ts";
import { type CellLocation, type Cells, cellContext, mainCell, schemaOf } from "./cells.ts";

/** The caller locks key rotations, so that the new cell's list has every destroyed key. */
export async function addCell(
  { audit, database, cells, sealSecret }: AddingCell,
  place: CellLocation,
  report: (progress: string) => void,
): Promise<string> {
  const cell = cells.open(place);
  let where: string;
  try {
    if (place.onCitus === true) {
      const problem = await makeDistributedSchema(cell.node, schemaOf(place.name));
      if (problem !== undefined) throw new Error(problem.sentence);
    }
    await prepareCell(cell.node, place, report);
    if (place.onCitus === true) {
      await storeTalliesUncompressed(cell.node.query, schemaOf(place.name));
    }
    await copyDestroyedKeys(database.query, cell.node.query);
    where = await describePlace(cell.node, place);
  } finally {
    await cell.node.close();
  }
  const sealed = place.url === undefined ? null : sealSecret(place.url, cellContext(place.name));
  await audit.change(async (query, write) => {
    const values = [place.name, sealed, place.onCitus === true];
    await query("insert into cells (name, sealed_url, on_citus) values ($1, $2, $3)", values);
    await write({ action: "cell add", subject: `cell ${place.name}`, after: { database: where } });
    await notifyNodes(query);
  });
  return where;
}

type AddingCell = {
  readonly audit: Audit;
  readonly database: Database;
  readonly cells: Pick<Cells, "open">;
  readonly sealSecret: Vault["sealSecret"];
};

export async function prepareCell(
  cell: Database,
  { name, onCitus = false }: CellLocation,
  report: (progress: string) => void,
  approve = approveAll,
): Promise<void> {
  const schema = schemaOf(name);
  const problem = await migrateCell(cell, schema, report, approve);
  if (problem !== undefined) throw new Error(problem.sentence);
  const advice = await separateVault(cell, { schemas: [schema], rolesLogIn: onCitus });
  if (!onCitus) return;
  if (advice === undefined) await checkRoles(cell);
  await checkWorker(cell.query, schema);
}

export function countMerchants(query: Query) {
  return query<{ name: string; merchants: number }>(
    `select name, (select count(*)::int from merchants where cell = cells.name) as merchants
     from cells order by created_at, name`,
  );
}

export async function examineCell({ query }: Database, { name, onCitus = false }: CellLocation) {
  await query("select from moved_merchants limit 1");
  const schema = name === mainCell ? "public" : schemaOf(name);
  const [row] = await query<{ version: string; orders: string; size: string }>(
    `select current_setting('server_version') as version,
       greatest(0, (select sum(reltuples) from pg_class where relname = 'orders'
         and relnamespace = $1::regnamespace))::bigint as orders,
       (select pg_size_pretty(sum(pg_total_relation_size(oid))) from pg_class
        where relkind in ('r', 'm') and relnamespace = $1::regnamespace) as size`,
    [schema],
  );
  if (row === undefined) throw new Error("the cell did not answer");
  return onCitus ? { ...row, ...(await examineOnWorker(query, schema)) } : row;
}

export async function describePlace(
  { query }: Database,
  { name, url, onCitus = false }: CellLocation,
): Promise<string> {
  const database = url === undefined ? "the main database" : "its own";
  if (!onCitus) return database;
  const worker = await findWorker(query, schemaOf(name)).catch(() => "unknown");
  return `${database}, Citus worker ${worker}`;
}

/** Makes a schema that Citus keeps, with all its later tables, on one of its worker servers. */
async function makeDistributedSchema(
  { query, transaction }: Database,
  schema: string,
): Promise<Problem | undefined> {
  if ((await findCitusVersion(query)) === undefined) {
    return new Problem("Its database has no extension citus: a superuser has to make it");
  }
  await transaction(async (change) => {
    await change("set local citus.enable_schema_based_sharding = on");
    await change(`create schema if not exists ${schema}`);
  });
  const known = await query("select from pg_dist_schema where schemaid = $1::regnamespace", [
    schema,
  ]);
  if (known.length > 0) return undefined;
  return new Problem(`There is a schema ${schema} that Citus does not distribute`);
}

/**
 * Turns off the compression of the screening tallies on their Citus worker server, because Citus
 * forwards no change of a column's storage. The command uses a connection of its own, so the table
 * must be committed before it.
 */
async function storeTalliesUncompressed(query: Query, schema: string): Promise<void> {
  const [row] = await query<{ failure: string | null }>(
    `select min(result) as failure from run_command_on_shards($1::regclass,
       'alter table %s alter column events set storage external') where not success`,
    [`${schema}.screening_tallies`],
  );
  if (row?.failure == null) return;
  throw new Error(`the shard of screening_tallies: ${row.failure}`);
}

/** Reads the worker server's name from the coordinator, because the worker server may be down. */
async function findWorker(query: Query, schema: string): Promise<string> {
  const [row] = await query<{ worker: string }>(
    `select nodename || ':' || nodeport as worker
     from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
     where logicalrelid = $1::regclass and noderole = 'primary'`,
    [`${schema}.orders`],
  );
  return row?.worker ?? "no worker";
}

/**
 * Checks that the Citus worker server writes times and bytes in the default form, because a
 * merchant's move compares rows as texts. The gateway sets this form only on the coordinator.
 */
async function checkWorker(query: Query, schema: string): Promise<void> {
  const [row] = await query<{ result: string }>(
    `select result from run_command_on_placements($1::regclass, $$
       select current_setting('timezone') || '; ' || current_setting('datestyle')
         || '; ' || current_setting('bytea_output') $$)`,
    [`${schema}.orders`],
  );
  if (/^(Etc\/)?UTC; ISO, .{3}; hex$/.test(row?.result ?? "")) return;
  throw new Error(`the worker needs timezone UTC, datestyle ISO, bytea_output hex: ${row?.result}`);
}

/** Asks the Citus worker server for sizes, because the coordinator's own tables are empty. */
async function examineOnWorker(query: Query, schema: string) {
  const [row] = await query<{ orders: string; size: string }>(
    `select result as orders,
       (select pg_size_pretty(sum(citus_total_relation_size(logicalrelid)))
        from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
        where relkind = 'r' and relnamespace = $2::regnamespace) as size
     from run_command_on_placements($1::regclass, $$
       select greatest(0, reltuples)::bigint from pg_class where oid = '%s'::regclass $$)`,
    [`${schema}.orders`, schema],
  );
  return { orders: row?.orders ?? "", size: row?.size ?? "" };
}

async function findCitusVersion(query: Query): Promise<string | undefined> {
  const [row] = await query<{ version: string }>(
    "select extversion as version from pg_extension where extname = 'citus'",
  );
  return row?.version;
}
