/**
 * Gathers what many callers want at the same moment into one statement. While a statement is under
 * way the next batch fills, so batches grow with the load and a quiet gateway waits for nothing.
 */
export type GatherOptions = {
  readonly batchMax: number;
  readonly inFlightMax: number;
  readonly onBatch?: (size: number, durationMs: number) => void;
};

/** A batch that failed for a reason of one of its items: the others are tried without it. */
export type IsOneBadItem = (error: unknown) => boolean;

/** `run` answers one result for each item, in their order. */
export function makeGather<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { batchMax, inFlightMax, onBatch }: GatherOptions,
  isOneBadItem: IsOneBadItem = () => false,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let inFlight = 0;
  let scheduled = false;

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });

  /** Not at once: the requests that this turn of the event loop reads belong together. */
  function schedule(): void {
    if (scheduled || inFlight >= inFlightMax) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (waiting.length > 0 && inFlight < inFlightMax) void flush();
    });
  }

  async function flush(): Promise<void> {
    const batch = waiting.slice(0, batchMax);
    waiting = waiting.slice(batchMax);
    inFlight += 1;
    const startedAt = performance.now();
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && isOneBadItem(error)) await Promise.all(batch.map(runAlone));
      else for (const { reject } of batch) reject(error);
    } finally {
      inFlight -= 1;
      onBatch?.(batch.length, performance.now() - startedAt);
      if (waiting.length > 0) schedule();
    }
  }

  async function runAlone({ item, resolve, reject }: Waiting<Item, Result>): Promise<void> {
    await run([item]).then(([result]) => resolve(result as Result), reject);
  }
}

type Waiting<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};
