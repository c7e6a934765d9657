/**
 * Takes one consistent snapshot of the installation while payments go on (decision 0050): a
 * transaction on every database server, which sees all earlier commits. The main database is the
 * last, so that it knows every merchant and every key that the snapshots of the cells need.
 */
import type pg from "pg";
import type { Instant } from "../../values/time.ts";
import { asInstant } from "../../values/time.ts";
import { takeRotationLock } from "../cards/vault-keys.ts";
import { type Cells, mainCell, schemaOf } from "../cells/cells.ts";
import { backupLock } from "../schema/partitions.ts";
import type { Database, Query } from "../server/database.ts";
import {
  type AppliedMigration,
  listCopiedTables,
  listPartitionNames,
  listSequences,
  lockForReading,
  type SequenceValue,
  type StoredTable,
  type TableSize,
} from "./table-copies.ts";

/** The snapshot of one cell. The main database and the main cell share a snapshot. */
export type CellSnapshot = {
  readonly cell: string;
  readonly client: pg.Client;
  readonly migrations: readonly AppliedMigration[];
  readonly cellMigrations: readonly AppliedMigration[];
  readonly tables: readonly (StoredTable & TableSize)[];
  readonly sequences: readonly SequenceValue[];
  readonly partitions: readonly string[];
};

export type Picture = {
  readonly takenAt: Instant;
  /** The cells; the one in the main database comes first. */
  readonly places: readonly CellSnapshot[];
  readonly audit: { readonly seq: number; readonly hash: string };
  close(): Promise<void>;
};

/** The error of a backup during another backup, a key rotation or the move of a merchant. */
export class PictureRefused extends Error {}

export async function openPicture(main: Database, cells: Cells): Promise<Picture> {
  const clients: pg.Client[] = [];
  const close = async () => {
    await Promise.allSettled(clients.map((client) => client.end()));
  };
  const connect = async (database: Database) => {
    const client = await database.connect();
    clients.push(client);
    return client;
  };
  try {
    await lockBackups(await connect(main));
    const isOwn = ({ name, url, onCitus }: ReturnType<Cells["places"]>[number]) =>
      name !== mainCell && (url !== undefined || onCitus === true);
    const others = cells.places().filter(isOwn);
    const inMain = cells.places().filter((place) => place.name !== mainCell && !isOwn(place));
    const lock = others.length === 0 ? undefined : await lockKeys(main);
    try {
      const pictured: CellSnapshot[] = [];
      for (const { name } of others) {
        const client = await connect(cells.databasesOf(name).node);
        await begin(client, [schemaOf(name)]);
        pictured.push(await describeCell(client, name));
      }
      const client = await connect(main);
      await begin(client, [...mainSchemas, ...inMain.map(({ name }) => schemaOf(name))]);
      const first = await describeMain(client);
      for (const { name } of inMain) pictured.push(await describeCell(client, name));
      return { ...(await readMoment(ask(client))), places: [first, ...pictured], close };
    } finally {
      await lock?.release();
    }
  } catch (error) {
    await close();
    throw error;
  }
}

export const mainSchemas: readonly string[] = ["public", "vault"];

/** Lets only one backup run at a time. The lock ends when the connection closes. */
async function lockBackups(client: pg.Client): Promise<void> {
  const { rows } = await client.query("select pg_try_advisory_lock(8586, 0) as got");
  if (rows[0]?.got !== true) throw new PictureRefused("Another backup is running.");
}

/**
 * Prevents key rotations and moves of merchants while the snapshots of several servers are taken
 * one after the other. Otherwise all snapshots could lack a key or a merchant. A single server has
 * only one snapshot, so it needs no lock.
 */
async function lockKeys(main: Database) {
  const lock = await takeRotationLock(main);
  if (lock !== undefined) return lock;
  throw new PictureRefused(
    "A key rotation or the move of a merchant is under way, and cells are on servers of their " +
      "own: run the backup after it.",
  );
}

function ask(client: pg.Client): Query {
  return async (text, values = []) => (await client.query(text, [...values])).rows;
}

/**
 * Begins the transaction of a snapshot. The tables are locked before the first query takes the
 * snapshot, so that none is dropped before it is read. The backup lock keeps nodes from dropping
 * partitions: a node that waited for a locked table would make payments wait behind it.
 */
async function begin(client: pg.Client, schemas: readonly string[]): Promise<void> {
  const query = ask(client);
  await query("select pg_advisory_lock_shared($1)", [backupLock]);
  const tables = await listCopiedTables(query, schemas);
  await query("begin transaction isolation level repeatable read read only");
  await query("set local idle_in_transaction_session_timeout = 0");
  await lockForReading(query, tables);
}

async function describeMain(client: pg.Client): Promise<CellSnapshot> {
  return {
    ...(await describe(client, mainSchemas)),
    cell: mainCell,
    migrations: await listApplied(client, "public.migrations"),
  };
}

async function describeCell(client: pg.Client, name: string): Promise<CellSnapshot> {
  return { ...(await describe(client, [schemaOf(name)])), cell: name, migrations: [] };
}

async function describe(client: pg.Client, schemas: readonly string[]) {
  const query = ask(client);
  const [schema = ""] = schemas;
  const tables = await listCopiedTables(query, schemas);
  // The first statement for a Citus worker server makes that server take its snapshot.
  await query(`select from "${schema}".moved_merchants limit 1`);
  return {
    client,
    tables,
    sequences: await listSequences(query, schemas),
    partitions: await listPartitionNames(query, schema),
    cellMigrations: await listApplied(client, `"${schema}".cell_migrations`),
  };
}

async function listApplied(client: pg.Client, table: string) {
  return ask(client)<AppliedMigration>(
    `select name, compatible_from as "compatibleFrom" from ${table} order by name`,
  );
}

async function readMoment(query: Query) {
  const [row] = await query<{ now: string; seq: string; hash: Buffer }>(
    `select (extract(epoch from now()) * 1000)::bigint as now, seq, hash from public.audit_head`,
  );
  if (row === undefined) throw new Error("the audit has no head");
  const { now, seq, hash } = row;
  return {
    takenAt: asInstant(Number(now)),
    audit: { seq: Number(seq), hash: hash.toString("hex") },
  };
}
