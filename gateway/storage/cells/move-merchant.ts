/**
 * Moves a merchant to another cell. Rows are copied and compared while payments go on, until few
 * differ. The merchant is fenced in its old cell, so that every statement for it fails there, the
 * last changes are copied, and the merchant's row names the new cell. An interrupted move is
 * continued by starting it again, or is taken back.
 */
import { setTimeout } from "node:timers/promises";
import type { MerchantId } from "../../values/ids.ts";
import { notifyNodes } from "../configuration/configuration.ts";
import { lockIndex } from "../portal/order-index.ts";
import type { Database, Query } from "../server/database.ts";
import { isLocked } from "../server/faults.ts";
import { type Cells, mainCell, schemaOf } from "./cells.ts";
import {
  type CopiedTable,
  copyChanges,
  copyTable,
  deleteRows,
  isMarked,
  listTables,
  OtherRun,
  type Pair,
  type Table,
} from "./copy-rows.ts";

/** How long statements of other merchants may wait for the locks that a fence takes. */
const lockWaitMs = 200;

/** Nodes delete expired rows from these tables, so they need not become equal in both cells. */
const expiringTables = [
  ...["oauth_nonces", "wallet_messages", "hosted_fields"],
  ...["held_keys", "held_secrets"],
];

/** The merchant is fenced when a comparison of all rows finds no more changes than this. */
const changesMax = 200;
/** The merchant is fenced after this many comparisons, even if many rows still change. */
const looksMax = 5;

type Report = (progress: string) => void | Promise<void>;
type Places = { readonly main: Database; readonly cells: Cells };
/** Another move of the merchant has begun and must end first. */
type OtherMove = { readonly begun: string };
type Moved = { readonly rows: number; readonly stoppedMs: number };

export async function moveMerchant(
  { main, cells }: Places,
  merchant: MerchantId,
  wanted: string,
  report: Report,
): Promise<Moved | OtherMove> {
  const { from_cell, to_cell, run } = await beginMove(main, merchant, wanted);
  if (to_cell !== wanted) return { begun: to_cell };
  const { from, to } = databasesOf(cells, from_cell, to_cell);
  const tables = await tablesOf(cells, from_cell, to_cell);
  let [rows, stoppedAt] = [0, performance.now()];
  const isSwitched = (await cellOf(main, merchant)) === to_cell;
  // The merchant is fenced in the new cell until the move is complete, because its rows are a copy.
  const mark = isSwitched ? await findFence(to, merchant) : await fence(to, merchant);
  if (!isSwitched) {
    const pair = { from, to, mark };
    await report("Copying while payments go on");
    const copied = await copyAll(pair, tables, merchant);
    await report("Stopping the merchant in its old cell");
    stoppedAt = performance.now();
    if (!(await isLatest(main.query, merchant, run))) throw new OtherRun();
    const { changed, lift } = await bringLast(pair, copied.tables, merchant);
    rows = copied.rows + changed;
    if (!(await switchCell(main, merchant, to_cell, run))) {
      await lift();
      throw new OtherRun();
    }
    await report("The merchant lives in its new cell");
  }
  await liftFence(to, merchant, mark);
  const stoppedMs = Math.round(performance.now() - stoppedAt);
  await restartWalks(to);
  const left = await findFence(from, merchant);
  await report("Deleting the rows of the old cell");
  for (const table of tables) await deleteRows(from, table, merchant, left);
  await main.query("delete from merchant_moves where merchant_id = $1", [merchant]);
  return { rows, stoppedMs };
}

/**
 * Takes a move back, unless the merchant's row names the new cell already. The copy is deleted, and
 * the merchant stays fenced in the new cell, because it does not live there.
 */
export async function abortMove(
  { main, cells }: Places,
  merchant: MerchantId,
  report: Report,
): Promise<"aborted" | "none" | "switched"> {
  // Taking a merchant back counts as the newest run of its move, so that a run that began earlier
  // can no longer complete the move.
  const [move] = await main.query<{ from_cell: string; to_cell: string }>(
    `update merchant_moves set begun_at = clock_timestamp() where merchant_id = $1
     returning from_cell, to_cell`,
    [merchant],
  );
  if (move === undefined) return "none";
  if ((await cellOf(main, merchant)) === move.to_cell) return "switched";
  const { from, to } = databasesOf(cells, move.from_cell, move.to_cell);
  await from.query("delete from moved_merchants where merchant_id = $1", [merchant]);
  await restartWalks(from);
  await report("The merchant goes on in its old cell");
  const tables = await tablesOf(cells, move.from_cell, move.to_cell);
  const mark = await fence(to, merchant);
  for (const table of tables) await deleteRows(to, table, merchant, mark);
  await main.query("delete from merchant_moves where merchant_id = $1", [merchant]);
  return "aborted";
}

type UnfinishedMove = {
  readonly login: string;
  readonly from: string;
  readonly to: string;
  readonly since: string;
  /** While the move is `stopped`, the merchant's requests get the status 503. */
  readonly state: "copying" | "stopped" | "switched" | "unknown";
};

export async function listMoves({ main, cells }: Places): Promise<readonly UnfinishedMove[]> {
  const moves = await main.query<Omit<UnfinishedMove, "state"> & { id: string; cell: string }>(
    `select id, login, cell, from_cell as from, to_cell as to,
       to_char(begun_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as since
     from merchant_moves join merchants on id = merchant_id order by begun_at`,
  );
  const stateOf = async ({ id, cell, to }: (typeof moves)[number]) => {
    const { query } = cells.databasesOf(cell).node;
    const fenced = await query("select from moved_merchants where merchant_id = $1", [id]).catch(
      () => undefined,
    );
    if (fenced === undefined) return "unknown";
    if (fenced.length > 0) return "stopped";
    return cell === to ? "switched" : "copying";
  };
  return Promise.all(
    moves.map(async (move) => {
      const { login, from, to, since } = move;
      return { login, from, to, since, state: await stateOf(move) };
    }),
  );
}

function databasesOf(cells: Cells, from: string, to: string): Omit<Pair, "mark"> {
  return { from: cells.databasesOf(from).node, to: cells.databasesOf(to).node };
}

/** Lists a cell's tables, never in the main cell, which also has the installation's tables. */
function tablesOf(cells: Cells, from: string, to: string) {
  const listed = to === mainCell ? from : to;
  return listTables(cells.databasesOf(listed).node, schemaOf(listed));
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

/**
 * Writes the new cell into the merchant's row. Returns false, and writes nothing, if a later run of
 * the move has begun, because that run may have removed the fence.
 */
function switchCell({ transaction }: Database, merchant: MerchantId, to: string, run: string) {
  return transaction(async (query) => {
    if (!(await isLatest(query, merchant, run))) return false;
    await query("update merchants set cell = $2 where id = $1", [merchant, to]);
    await notifyNodes(query);
    return true;
  });
}

/** In a transaction, locks the move's row, so that no later run of the move can begin. */
async function isLatest(query: Query, merchant: MerchantId, run: string): Promise<boolean> {
  const own = await query(
    `select from merchant_moves
     where merchant_id = $1 and extract(epoch from begun_at)::text = $2 for update`,
    [merchant, run],
  );
  return own.length > 0;
}

/** Returns the time of the fence, which changes when a later run fences the merchant again. */
async function fence({ query }: Database, merchant: MerchantId): Promise<string> {
  const [row] = await query<{ at: string }>(
    `with fenced as (
       insert into moved_merchants (merchant_id, moved_at) values ($1, clock_timestamp())
       on conflict (merchant_id) do update set moved_at = excluded.moved_at
       returning moved_at
     )
     select extract(epoch from moved_at)::text as at from fenced`,
    [merchant],
  );
  return row?.at ?? noMark;
}

async function findFence({ query }: Database, merchant: MerchantId): Promise<string> {
  const [row] = await query<{ at: string }>(
    "select extract(epoch from moved_at)::text as at from moved_merchants where merchant_id = $1",
    [merchant],
  );
  return row?.at ?? noMark;
}

const noMark = "0";

/** Removes the fence, unless another run has set it again. */
async function liftFence({ query }: Database, merchant: MerchantId, mark: string): Promise<void> {
  const own = `merchant_id = $1 and ${isMarked}`;
  await query(`delete from moved_merchants where ${own}`, [merchant, mark]);
}

/** Copies and compares all rows, and copies later changes again until few rows differ. */
async function copyAll(pair: Pair, tables: readonly Table[], merchant: MerchantId) {
  let rows = 0;
  for (const table of tables) rows += (await copyTable(pair, table, merchant)).changed;
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const { changed, bounds } = await copyTable(pair, table, merchant);
    rows += changed;
    copied.push({ ...table, bounds });
  }
  for (let look = 1; look <= looksMax; look += 1) {
    const changed = await copyChanges(pair, copied, merchant, () => false);
    rows += changed;
    if (changed <= changesMax) break;
  }
  return { rows, tables: copied };
}

/**
 * Fences the merchant and copies the last changes. On a failure, the merchant continues in its old
 * cell, and the copy stays fenced. A fence that another run has set again is not removed.
 */
async function bringLast(pair: Pair, tables: readonly CopiedTable[], merchant: MerchantId) {
  const { from } = pair;
  const mark = await fence(from, merchant);
  const lift = async () => {
    await liftFence(from, merchant, mark);
    // The searches for expired cards skip a fenced merchant's cards, so they begin again.
    await restartWalks(from);
  };
  try {
    await awaitWriters(from, tables);
    const retriesUntilEqual = ({ name }: Table) => !expiringTables.includes(name);
    const changed = await copyChanges(pair, tables, merchant, retriesUntilEqual);
    return { changed, lift };
  } catch (error) {
    await lift().catch(() => undefined);
    throw error;
  }
}

async function restartWalks({ query }: Database): Promise<void> {
  await query("update retention_walks set after_id = 0 where days > 0");
  // Nodes do not index a fenced merchant's orders, so they search the last minutes again.
  const earlier = "now() - interval '5 minutes'";
  await query(`update order_index_progress set swept_at = ${earlier} where swept_at > ${earlier}`);
}

/**
 * Waits for the end of statements that began before the fence, by locking the tables that they
 * write. If the server is unreachable, the run fails, and the operator can start it again.
 */
async function awaitWriters({ transaction }: Database, tables: readonly Table[]): Promise<void> {
  const locks = [...tables.map(({ name }) => `lock table ${name} in share mode`), lockIndex];
  for (const lock of locks) {
    for (let isFree = false; !isFree; ) {
      isFree = await transaction(async (query) => {
        await query(`set local lock_timeout = ${lockWaitMs}`);
        await query(lock);
        return true;
      }).catch(async (error) => {
        if (!isLocked(error)) throw error;
        await setTimeout(lockWaitMs);
        return false;
      });
    }
  }
}
