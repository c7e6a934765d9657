/**
 * The empty database into which a backup is read, and queries that verify the result. All cells
 * become its schemas, even if they were on other servers: an address in a backup may belong to an
 * installation that is still running.
 */
import type pg from "pg";
import type { CardId, MerchantId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import type { Vault } from "../../vault/vault.ts";
import { mainCell, schemaOf } from "../cells/cells.ts";
import { type AuditKey, isOwnKey, listAuditKeys } from "../people/audit.ts";
import { findUnknownMigration, migrateCellTo, migrateTo } from "../schema/migrate.ts";
import { replacePartitions } from "../schema/partitions.ts";
import type { Database, Query } from "../server/database.ts";
import { markHold } from "./installation-hold.ts";
import { refuseBackup } from "./rehearsal.ts";
import { mainSchemas } from "./snapshots.ts";
import {
  type AppliedMigration,
  copyInto,
  isNoExtensions,
  listCopiedTables,
  listSequences,
  type SequenceValue,
  type StoredTable,
  setSequences,
  switchTriggers,
  truncateAll,
} from "./table-copies.ts";

type RestoredCell = {
  readonly cell: string;
  readonly migrations: readonly AppliedMigration[];
  readonly cellMigrations: readonly AppliedMigration[];
  readonly sequences: readonly SequenceValue[];
  readonly partitions: readonly string[];
};

export class NotRestorable extends Error {}

/**
 * Refuses a database that contains tables of another program, or any keys of the gateway. Empty
 * tables of the gateway are allowed, because a failed restore leaves them behind.
 */
export async function refuseFilled(query: Query): Promise<Problem | undefined> {
  const tables = await query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'p', 'v', 'm') and relnamespace not in
       ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
       and relnamespace::regnamespace::text not like 'pg\\_%' and ${isNoExtensions}
     order by 1`,
  );
  if (tables.length === 0) return undefined;
  const [vault] = await query<{ found: boolean }>(
    "select to_regclass('vault.keys') is not null as found",
  );
  const isOurs = vault?.found === true;
  if (isOurs && (await query("select from vault.keys limit 1")).length === 0) return undefined;
  const [first] = tables;
  return new Problem(`This database is not empty (it has ${first?.name}): restore into a new one.`);
}

export type RestoreTarget = Awaited<ReturnType<typeof openRestoreTarget>>;

type Options = {
  readonly database: Database;
  readonly rehearsal: boolean;
  /** Opens the database with the cell's schema as its search path. */
  readonly openSchema: (cell: string) => Database;
  /** Throws if the keys of the backup were sealed with another key-encryption key. */
  readonly openSecrets: (query: Query) => Promise<Vault["openSecret"]>;
};

export async function openRestoreTarget(options: Options) {
  const { database, openSecrets } = options;
  const client = await database.connect();
  const query = ask(client);
  let places: readonly RestoredCell[] = [];

  return {
    /** Makes tables like those in the backup, and begins the transaction that fills them. */
    async prepare(given: readonly RestoredCell[]): Promise<void> {
      places = given;
      await makeSchemas(options, places);
      await query("begin");
      for (const { cell, partitions } of places) {
        const [schema = ""] = schemasOf(cell);
        await query("select set_config('search_path', $1, true)", [schema]);
        await replacePartitions(query, partitions);
      }
      await query("set local search_path = public, vault");
      const tables = await allTables();
      await truncateAll(query, tables);
      await switchTriggers(query, tables, "disable");
    },
    tablesOf,
    copyInto: (table: StoredTable) => copyInto(client, table),

    /** Returns undefined unless the key exists and this installation's vault has sealed it. */
    async findOwnAuditKey(id: number): Promise<AuditKey | undefined> {
      const openSecret = await openSecrets(query);
      const key = (await listAuditKeys(query)).find((each) => each.id === id);
      return key !== undefined && isOwnKey(key, openSecret) ? key : undefined;
    },

    /**
     * Commits the rows together with a hold, so that nodes send nothing from a restored database.
     */
    async commit(why: string): Promise<void> {
      await switchTriggers(query, await allTables(), "enable");
      for (const { cell, sequences } of places) {
        const own = await listSequences(query, schemasOf(cell));
        const isOwn = ({ schema, name }: SequenceValue) =>
          own.some((each) => each.schema === schema && each.name === name);
        await setSequences(query, sequences.filter(isOwn));
      }
      await query("update cells set sealed_url = null, on_citus = false");
      await markHold(query, why);
      await query("commit");
      await query("analyze");
    },

    close: () => client.end(),
  };

  async function allTables(): Promise<readonly StoredTable[]> {
    return (await Promise.all(places.map(({ cell }) => tablesOf(cell)))).flat();
  }

  function tablesOf(cell: string): Promise<readonly StoredTable[]> {
    return listCopiedTables(query, schemasOf(cell)).then((tables) =>
      tables.map(({ schema, name, columns }) => ({ schema, name, columns })),
    );
  }
}

function schemasOf(cell: string): readonly string[] {
  return cell === mainCell ? mainSchemas : [schemaOf(cell)];
}

/** Checks the migrations' names before any change, so that an unsuitable backup has no effect. */
async function makeSchemas(
  { database, rehearsal, openSchema }: Options,
  places: readonly RestoredCell[],
): Promise<void> {
  const namesOf = (applied: readonly AppliedMigration[]) => applied.map(({ name }) => name);
  const main = places.flatMap(({ migrations }) => namesOf(migrations));
  const all = places.flatMap(({ cellMigrations }) => namesOf(cellMigrations));
  const unknown = await findUnknownMigration(main, all);
  if (unknown !== undefined) {
    throw new NotRestorable(
      `The backup is of a newer version of Tollgate (it has ${unknown}): restore it with that.`,
    );
  }
  throwProblem(refuseBackup(main, { rehearsal }));
  for (const { cell, cellMigrations } of places) {
    const names = namesOf(cellMigrations);
    if (cell === mainCell) {
      throwProblem(await migrateTo(database, { main, cell: names }));
      continue;
    }
    const schema = openSchema(cell);
    await migrateCellTo(schema, schemaOf(cell), names)
      .then(throwProblem)
      .finally(() => schema.close());
  }
}

function throwProblem(problem: Problem | undefined): void {
  if (problem !== undefined) throw new NotRestorable(problem.sentence);
}

function ask(client: pg.Client): Query {
  return async (text, values = []) => (await client.query(text, [...values])).rows;
}

export async function listCardKeysInUse(query: Query): Promise<readonly number[]> {
  const rows = await query<{ id: number }>("select distinct key_id as id from cards order by 1");
  return rows.map(({ id }) => id);
}

type CardName = { readonly merchantId: MerchantId; readonly cardId: CardId };

export async function sampleCards(
  query: Query,
  key: number,
  count: number,
): Promise<readonly CardName[]> {
  const some = (direction: string) =>
    query<CardName>(
      `select merchant_id as "merchantId", id as "cardId" from cards where key_id = $1
       order by id ${direction} limit $2`,
      [key, Math.ceil(count / 2)],
    );
  const found = [...(await some("asc")), ...(await some("desc"))];
  return [...new Map(found.map((card) => [`${card.merchantId}/${card.cardId}`, card])).values()];
}

export async function findStrayMerchants(main: Query, query: Query) {
  const known = await main<{ id: string }>("select id from merchants");
  const rows = await query<{ id: string }>(
    `select distinct merchant_id as id from orders where merchant_id <> all($1::bigint[])
     limit 20`,
    [known.map(({ id }) => id)],
  );
  return rows.map(({ id }) => id);
}

/** Returns whether the cell has orders from this id on, whose ids the gateway would issue again. */
export async function hasOrdersFrom(query: Query, id: string): Promise<boolean> {
  return (await query("select from orders where id >= $1::bigint limit 1", [id])).length > 0;
}

export async function hasAuditEntry(query: Query, seq: number, hash: string): Promise<boolean> {
  const statement = "select from audit where seq = $1 and hash = decode($2, 'hex')";
  return (await query(statement, [seq, hash])).length > 0;
}

export async function findNextId(query: Query): Promise<string> {
  const [row] = await query<{ id: string }>("select next_id as id from order_numbers");
  if (row === undefined) throw new Error("there are no order numbers");
  return row.id;
}
