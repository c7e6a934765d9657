/**
 * Writes orders to the portal's tables after their commits, so that payments do not wait (decision
 * 0058). The latest versions of committed orders are kept in memory and written together, those of
 * open orders a second later. A regular search through the history finds orders that no node has
 * written, because the node has ended or a command has changed the order.
 */
import type { Step } from "../../orders/advance.ts";
import type { Order } from "../../orders/order.ts";
import type { Cells } from "../cells/cells.ts";
import { deleteOldFigures, type IndexOptions, makeOrderIndex } from "./order-index.ts";

/** How many orders are kept in memory. The search through the history finds all other orders. */
const waitingMax = 20_000;
const sweepEveryMs = 60_000;
/** The time limit of one search for steps that no node has indexed, like those of `gw` commands. */
const passMs = 400;

/** The number of writes in each `waitMs`, because one large write would delay payments. */
const writesInWait = 4;

type Waiting = { order: Order; readonly since: number };

export type IndexQueue = ReturnType<typeof makeIndexQueue>;

type Dependencies = Pick<IndexOptions, "now" | "describe" | "figuresOf"> & {
  readonly cells: Pick<Cells, "stores" | "cellOf">;
  /** How long an open order waits in memory before it is written. */
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
    /** Wraps a task that runs several times a second. It is skipped if no order waits. */
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

  /** Resolves when every order that this node has committed is in the portal's tables. */
  function flush(): Promise<void> {
    return write(0);
  }

  function write(waitedMs: number): Promise<void> {
    const next = running.catch(() => undefined).then(() => writeNow(take(waitedMs)));
    running = next;
    return next;
  }

  /** Takes ended orders, and open ones that have waited for `waitedMs`. */
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
          // An order whose write has failed waits again, unless a later version of it waits
          // already.
          for (const order of own) if (!waiting.has(order.id)) onStep({ order });
          throw error;
        }
      }),
    );
    const failed = written.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  /** Indexes orders that this node has not committed, such as those that commands changed. */
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
