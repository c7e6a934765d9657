/**
 * Gathers the items that callers submit at the same moment, such as orders to write, into one
 * statement. While it runs, further items are collected for the next, so that batches grow with the
 * load and a quiet gateway never waits. Also makes array literals, and deletes in the background.
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
   * If more than three times this number of items wait, a batch takes a third of them, so that not
   * all callers wait for the same huge batch.
   */
  readonly wholeMax?: number;
  /**
   * Returns the shortest time between the beginnings of two batches, so that items of several turns
   * of the event loop share one. A batch begins earlier if `wholeMax` items wait.
   */
  readonly gapMs?: () => number;
  readonly onBatch?: (size: number, durationMs: number) => void;
  /** If true, the items of a failed batch are run one by one if one of them may be the cause. */
  readonly retryAlone?: boolean;
  /**
   * How long an item is tried again while the database is unreachable; running it twice must be
   * harmless. If infinite, an item that fails because of a bug is tried alone until it succeeds.
   */
  readonly retryMs?: number;
  /** Called when an item is tried alone because it has failed by itself. */
  readonly onStuck?: (error: unknown) => void;
  readonly stuckGapMs?: number;
};

const firstGapMs = 50;
const gapMaxMs = 1000;
const stuckGapMs = 5000;
/** How long an item may wait in the queue while batches fail. Then its caller gets the error. */
const patienceMs = 2000;

/**
 * A queue that gathers items into batches. A probe tests the database: it ends with the next batch,
 * which may be empty, and so is delayed by the same causes as an item. At most one probe waits.
 */
type Gather<Item, Result> = ((item: Item, isRepeated?: boolean) => Promise<Result>) & Probed;
type Probed = { readonly probe: () => Promise<void> };

/**
 * `run` returns one result for each item of a batch, in the order of the items; a probe's batch may
 * be empty. `isRepeated` means that an earlier try of some items failed, but may have been
 * committed.
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

  /** Begins a batch after this turn of the event loop, to take all items that the turn submits. */
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
        // An item has caused the error. The server has answered, so the probe has succeeded.
        tested?.resolve();
        return (await Promise.all(batch.map((each) => tryAll([each])))).flat();
      }
      tested?.reject(error);
      if (isOfOne && retriesForever && !hasMoved(error) && !isClosed(error)) {
        for (const each of batch) void tryLater(each, error);
        return [];
      }
      const isHopeless = verdict === "bug" || (verdict === "refuse" && !retriesForever);
      // When a batch fails, items that have waited in the queue for long are rejected too. They
      // would fail as well, and their callers must not wait longer.
      if (!isHopeless) waiting = rejectOlder(waiting, error, Math.max(retryMs, patienceMs));
      const retried = rejectOlder(batch, error, isHopeless ? 0 : retryMs);
      return retried.map((each) => ({ ...each, isRepeated: true }));
    }
  }

  /** Tries an item again after a pause. Neither the queue nor the end of the node waits for it. */
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
  readonly since: number;
  readonly isRepeated: boolean;
};

export type KeyedRow = { readonly merchant_id: string; readonly id: string };

/** Finds rows by the merchants in $1 and the ids in $2. No merchant gets another's row. */
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

// The driver could make PostgreSQL's array literals too, but it escapes every element twice, which
// is slow for a batch of orders with its fifteen arrays.
const needsQuotes = /[{}",\\\s]|^$|^null$/i;

/** Makes an array literal of numbers, UUIDs and other texts that never need quotes. */
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

/** Joins JSON documents to one array, which a statement reads with `json_array_elements`. */
export function jsonArray(documents: readonly string[]): string {
  return `[${documents.join(",")}]`;
}

export function bytesArray(values: readonly (Uint8Array | null)[]): string {
  return `{${values.map(bytesElement).join(",")}}`;
}

function bytesElement(value: Uint8Array | null): string {
  return value === null ? "NULL" : `"\\\\x${value.toHex()}"`;
}

/** Runs `sweep`, which deletes old rows, at most once in `everyMs`. Its errors are ignored. */
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
