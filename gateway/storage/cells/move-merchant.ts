/**
 * Moves a merchant from one cell to another. The rows are copied and compared while payments go on.
 * Then the merchant is fenced in its old cell, later changes are copied and compared, and the
 * merchant's row names the new cell. Every step can be repeated: a move that was interrupted at any
 * point is continued by starting it again, or taken back.
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

/** How long statements of other merchants may wait for the fence. */
const lockWaitMs = 200;

/** Tables from which nodes delete expired rows: one copy behind the fence is enough. */
const expiringTables = ["oauth_nonces", "wallet_messages", "held_keys", "held_secrets"];

/** The merchant is stopped when a comparison of all rows finds no more changes than this. */
const changesMax = 200;
/**
 * The merchant is stopped after this many comparisons in any case, because it may always be busy.
 */
const looksMax = 5;

type Report = (progress: string) => void | Promise<void>;
type Places = { readonly main: Database; readonly cells: Cells };
/** Another move has begun and must end first. */
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
  // Until the switch, the merchant does not live in the new cell, so the copy there is fenced.
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
 * Takes a move back. Before the switch, the merchant stays in its old cell, and the copy is
 * deleted. The fence of the other cell remains, because the merchant does not live there.
 */
export async function abortMove(
  { main, cells }: Places,
  merchant: MerchantId,
  report: Report,
): Promise<"aborted" | "none" | "switched"> {
  // The move is claimed as by a run, so that an earlier run that still works cannot switch any
  // more.
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
  /** `stopped` means that the merchant gets 503 until the move continues or is taken back. */
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

/** Lists the tables of a cell. A schema other than the first cell's contains nothing else. */
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
 * Switches the merchant to the new cell. Only the latest run may do it, and others get false,
 * because another run may have lifted the fence since.
 */
function switchCell({ transaction }: Database, merchant: MerchantId, to: string, run: string) {
  return transaction(async (query) => {
    if (!(await isLatest(query, merchant, run))) return false;
    await query("update merchants set cell = $2 where id = $1", [merchant, to]);
    await notifyNodes(query);
    return true;
  });
}

/** Returns whether the run is the latest. In a transaction, no other run begins until it ends. */
async function isLatest(query: Query, merchant: MerchantId, run: string): Promise<boolean> {
  const own = await query(
    `select from merchant_moves
     where merchant_id = $1 and extract(epoch from begun_at)::text = $2 for update`,
    [merchant, run],
  );
  return own.length > 0;
}

/** Fences a merchant and returns the time of the fence, which marks the run that set it last. */
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

/** The mark of a merchant that is not fenced. */
const noMark = "0";

/** Lifts the fence unless another run has marked it since. */
async function liftFence({ query }: Database, merchant: MerchantId, mark: string): Promise<void> {
  const own = `merchant_id = $1 and ${isMarked}`;
  await query(`delete from moved_merchants where ${own}`, [merchant, mark]);
}

/**
 * Copies all rows, then compares all of them, then repeats copying what payments change until that
 * is little.
 */
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
 * Copies what has changed since, with the merchant stopped. If that fails, the merchant continues
 * in its old cell, and the copy stays fenced. A fence that another run has set in the meantime
 * stays.
 */
async function bringLast(pair: Pair, tables: readonly CopiedTable[], merchant: MerchantId) {
  const { from } = pair;
  const mark = await fence(from, merchant);
  const lift = async () => {
    await liftFence(from, merchant, mark);
    // The fence may have hidden orders from a walk.
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
  // The sweep is set back by five minutes, because nodes drop orders of a fenced merchant without
  // indexing them.
  const earlier = "now() - interval '5 minutes'";
  await query(`update order_index_progress set swept_at = ${earlier} where swept_at > ${earlier}`);
}

/**
 * Waits for statements that began before the fence, by taking the locks of their tables once. It
 * only waits for locks: an unreachable server ends the run, and an operator starts it again.
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
