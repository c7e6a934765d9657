/**
 * Gathers the wishes of many callers at the same moment into one statement. While a statement runs
 * the next batch fills, so batches grow with the load and a quiet gateway never waits. Also the
 * array literals of a batch, retries while the database is away, and deletion in the background.
 */
import { setTimeout } from "node:timers/promises";
import type { MerchantId } from "../values/ids.ts";
import type { Clock, Instant } from "../values/time.ts";
import { isConnectionLoss, type Query } from "./database.ts";

export type GatherOptions = {
  readonly batchMax?: number;
  readonly onBatch?: (size: number, durationMs: number) => void;
  /** Run each item alone after a failure that is not a lost connection: one may have caused it. */
  readonly retryAlone?: boolean;
};

/** `run` returns one result for each item, in their order. */
export function makeGather<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { batchMax = 256, onBatch, retryAlone = false }: GatherOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let isBusy = false;

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isBusy) start();
    });

  /** Deferred, because the requests that this turn of the event loop reads belong together. */
  function start(): void {
    isBusy = true;
    setImmediate(runBatch);
  }

  async function runBatch(): Promise<void> {
    const batch = waiting.slice(0, batchMax);
    waiting = waiting.slice(batchMax);
    const startedAt = performance.now();
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      const mayBeOne = retryAlone && batch.length > 1 && !isConnectionLoss(error);
      if (mayBeOne) await Promise.all(batch.map(runAlone));
      else for (const { reject } of batch) reject(error);
    } finally {
      isBusy = false;
      onBatch?.(batch.length, performance.now() - startedAt);
      if (waiting.length > 0) start();
    }
  }

  async function runAlone({ item, resolve, reject }: Waiting<Item, Result>): Promise<void> {
    await run([item]).then(([result]) => resolve(result as Result), reject);
  }
}

type Waiting<Item, Result> = Omit<PromiseWithResolvers<Result>, "promise"> & { item: Item };

export type KeyedRow = { readonly merchant_id: string; readonly id: string };

/** Finds rows by merchant and id, both in the row; $1 and $2 of the statement are the arrays. */
export function makeFindRow<Row extends KeyedRow, Id extends string>(
  query: Query,
  { statement, name, ...options }: GatherOptions & { statement: string; name: string },
): (merchantId: MerchantId, id: Id) => Promise<Row | undefined> {
  const find = makeGather(async (keys: readonly (readonly [MerchantId, Id])[]) => {
    const merchants = plainArray(keys.map(([merchant]) => merchant));
    const ids = plainArray(keys.map(([, id]) => id));
    const rows = await query<Row>(statement, [merchants, ids], name);
    const found = new Map(rows.map((row) => [`${row.merchant_id}/${row.id}`, row]));
    return keys.map(([merchantId, id]) => found.get(`${merchantId}/${id}`));
  }, options);
  return (merchantId, id) => find([merchantId, id]);
}

// The driver can write arrays too, but it escapes every element twice, and a batch of orders on
// the hot path has fifteen columns. Documents are sent as one JSON array, without more escapes.
const needsQuotes = /[{}",\\\s]|^$|^null$/i;

/** For numbers, uuids and other text that never needs quotes. */
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

/** For `json_array_elements`: each of the texts is JSON already. */
export function jsonArray(documents: readonly string[]): string {
  return `[${documents.join(",")}]`;
}

export function bytesArray(values: readonly (Uint8Array | null)[]): string {
  return `{${values.map(bytesElement).join(",")}}`;
}

function bytesElement(value: Uint8Array | null): string {
  return value === null ? "NULL" : `"\\\\x${Buffer.from(value).toString("hex")}"`;
}

const firstGapMs = 50;
const gapMaxMs = 1000;

/**
 * Repeats a statement while the database is away, with growing gaps. `run` gets the number of
 * earlier tries: one whose answer was lost may have been committed.
 */
export async function retry<Result>(
  run: (tries: number) => Promise<Result>,
  triesMs: number,
): Promise<Result> {
  const giveUpAt = performance.now() + triesMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await run(tries);
    } catch (error) {
      if (!isConnectionLoss(error) || performance.now() > giveUpAt) throw error;
      await setTimeout(Math.min(firstGapMs * 2 ** tries, gapMaxMs));
    }
  }
}

/** Deletes in the background, at most once in `everyMs`; what fails is left to the next time. */
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
