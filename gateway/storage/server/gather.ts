/**
 * Gathers the items of many callers at the same moment into one statement. While a statement runs,
 * the next batch fills, so batches grow with the load and a quiet gateway never waits. This file
 * also has the array literals of a batch, and deletion in the background.
 */
import { setTimeout } from "node:timers/promises";
import type { MerchantId } from "../../values/ids.ts";
import type { Clock, Instant } from "../../values/time.ts";
import { hasMoved } from "../cells/cells.ts";
import type { Query } from "./database.ts";
import { isClosed, isOfStatement, judge } from "./faults.ts";

export type GatherOptions = {
  readonly batchMax?: number;
  /**
   * The highest number of items in a batch, or a third of the waiting items if that is more:
   * otherwise all of them would wait for one huge batch.
   */
  readonly wholeMax?: number;
  /**
   * Returns the least time from one batch to the next, so that items of several turns of the event
   * loop share one. The next batch does not wait for it while `wholeMax` items wait.
   */
  readonly gapMs?: () => number;
  readonly onBatch?: (size: number, durationMs: number) => void;
  /**
   * Runs each item alone after a failure that is a bug's, because one of them may have caused it.
   */
  readonly retryAlone?: boolean;
  /**
   * How long an item is tried again while the database is unreachable; the item must be repeatable.
   * If this is infinite, no item is lost even by a failure that is a bug's: each is tried alone
   * until it succeeds.
   */
  readonly retryMs?: number;
  /** Called for each failure after which an item is tried alone. */
  readonly onStuck?: (error: unknown) => void;
  readonly stuckGapMs?: number;
};

const firstGapMs = 50;
const gapMaxMs = 1000;
const stuckGapMs = 5000;
/** How long an item that is not tried again waits for its first try. */
const patienceMs = 2000;

/**
 * A queue. Its probe waits for the next batch, or sends an empty one, and ends with it. So a probe
 * is delayed by the same causes as an item. At most one probe waits at a time.
 */
type Gather<Item, Result> = ((item: Item, isRepeated?: boolean) => Promise<Result>) & Probed;
type Probed = { readonly probe: () => Promise<void> };

/**
 * Makes a queue. `run` returns one result for each item, in the same order; for a probe alone it
 * gets no items. `isRepeated` says that an earlier try of some items has failed, which may have
 * been committed nevertheless.
 */
export function makeGather<Item, Result>(
  run: (items: readonly Item[], isRepeated: boolean) => Promise<readonly Result[]>,
  options: GatherOptions = {},
): Gather<Item, Result> {
  const { batchMax = 256, wholeMax = batchMax, retryAlone = false, retryMs = 0, onBatch } = options;
  const retriesForever = retryMs === Number.POSITIVE_INFINITY;
  let waiting: Waiting<Item, Result>[] = [];
  let nextProbe: PromiseWithResolvers<void> | undefined;
  let isBusy = false;
  let failures = 0;

  const gather = (item: Item, isRepeated = false) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, since: performance.now(), isRepeated, resolve, reject });
      if (!isBusy) start();
    });
  return Object.assign(gather, { probe });

  function probe(): Promise<void> {
    nextProbe ??= Promise.withResolvers();
    if (!isBusy) start();
    return nextProbe.promise;
  }

  /**
   * The batch is deferred, because the requests that this turn of the event loop reads belong
   * together.
   */
  function start(): void {
    isBusy = true;
    setImmediate(runBatch);
  }

  async function runBatch(): Promise<void> {
    const size = Math.min(batchMax, Math.max(wholeMax, Math.ceil(waiting.length / 3)));
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    const startedAt = performance.now();
    const tested = nextProbe;
    nextProbe = undefined;
    const left = await tryAll(batch, tested);
    const tookMs = performance.now() - startedAt;
    if (batch.length > 0) onBatch?.(batch.length, tookMs);
    failures = left.length === 0 ? 0 : failures + 1;
    const restMs =
      failures > 0
        ? Math.min(firstGapMs * 2 ** (failures - 1), gapMaxMs)
        : (options.gapMs?.() ?? 0) - tookMs;
    if (restMs > 0 && (failures > 0 || waiting.length < wholeMax)) await setTimeout(restMs);
    waiting = [...left, ...waiting];
    isBusy = false;
    if (waiting.length > 0 || nextProbe !== undefined) start();
  }

  /** Runs a batch and returns the items that are to be tried again. */
  async function tryAll(
    batch: readonly Waiting<Item, Result>[],
    tested?: PromiseWithResolvers<void>,
  ): Promise<typeof waiting> {
    try {
      const isRepeated = batch.some((each) => each.isRepeated);
      const results = await run(
        batch.map(({ item }) => item),
        isRepeated,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      tested?.resolve();
      return [];
    } catch (error) {
      const verdict = judge(error);
      const isOfOne = isOfStatement(error) && (retryAlone || retriesForever || hasMoved(error));
      if (isOfOne && batch.length > 1) {
        // The server has answered, so an item is at fault.
        tested?.resolve();
        return (await Promise.all(batch.map((each) => tryAll([each])))).flat();
      }
      tested?.reject(error);
      if (isOfOne && retriesForever && !hasMoved(error) && !isClosed(error)) {
        for (const each of batch) void tryLater(each, error);
        return [];
      }
      const isHopeless = verdict === "bug" || (verdict === "refuse" && !retriesForever);
      // When a batch fails, older items in the queue are rejected as well: they would fail too, and
      // their callers must not wait longer.
      if (!isHopeless) waiting = rejectOlder(waiting, error, Math.max(retryMs, patienceMs));
      const retried = rejectOlder(batch, error, isHopeless ? 0 : retryMs);
      return retried.map((each) => ({ ...each, isRepeated: true }));
    }
  }

  /** Tries an item alone, without delaying the queue or the end of the node. */
  async function tryLater(each: Waiting<Item, Result>, error: unknown): Promise<void> {
    options.onStuck?.(error);
    await setTimeout(options.stuckGapMs ?? stuckGapMs, undefined, { ref: false });
    const left = await tryAll([{ ...each, isRepeated: true }]);
    waiting.push(...left);
    if (left.length > 0 && !isBusy) start();
  }

  function rejectOlder(items: readonly Waiting<Item, Result>[], error: unknown, limitMs: number) {
    const oldest = performance.now() - limitMs;
    for (const { since, reject } of items) if (since <= oldest) reject(error);
    return items.filter(({ since }) => since > oldest);
  }
}

type Waiting<Item, Result> = Omit<PromiseWithResolvers<Result>, "promise"> & {
  readonly item: Item;
  /** When the item was added, by the process's own clock. */
  readonly since: number;
  readonly isRepeated: boolean;
};

export type KeyedRow = { readonly merchant_id: string; readonly id: string };

/**
 * Makes a look-up of rows by merchant and id, which the row must have. $1 and $2 of the statement
 * are the arrays.
 */
export function makeFindRow<Row extends KeyedRow, Id extends string>(
  query: Query,
  { statement, name, ...options }: GatherOptions & { statement: string; name: string },
): ((merchantId: MerchantId, id: Id) => Promise<Row | undefined>) & Probed {
  const find = makeGather(async (keys: readonly (readonly [MerchantId, Id])[]) => {
    const merchants = plainArray(keys.map(([merchant]) => merchant));
    const ids = plainArray(keys.map(([, id]) => id));
    const rows = await query<Row>(statement, [merchants, ids], name);
    const found = new Map(rows.map((row) => [`${row.merchant_id}/${row.id}`, row]));
    return keys.map(([merchantId, id]) => found.get(`${merchantId}/${id}`));
  }, options);
  const findRow = (merchantId: MerchantId, id: Id) => find([merchantId, id]);
  return Object.assign(findRow, { probe: find.probe });
}

// The driver can write arrays too, but it escapes every element twice, and a batch of orders on the
// hot path has fifteen columns. Documents are sent as one JSON array, without more escapes.
const needsQuotes = /[{}",\\\s]|^$|^null$/i;

/** Returns the literal for numbers, UUIDs and other text that never needs quotes. */
export function plainArray(values: readonly (string | number | bigint | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join(",")}}`;
}

export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map(textElement).join(",")}}`;
}

function textElement(value: string | null): string {
  if (value === null) return "NULL";
  if (!needsQuotes.test(value)) return value;
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Returns an argument of `json_array_elements`. Each of the texts is JSON already. */
export function jsonArray(documents: readonly string[]): string {
  return `[${documents.join(",")}]`;
}

export function bytesArray(values: readonly (Uint8Array | null)[]): string {
  return `{${values.map(bytesElement).join(",")}}`;
}

function bytesElement(value: Uint8Array | null): string {
  return value === null ? "NULL" : `"\\\\x${value.toHex()}"`;
}

/**
 * Returns a function that deletes in the background, at most once in `everyMs`. A failed deletion
 * is left to the next time.
 */
export function makeSweep(
  clock: Clock,
  everyMs: number,
  sweep: (now: Instant) => Promise<unknown>,
): () => void {
  let sweptAt = clock.now();
  return () => {
    const now = clock.now();
    if (now - sweptAt < everyMs) return;
    sweptAt = now;
    void sweep(now).catch(() => undefined);
  };
}
