/**
 * Citus (decision 0042) distributes a schema and keeps its tables together on one worker. The
 * coordinator takes the same statements as a plain server and forwards them.
 */
import { Problem } from "../../values/problem.ts";
import type { Database, Query } from "../server/database.ts";

/** Makes a distributed schema. Tables that are made in it later are placed on the same worker. */
export async function makeDistributedSchema(
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
 * Stores the tallies uncompressed. Citus does not forward a change of a column's storage to the
 * shard. Its commands have connections of their own, so the table must be committed before.
 */
export async function storeTalliesUncompressed(query: Query, schema: string): Promise<void> {
  const [row] = await query<{ failure: string | null }>(
    `select min(result) as failure from run_command_on_shards($1::regclass,
       'alter table %s alter column events set storage external') where not success`,
    [`${schema}.screening_tallies`],
  );
  if (row?.failure == null) return;
  throw new Error(`the shard of screening_tallies: ${row.failure}`);
}

/**
 * Returns the worker of a schema from the coordinator's catalogue, because the worker itself may be
 * unreachable.
 */
export async function findWorker(query: Query, schema: string): Promise<string> {
  const [row] = await query<{ worker: string }>(
    `select nodename || ':' || nodeport as worker
     from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
     where logicalrelid = $1::regclass and noderole = 'primary'`,
    [`${schema}.orders`],
  );
  return row?.worker ?? "no worker";
}

/**
 * Checks the worker's form of times. A move compares rows as texts, and a session's own form stays
 * on the coordinator, so the worker must have the default one.
 */
export async function checkWorker(query: Query, schema: string): Promise<void> {
  const [row] = await query<{ result: string }>(
    `select result from run_command_on_placements($1::regclass, $$
       select current_setting('timezone') || '; ' || current_setting('datestyle')
         || '; ' || current_setting('bytea_output') $$)`,
    [`${schema}.orders`],
  );
  if (/^(Etc\/)?UTC; ISO, .{3}; hex$/.test(row?.result ?? "")) return;
  throw new Error(`the worker needs timezone UTC, datestyle ISO, bytea_output hex: ${row?.result}`);
}

/** Returns counts and sizes from the worker, because the coordinator's tables are empty. */
export async function examineOnWorker(query: Query, schema: string) {
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
