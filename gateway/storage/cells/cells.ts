/**
 * Cells (decision 0034). A cell is a schema with the tables of some merchants' orders, in the main
 * database or on a server of its own. Each cell has its own stores, connections and queues, so that
 * an unreachable cell only affects its own merchants.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { MerchantId } from "../../values/ids.ts";
import type { Secret } from "../../values/secret.ts";
import type { Vault } from "../../vault/vault.ts";
import type { Database, Query } from "../server/database.ts";

export const mainCell = "main";

/** The connections to a cell: `node` for the tables of orders, `vault` for those of the vault. */
export type CellDatabases = { readonly node: Database; readonly vault: Database };

export type CellLocation = {
  readonly name: string;
  /** Undefined if the cell is in the main database. */
  readonly url?: Secret<string> | undefined;
  /** True if the cell's database is a Citus coordinator. */
  readonly onCitus?: boolean;
};

export function schemaOf(cell: string): string {
  return `cell_${cell}`;
}

export function cellContext(cell: string): string {
  return `cell/${cell}`;
}

export async function loadCells(
  query: Query,
  open: Vault["openSecret"],
): Promise<readonly CellLocation[]> {
  const rows = await query<{ name: string; sealed: Buffer | null; onCitus: boolean }>(
    `select name, sealed_url as sealed, on_citus as "onCitus" from cells
     order by created_at, name`,
  );
  return rows.map(({ name, sealed, onCitus }) => ({
    name,
    onCitus,
    url: sealed === null ? undefined : open(sealed, cellContext(name)),
  }));
}

/** Reads each merchant's cell from the database, also for commands without a configuration. */
export async function loadCellMap(query: Query, open: Vault["openSecret"]): Promise<CellMap> {
  const rows = await query<{ id: MerchantId; cell: string }>("select id, cell from merchants");
  return {
    cells: await loadCells(query, open),
    cellOf: new Map(rows.map(({ id, cell }) => [id, cell])),
  };
}

export async function openCellMap(load: () => Promise<CellMap>) {
  let map = await load();
  return {
    current: () => map,
    async reload() {
      map = await load();
    },
  };
}

/**
 * A condition for every statement that reads or writes a merchant's rows. After the merchant has
 * moved to another cell, it fails with a division by zero, even if the node's configuration is
 * outdated. On Citus, a function that raises an error would have to exist on every server.
 */
export function assertHomeCell(merchants: string): string {
  return `(select 1 / (count(*) = 0)::int from moved_merchants where merchant_id ${merchants}) = 1`;
}

/** Leaves out merchants that have moved to another cell: their rows in this cell are copies. */
export const isHere = "merchant_id not in (select merchant_id from moved_merchants)";

const divisionByZero = "22012";

export function hasMoved(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === divisionByZero;
}

/**
 * The error of a call that has waited too long for a merchant's move, or of a search that found an
 * order of a moved merchant. PostgreSQL's code for an object in use makes callers try again.
 */
export class MerchantMoving extends Error {
  readonly code = "55006";
}

export type CellMap = {
  readonly cells: readonly CellLocation[];
  readonly cellOf: ReadonlyMap<MerchantId, string>;
};

type Options = {
  readonly main: CellDatabases;
  readonly open: (place: CellLocation) => CellDatabases;
  /** How long a call waits for a merchant that is being moved, if the caller gives no limit. */
  readonly waitMs: number;
  readonly onFailed: (cell: string, error: unknown) => void;
};

export type Cells = ReturnType<typeof makeCells>;
const firstMap: CellMap = { cells: [{ name: mainCell }], cellOf: new Map() };

export function makeCells({ main, open, waitMs, onFailed }: Options) {
  const opened = new Map<string, CellDatabases>([[mainCell, main]]);
  const moving = new Map<MerchantId, Promise<void>>();
  let current = () => firstMap;
  let reload = async () => {};

  const router = {
    waitMs,
    onFailed,
    places: () => current().cells,
    names: () => current().cells.map(({ name }) => name),
    cellOf: (merchant: MerchantId) => current().cellOf.get(merchant) ?? mainCell,
    databasesOf,
    awaitMove,
    moving: (merchant: MerchantId) => moving.get(merchant),
  };
  return {
    ...router,
    /** Opens a cell, even one that is not listed yet. The caller closes its databases. */
    open,
    /** From now on, reads in which cell a merchant lives from the node's configuration. */
    follow(source: { current(): CellMap; reload(): Promise<void> }): void {
      current = source.current;
      reload = source.reload;
    },
    stores: <Store>(make: (databases: CellDatabases) => Store) => makeStores(router, make),
    async close(): Promise<void> {
      const others = [...opened.values()].filter((databases) => databases !== main);
      await Promise.allSettled(others.flatMap(({ node, vault }) => [node.close(), vault.close()]));
    },
  };

  function databasesOf(name: string): CellDatabases {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const place = current().cells.find((cell) => cell.name === name);
    if (place === undefined) throw new Error(`no cell ${name}`);
    const databases = open(place);
    opened.set(name, databases);
    return databases;
  }

  /** Resolves when the configuration names the merchant's new cell, or the move is taken back. */
  function awaitMove(merchant: MerchantId, from: string): Promise<void> {
    const waiting = moving.get(merchant) ?? untilMoved(merchant, from);
    moving.set(merchant, waiting);
    return waiting;
  }

  async function untilMoved(merchant: MerchantId, from: string): Promise<void> {
    const { query } = databasesOf(from).node;
    for (let isFenced = true; isFenced; ) {
      await reload().catch(() => undefined);
      if (router.cellOf(merchant) !== from) break;
      await delay(lookEveryMs, undefined, { ref: false });
      isFenced = await query("select from moved_merchants where merchant_id = $1", [merchant]).then(
        (rows) => rows.length > 0,
        () => true,
      );
    }
    moving.delete(merchant);
  }
}

const lookEveryMs = 100;

type Router = Pick<Options, "waitMs" | "onFailed"> & {
  names(): readonly string[];
  cellOf(merchant: MerchantId): string;
  databasesOf(name: string): CellDatabases;
  awaitMove(merchant: MerchantId, from: string): Promise<void>;
  /** Returns a promise for the end of the merchant's move, or undefined if no call waits for it. */
  moving(merchant: MerchantId): Promise<void> | undefined;
};

function makeStores<Store>(router: Router, make: (databases: CellDatabases) => Store) {
  const made = new Map<string, Store>();
  const failed = new Set<string>();
  /** Failed cells with a call under way. Until it ends, calls for all cells leave them out. */
  const retried = new Set<string>();

  return { of, call, each, inTurn, search };

  function of(name: string): Store {
    const known = made.get(name);
    if (known !== undefined) return known;
    const store = make(router.databasesOf(name));
    made.set(name, store);
    return store;
  }

  /** Calls the store of the merchant's cell, or that of its new cell if the merchant has moved. */
  async function call<Result>(
    merchant: MerchantId,
    use: (store: Store, isAgain: boolean) => Promise<Result>,
    waitMs = router.waitMs,
  ): Promise<Result> {
    const giveUpAt = performance.now() + waitMs;
    for (let isAgain = false; ; isAgain = true) {
      const cell = router.cellOf(merchant);
      // Waits for a merchant's move: statements for a moving merchant fail with their batch.
      let moving = router.moving(merchant);
      try {
        if (moving === undefined) return await use(of(cell), isAgain);
      } catch (error) {
        if (!hasMoved(error)) throw error;
        moving = router.awaitMove(merchant, cell);
      }
      const leftMs = Math.min(giveUpAt - performance.now(), timerMaxMs);
      const timedOut = delay(Math.max(0, leftMs), true, { ref: false });
      const isTimedOut = await Promise.race([moving, timedOut]);
      if (isTimedOut === true) throw new MerchantMoving(`merchant ${merchant} is moving`);
    }
  }

  /**
   * Calls the stores of all cells at once. A failing cell is reported and its result is left out,
   * unless all fail. A cell whose last call has failed is called without waiting for its result.
   */
  async function each<Result>(
    use: (store: Store, cell: string) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const names = router.names();
    const isOnlyCell = names.length === 1;
    const free = isOnlyCell ? names : names.filter((name) => !retried.has(name));
    const awaited = isOnlyCell ? names : free.filter((name) => !failed.has(name));
    const results: Result[] = [];
    const errors: unknown[] = [];
    const walks = free.map(async (name) => {
      if (failed.has(name)) retried.add(name);
      try {
        results.push(await use(of(name), name));
        failed.delete(name);
      } catch (error) {
        failed.add(name);
        if (!isOnlyCell) router.onFailed(name, error);
        errors.push(error);
      } finally {
        retried.delete(name);
      }
    });
    await Promise.all(walks.filter((_, index) => awaited.includes(free[index] ?? "")));
    if (results.length === 0 && errors.length > 0) throw errors[0];
    return [...results];
  }

  /** Calls the stores one after the other, until one fails. */
  async function inTurn<Result>(
    use: (store: Store, cell: string) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const results: Result[] = [];
    for (const name of router.names()) results.push(await use(of(name), name));
    return results;
  }

  /** Searches all cells. Fails if no cell has a result and one of them could not be searched. */
  async function search<Result>(
    use: (store: Store) => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const asked = router.names().map(async (name) => {
      const found = await use(of(name));
      if (found === undefined) throw nothing;
      return found;
    });
    return Promise.any(asked).catch(({ errors }: AggregateError) => {
      const fault = errors.find((error) => error !== nothing);
      if (fault !== undefined) throw fault;
      return undefined;
    });
  }
}

const nothing = new Error("not in this cell");
/**
 * Returns the cells with the connections that are reserved for screens. A caller that holds the
 * lock on the newest audit entry must use these, because changes that wait for this lock may occupy
 * all ordinary connections.
 */
export function cellsForScreens(cells: Cells): Cells {
  const databasesOf = (name: string): CellDatabases => {
    const { node, vault } = cells.databasesOf(name);
    return { node: queryForScreens(node), vault: queryForScreens(vault) };
  };
  const router = { ...cells, databasesOf };
  return { ...router, stores: (make) => makeStores(router, make) };
}

export function queryForScreens(database: Database): Database {
  return { ...database, query: database.forScreens, snapshot: database.snapshotForScreens };
}

const timerMaxMs = 2 ** 31 - 1;
