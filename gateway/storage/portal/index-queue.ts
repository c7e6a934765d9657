/**
 * Fills the portal's tables after payments (decision 0058). Committed orders are kept in memory,
 * the latest version of each, and written together; open ones are written a second later. A sweep
 * through the history finds what a node did not write, because the node ended or because a command
 * made the step.
 */
import type { Step } from "../../orders/advance.ts";
import type { Order } from "../../orders/order.ts";
import type { Cells } from "../cells/cells.ts";
import { deleteOldFigures, type IndexOptions, makeOrderIndex } from "./order-index.ts";

/**
 * How many orders are kept, so that memory is bounded while the database is slow. The others are
 * left to the sweep.
 */
const waitingMax = 20_000;
const sweepEveryMs = 60_000;
/**
 * The time limit of a pass that searches for orders of other programs and steps that no node has
 * indexed.
 */
const passMs = 400;

/**
 * How often the node writes while an open order waits. Writing all orders of a second at once would
 * delay payments.
 */
const writesInWait = 4;

/** An order, and when it began to wait, by the process's own clock. */
type Waiting = { order: Order; readonly since: number };

export type IndexQueue = ReturnType<typeof makeIndexQueue>;

type Dependencies = Pick<IndexOptions, "now" | "describe" | "figuresOf"> & {
  readonly cells: Pick<Cells, "stores" | "cellOf">;
  /** How long an open order waits. */
  readonly waitMs: number;
};

export function makeIndexQueue({ cells, waitMs, ...options }: Dependencies) {
  const { now } = options;
  const stores = cells.stores(({ node }) => ({
    ...makeOrderIndex(node, options),
    deleteOld: () => deleteOldFigures(node.query, now()),
  }));
  const waiting = new Map<string, Waiting>();
  let sweptAt = now();
  let isBehind = false;
  let running = Promise.resolve();
  return {
    onStep,
    flush,
    catchUp,
    writeEveryMs: waitMs / writesInWait,
    /**
     * Wraps a task that runs several times a second, so that it only runs if there is an order to
     * write.
     */
    whenWaiting: <Result>(task: () => Promise<Result>) => {
      return async () => (waiting.size > 0 ? task() : undefined);
    },
    write: () => write(waitMs),
  };

  function onStep({ order }: Pick<Step, "order">): void {
    const known = waiting.get(order.id);
    if (known !== undefined) known.order = order;
    else if (waiting.size < waitingMax) waiting.set(order.id, { order, since: performance.now() });
  }

  /** Resolves when everything that was committed here before the call is in the tables. */
  function flush(): Promise<void> {
    return write(0);
  }

  /** Writes orders. Each write waits for the previous one. */
  function write(waitedMs: number): Promise<void> {
    const next = running.catch(() => undefined).then(() => writeNow(take(waitedMs)));
    running = next;
    return next;
  }

  /**
   * Takes the orders to write. An open order waits, so that it is written once with all its steps
   * of a second.
   */
  function take(waitedMs: number): readonly Order[] {
    const since = performance.now() - waitedMs;
    const taken = [...waiting.values()].filter(
      (each) => hasEnded(each.order) || each.since <= since,
    );
    for (const { order } of taken) waiting.delete(order.id);
    return taken.map(({ order }) => order);
  }

  async function writeNow(orders: readonly Order[]): Promise<void> {
    const byCell = Map.groupBy(orders, ({ merchantId }) => cells.cellOf(merchantId));
    const written = await Promise.allSettled(
      [...byCell].map(async ([cell, own]) => {
        try {
          await stores.of(cell).write(own);
        } catch (error) {
          // Orders that were not written wait for the next time. A later step of an order already
          // contains its earlier ones.
          for (const order of own) if (!waiting.has(order.id)) onStep({ order });
          throw error;
        }
      }),
    );
    const failed = written.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  /** Finds the steps and orders of other programs. */
  async function catchUp(): Promise<void> {
    let stopAt = performance.now() + passMs;
    await stores.each(async ({ walk }) => {
      while (performance.now() < stopAt && (await walk()) > 0);
    });
    if (!isBehind && now() - sweptAt < sweepEveryMs) return;
    [sweptAt, stopAt] = [now(), performance.now() + passMs];
    const left = await stores.each(async ({ sweep, deleteOld }) => {
      while (await sweep(sweptAt)) if (performance.now() > stopAt) return true;
      await deleteOld();
      return false;
    });
    isBehind = left.includes(true);
  }
}

function hasEnded({ transaction }: Order): boolean {
  return transaction.finishedAt !== undefined;
}
