/**
 * The monthly partitions of the tables in a cell that only grow. They are made months ahead, and
 * are dropped as a whole when they are old. A row without a partition goes to the default
 * partition, so that no payment waits.
 */
import {
  asInstant,
  calendar,
  hours,
  type Instant,
  later,
  monthStart,
  parseDate,
} from "../../values/time.ts";
import type { Cells } from "../cells/cells.ts";
import type { Database, Query } from "../server/database.ts";

/** The column that decides the partition: a time, or a serial number, which begins with a time. */
const partitioned = { order_history: "at", requests: "serial", callback_attempts: "at" } as const;
export type PartitionedTable = keyof typeof partitioned;
export const partitionedTables = Object.keys(partitioned) as readonly PartitionedTable[];

const monthsAhead = 3;
/** The longest time for which payments may wait while partitions are changed. */
const lockWaitMs = 1000;
/** Lets only one node change partitions at a time. */
const lockNumber = 8_583_035;
/**
 * A running backup holds this lock and locks all tables. A change of partitions that ignored the
 * lock would wait for the backup, and payments for the change.
 */
export const backupLock = 8_583_036;

/** Vacuums of these tables, which only grow, are frequent, so that each has few rows to freeze. */
const storage =
  "autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2";

/** Returns the name of a month's partition, and its bounds as literals of SQL. */
export function partitionOf(table: PartitionedTable, month: Instant) {
  const bound = (moment: Instant) =>
    partitioned[table] === "at" ? `'${calendar(moment).iso}'` : `'${serialAt(moment)}'`;
  return {
    name: `${table}_${suffixOf(month)}`,
    from: bound(monthStart(month)),
    until: bound(monthStart(month, 1)),
  };
}

/** Returns the lowest serial number of a moment: UUIDs of version 7 begin with the time. */
export function serialAt(moment: Instant): string {
  const digits = moment.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

function suffixOf(month: Instant): string {
  const { year, month: number } = calendar(month);
  return `${year}_${number}`;
}

/** How long history and callback attempts are kept. Zero means for ever. */
type Kept = { readonly historyKeepMonths: number; readonly callbackKeepDays: number };

/** Makes the partitions of the next months in all cells, and drops those that are too old. */
export function makeKeepPartitions(
  cells: Pick<Cells, "stores">,
  { historyKeepMonths: months, callbackKeepDays: days }: Kept,
  onChanged: (made: readonly string[], dropped: readonly string[]) => void,
): (now: Instant) => Promise<unknown> {
  const databases = cells.stores(({ node }) => node);
  const keep = async (database: Database, now: Instant) => {
    const made = await makePartitions(database, now);
    const dropped: string[] = [];
    const drop = async (table: PartitionedTable, before: Instant) =>
      dropped.push(...(await dropPartitions(database, table, before)));
    if (months > 0) await drop("order_history", monthStart(now, -months));
    if (months > 0) await drop("requests", monthStart(now, -months));
    if (days > 0) await drop("callback_attempts", later(now, -days * hours(24)));
    if (made.length + dropped.length > 0) onChanged(made, dropped);
  };
  return (now) => databases.each((database) => keep(database, now));
}

/** Makes the missing partitions of this month and the next ones. Returns their names. */
export async function makePartitions(database: Database, now: Instant) {
  const months = Array.from({ length: monthsAhead + 1 }, (_, ahead) => monthStart(now, ahead));
  const wanted = partitionedTables.flatMap((table) => months.map((month) => ({ table, month })));
  const made: string[] = [];
  if ((await listPartitions(database.query)).length === 0) await makeFirst(database, now);
  for (const { table, month } of await onlyMissing(database.query, wanted)) {
    const isMade = await change(database, async (query) => {
      // Another node may have made the partition before this node got the lock.
      const [missing] = await onlyMissing(query, [{ table, month }]);
      if (missing !== undefined) await attach(query, table, month);
      return missing !== undefined;
    });
    if (isMade) made.push(partitionOf(table, month).name);
  }
  return made;
}

/** Makes a new cell's first partitions, which contain everything until the end of this month. */
async function makeFirst(database: Database, now: Instant): Promise<void> {
  await change(database, async (query) => {
    if ((await listPartitions(query)).length > 0) return;
    for (const table of partitionedTables) await attachFirst(query, table, monthStart(now, 1));
  });
}

type Wanted = { readonly table: PartitionedTable; readonly month: Instant };

async function onlyMissing(query: Query, wanted: readonly Wanted[]): Promise<readonly Wanted[]> {
  const known = await listPartitions(query);
  return wanted.filter(
    ({ table, month }) =>
      !known.some((each) => each.table === table && each.from <= month && month < each.until),
  );
}

/** Drops partitions that only contain rows from before the given moment. Returns their names. */
export async function dropPartitions(
  database: Database,
  table: PartitionedTable,
  before: Instant,
): Promise<readonly string[]> {
  const isOld = (each: Partition) => each.table === table && each.until <= before;
  const dropped: string[] = [];
  for (const { name } of (await listPartitions(database.query)).filter(isOld)) {
    const done = await change(database, (query) => query(`drop table if exists ${name}`));
    if (done !== undefined) dropped.push(name);
  }
  return dropped;
}

/** Replaces the partitions, except the default ones, by empty partitions with the given names. */
export async function replacePartitions(query: Query, names: readonly string[]): Promise<void> {
  for (const { name } of await listPartitions(query)) await query(`drop table ${name}`);
  for (const given of names) {
    const [, base, isFirst, year, month] = /^(\w+?)_(until_)?(\d{4})_(\d\d)$/.exec(given) ?? [];
    const table = partitionedTables.find((each) => each === base);
    const start = parseDate(`${year}-${month}-01T00:00:00Z`);
    if (table === undefined || start === undefined) throw new Error(`no partition: ${given}`);
    if (isFirst === undefined) await attach(query, table, start);
    else await attachFirst(query, table, start);
  }
}

/** Makes a partition for all rows from before a month. */
async function attachFirst(query: Query, table: PartitionedTable, until: Instant): Promise<void> {
  const { from } = partitionOf(table, until);
  const name = `${table}_until_${suffixOf(until)}`;
  await query(`create table ${name} (like ${table} including defaults) with (${storage})`);
  await query(
    `alter table ${table} attach partition ${name} for values from (minvalue) to (${from})`,
  );
}

/**
 * Makes the partition as a separate table before it is attached, because payments would wait for a
 * partition that is made inside the partitioned table.
 */
async function attach(query: Query, table: PartitionedTable, month: Instant): Promise<void> {
  const { name, from, until } = partitionOf(table, month);
  const isOfMonth = `${partitioned[table]} >= ${from} and ${partitioned[table]} < ${until}`;
  await query(`create table ${name} (like ${table} including defaults) with (${storage})`);
  // Rows of the month that are in the default partition are moved to the new one. The lock keeps
  // nodes from adding another such row, for which PostgreSQL would refuse the new partition.
  await query(`lock table ${table}_default in share row exclusive mode`);
  const early = await query(`select from ${table}_default where ${isOfMonth} limit 1`);
  if (early.length > 0) {
    await query(`insert into ${name} select * from ${table}_default where ${isOfMonth}`);
    await query(`delete from ${table}_default where ${isOfMonth}`);
  }
  await query(
    `alter table ${table} attach partition ${name} for values from (${from}) to (${until})`,
  );
}

/**
 * Runs a change of partitions, unless a backup is running. It needs the rights of the login, which
 * owns the tables; the role of nodes has fewer rights.
 */
function change<Result>(
  { transaction }: Database,
  work: (query: Query) => Promise<Result>,
): Promise<Result | undefined> {
  return transaction(async (query) => {
    await query("set local role none");
    await query("select pg_advisory_xact_lock($1)", [lockNumber]);
    const free = "select where pg_try_advisory_xact_lock($1)";
    if ((await query(free, [backupLock])).length === 0) return undefined;
    await query(`set local lock_timeout = ${lockWaitMs}`);
    return work(query);
  });
}

type Partition = {
  readonly table: string;
  readonly name: string;
  readonly from: Instant;
  readonly until: Instant;
};

/**
 * Lists all partitions except the default ones. A name contains the partition's month, or says that
 * it contains everything before the month.
 */
export async function listPartitions(query: Query): Promise<readonly Partition[]> {
  const rows = await query<{ table: string; name: string }>(
    `select parent.relname as table, child.relname as name
     from pg_inherits join pg_class as child on child.oid = inhrelid
       join pg_class as parent on parent.oid = inhparent
     where inhparent = any(select to_regclass(name) from unnest($1::text[]) as name)`,
    [partitionedTables],
  );
  return rows.flatMap(({ table, name }) => {
    const [, isFirst, year, month] = /_(until_)?(\d{4})_(\d\d)$/.exec(name) ?? [];
    const start = parseDate(`${year}-${month}-01T00:00:00Z`);
    if (start === undefined) return [];
    const bounds =
      isFirst === undefined
        ? { from: start, until: monthStart(start, 1) }
        : { from: asInstant(0), until: start };
    return [{ table, name, ...bounds }];
  });
}
