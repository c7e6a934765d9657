/**
 * Moves a merchant from one cell to another. The rows are brought over while payments go on, then
 * the merchant is fenced in its old cell, what has changed is brought over, compared, and the
 * merchant's row names the new cell. Every step can be repeated: a move that was cut short at any
 * point is gone on with by starting it again.
 */
import type { MerchantId } from "../values/ids.ts";
import { type Cells, mainCell, schemaOf } from "./cells.ts";
import { notifyNodes } from "./configuration.ts";
import type { Database, Query } from "./database.ts";
import { judge } from "./faults.ts";

const pageSize = 1000;
/** Statements of other merchants wait no longer than this for the fence. */
const lockWaitMs = 200;

/** Tables of a cell that are not about merchants. */
const others = ["card_keys", "moved_merchants", "cell_migrations", "retention_walks"];

/** Nodes delete rows of these when their time is over: one copy behind the fence is enough. */
const expiringTables = ["oauth_nonces", "wallet_messages", "held_keys", "held_secrets"];
/** Behind the fence little changes: more copies than these mean a fault. */
const passesMax = 10;

type Move = { readonly main: Database; readonly from: Database; readonly to: Database };
type Report = (progress: string) => void | Promise<void>;

/** Answers how many rows were brought over, or that another move was begun and has to end first. */
export async function moveMerchant(
  { main, cells }: { readonly main: Database; readonly cells: Cells },
  merchant: MerchantId,
  wanted: string,
  report: Report,
): Promise<number | { readonly begun: string }> {
  const { from_cell, to_cell, run } = await beginMove(main, merchant, wanted);
  if (to_cell !== wanted) return { begun: to_cell };
  const move = {
    main,
    from: cells.databasesOf(from_cell).node,
    to: cells.databasesOf(to_cell).node,
  };
  // The schema of a cell other than the first has nothing but a cell's tables.
  const listed = to_cell === mainCell ? from_cell : to_cell;
  const tables = await listTables(cells.databasesOf(listed).node, schemaOf(listed));
  let rows = 0;
  if ((await cellOf(main, merchant)) !== to_cell) {
    // The copy is no one's until the switch.
    await fence(move.to, merchant);
    await report("Copying while payments go on");
    rows += await syncAll(move, tables, merchant);
    rows += await syncAll(move, tables, merchant);
    await report("Stopping the merchant in its old cell");
    rows += await bringLast(move, tables, merchant);
    await switchCell(main, merchant, to_cell, run);
    await report("The merchant lives in its new cell");
  }
  await move.to.query("delete from moved_merchants where merchant_id = $1", [merchant]);
  await report("Deleting the rows of the old cell");
  for (const table of tables) {
    await move.from.query(`delete from ${table.name} where ${ownedBy(table)}`, [merchant]);
  }
  await main.query("delete from merchant_moves where merchant_id = $1", [merchant]);
  return rows;
}

async function beginMove({ query }: Database, merchant: MerchantId, to: string) {
  await query(
    `insert into merchant_moves (merchant_id, from_cell, to_cell)
     select id, cell, $2 from merchants where id = $1 and cell <> $2 on conflict do nothing`,
    [merchant, to],
  );
  const [move] = await query<{ from_cell: string; to_cell: string; run: string }>(
    `update merchant_moves
     set begun_at = case when to_cell = $2 then clock_timestamp() else begun_at end
     where merchant_id = $1
     returning from_cell, to_cell, extract(epoch from begun_at)::text as run`,
    [merchant, to],
  );
  if (move === undefined) throw new Error("the merchant lives there already");
  return move;
}

async function cellOf({ query }: Database, merchant: MerchantId) {
  const [row] = await query<{ cell: string }>("select cell from merchants where id = $1", [
    merchant,
  ]);
  return row?.cell;
}

/** By the run that was begun last only: another may have lifted the fence since. */
function switchCell({ transaction }: Database, merchant: MerchantId, to: string, run: string) {
  return transaction(async (query) => {
    const own = await query(
      `select from merchant_moves
       where merchant_id = $1 and extract(epoch from begun_at)::text = $2 for update`,
      [merchant, run],
    );
    if (own.length === 0) throw new Error("another run goes on with the move");
    await query("update merchants set cell = $2 where id = $1", [merchant, to]);
    await notifyNodes(query);
  });
}

/** Answers the fence's time: it is the mark of the move that has set it last. */
async function fence({ query }: Database, merchant: MerchantId): Promise<string | undefined> {
  const [row] = await query<{ at: string }>(
    `insert into moved_merchants as known (merchant_id, moved_at) values ($1, clock_timestamp())
     on conflict (merchant_id) do update set moved_at = excluded.moved_at
     returning extract(epoch from known.moved_at)::text as at`,
    [merchant],
  );
  return row?.at;
}

/**
 * What has changed since the copy, with the merchant stopped. When that fails, the merchant goes on
 * in its old cell: the copy is fenced. A fence that another run has set meanwhile stays.
 */
async function bringLast(move: Move, tables: readonly Table[], merchant: MerchantId) {
  const { from, to } = move;
  const at = await fence(from, merchant);
  try {
    await awaitWriters(from, tables);
    const rows = await syncUntilSame(move, tables, merchant);
    await beginWalksAnew(to);
    return rows;
  } catch (error) {
    const lift = `delete from moved_merchants
      where merchant_id = $1 and extract(epoch from moved_at)::text = $2`;
    await from.query(lift, [merchant, at]).catch(() => undefined);
    // The fence may have hidden orders from a walk.
    await beginWalksAnew(from).catch(() => undefined);
    throw error;
  }
}

async function beginWalksAnew({ query }: Database): Promise<void> {
  await query("update retention_walks set after_id = 0 where days > 0");
}

/** A statement that began before the fence holds its tables' locks: none is left after this. */
async function awaitWriters({ transaction }: Database, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    for (let isFree = false; !isFree; ) {
      isFree = await transaction(async (query) => {
        await query(`set local lock_timeout = ${lockWaitMs}`);
        await query(`lock table ${name} in share mode`);
        return true;
      }).catch((error) => {
        if (judge(error) !== "retry") throw error;
        return false;
      });
    }
  }
}

type Table = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly types: readonly string[];
};

/** Those with a merchant's rows: named by a column, or by the first part of a context. */
function listTables({ query }: Database, schema: string) {
  return query<Table>(
    `select relname as name,
       (select array_agg(attname::text order by attname) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns,
       (select array_agg(attname::text order by place) from unnest(indkey::int[])
          with ordinality as part(number, place)
        join pg_attribute on attrelid = pg_class.oid and attnum = number) as key,
       (select array_agg(format_type(atttypid, atttypmod) order by place)
        from unnest(indkey::int[]) with ordinality as part(number, place)
        join pg_attribute on attrelid = pg_class.oid and attnum = number) as types
     from pg_class join pg_index on indrelid = pg_class.oid and indisprimary
     where relkind in ('r', 'p') and not relispartition and relname <> all($2)
       and relnamespace = $1::regnamespace
     -- A row of \`due\` without its order is deleted as stale.
     order by relname = 'due', relname`,
    [schema, others],
  );
}

function ownedBy({ columns }: Table): string {
  if (columns.includes("merchant_id")) return "merchant_id = $1::bigint";
  return "context like $1::bigint || '/%'";
}

async function syncAll(move: Move, tables: readonly Table[], merchant: MerchantId) {
  let changed = 0;
  for (const table of tables) changed += await sync(move, table, merchant);
  return changed;
}

/** Jobs of nodes still delete rows that are over, on both sides. */
async function syncUntilSame(move: Move, tables: readonly Table[], merchant: MerchantId) {
  const [expiring, lasting] = [tables.filter(expires), tables.filter((table) => !expires(table))];
  let rows = await syncAll(move, expiring, merchant);
  for (let pass = 1; pass <= passesMax; pass += 1) {
    const changed = await syncAll(move, lasting, merchant);
    if (changed === 0) return rows;
    rows += changed;
  }
  throw new Error(`rows still differ after ${passesMax} copies`);
}

function expires({ name }: Table): boolean {
  return expiringTables.includes(name);
}

type KeyedHash = { readonly key: string; readonly hash: string };

/** Makes the target's rows those of the source, page by page; answers how many were not. */
async function sync({ from, to }: Move, table: Table, merchant: MerchantId): Promise<number> {
  const columns = table.columns.join(", ");
  let changed = 0;
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const source = await readPage(from, table, { merchant, after, limit: pageSize });
    isLast = source.length < pageSize;
    const last = isLast ? undefined : source.at(-1)?.key;
    const target = await readPage(to, table, { merchant, after, upTo: last });
    const known = new Map(target.map(({ key, hash }) => [key, hash]));
    const wanted = new Set(source.map(({ key }) => key));
    const differing = source.filter(({ key, hash }) => known.get(key) !== hash);
    const gone = target.filter(({ key }) => !wanted.has(key));
    const stale = [...differing, ...gone].map(({ key }) => key);
    if (stale.length > 0) {
      const rows = await readRows(
        from,
        table,
        differing.map(({ key }) => key),
      );
      await to.transaction(async (query) => {
        await query(`delete from ${table.name} where ${inKeys(table)}`, [`[${stale.join(",")}]`]);
        await query(
          `insert into ${table.name} (${columns})
           select ${columns} from json_populate_recordset(null::${table.name}, $1)`,
          [rows],
        );
      });
    }
    changed += stale.length;
    after = last;
  }
  return changed;
}

type Page = {
  readonly merchant: MerchantId;
  readonly after: string | undefined;
  readonly upTo?: string | undefined;
  readonly limit?: number;
};

function readPage(database: Database, table: Table, { merchant, after, upTo, limit }: Page) {
  // Two servers may sort texts differently.
  const key = table.key
    .map((each, at) => (table.types[at] === "text" ? `${each} collate "C"` : each))
    .join(", ");
  const values: unknown[] = [merchant];
  const beyond = (sign: string, bound: string | undefined) => {
    if (bound === undefined) return "";
    const texts: readonly string[] = JSON.parse(bound);
    const places = texts.map((text, at) => `$${values.push(text)}::${table.types[at]}`);
    return ` and (${key}) ${sign} (${places.join(", ")})`;
  };
  const statement = `
    select json_build_array(${table.key.map((each) => `${each}::text`).join(", ")})::text as key,
      md5(row(${table.columns.join(", ")})::text) as hash
    from ${table.name} where ${ownedBy(table)}${beyond(">", after)}${beyond("<=", upTo)}
    order by ${key} ${limit === undefined ? "" : `limit ${limit}`}`;
  return inOneForm(database, (query) => query<KeyedHash>(statement, values));
}

/** As JSON text that nothing here parses: numbers keep all their digits. */
async function readRows(database: Database, table: Table, keys: readonly string[]) {
  const [row] = await inOneForm(database, (query) =>
    query<{ rows: string | null }>(
      `select json_agg(row_to_json(${table.name}))::text as rows from ${table.name}
       where ${inKeys(table)}`,
      [`[${keys.join(",")}]`],
    ),
  );
  return row?.rows ?? "[]";
}

function inKeys({ key, types }: Table): string {
  const parts = types.map((type, at) => `(wanted ->> ${at})::${type}`).join(", ");
  return `(${key.join(", ")}) in (select ${parts} from json_array_elements($1::json) as wanted)`;
}

/** Two servers may print values in different forms. */
function inOneForm<Result>({ transaction }: Database, work: (query: Query) => Promise<Result>) {
  return transaction(async (query) => {
    await query(`select set_config('timezone', 'UTC', true),
      set_config('bytea_output', 'hex', true), set_config('datestyle', 'ISO, YMD', true)`);
    return work(query);
  });
}
