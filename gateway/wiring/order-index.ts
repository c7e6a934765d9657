/**
 * Fills the portal's tables behind payments (decision 0058): committed orders are kept in memory,
 * the latest version of each, and written together some moments later. What a node did not write,
 * because it ended or because a command made the step, is found by a sweep through the history.
 */
import type { Step } from "../orders/advance.ts";
import type { Order } from "../orders/order.ts";
import { describeOrder, figuresOf } from "../portal-api/order-index.ts";
import { deleteOldFigures, makeOrderIndex } from "../storage/order-index.ts";
import type { Resources } from "./resources.ts";

/** More than these are left to the sweep: memory is bounded while the database is slow. */
const pendingMax = 20_000;
const sweepEveryMs = 60_000;
/** For orders from before there was an index, and again for steps that no node has indexed. */
const passMs = 400;

export type OrderIndexJob = ReturnType<typeof makeOrderIndexJob>;

export function makeOrderIndexJob({ cells, clock }: Resources) {
  const options = { describe: describeOrder, figuresOf, now: clock.now };
  const stores = cells.stores(({ node }) => ({
    ...makeOrderIndex(node, options),
    deleteOld: () => deleteOldFigures(node.query, clock.now()),
  }));
  let pending = new Map<string, Order>();
  let sweptAt = clock.now();
  let isBehind = false;
  return { onStep, flush, run };

  function onStep({ order }: Pick<Step, "order">): void {
    if (pending.size < pendingMax || pending.has(order.id)) pending.set(order.id, order);
  }

  /** Resolves when all that was committed here before the call is in the tables. */
  async function flush(): Promise<void> {
    const orders = pending;
    pending = new Map();
    const byCell = Map.groupBy(orders.values(), ({ merchantId }) => cells.cellOf(merchantId));
    const written = await Promise.allSettled(
      [...byCell].map(async ([cell, own]) => {
        try {
          await stores.of(cell).write(own);
        } catch (error) {
          // For the next flush; a later step of the order has the whole order too.
          for (const order of own) if (!pending.has(order.id)) onStep({ order });
          throw error;
        }
      }),
    );
    const failed = written.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  /** Also the steps of other programs, and orders from before there was an index. */
  async function run(): Promise<void> {
    await flush();
    let stopAt = performance.now() + passMs;
    await stores.each(async ({ walk }) => {
      while (performance.now() < stopAt && (await walk()) > 0);
    });
    if (!isBehind && clock.now() - sweptAt < sweepEveryMs) return;
    [sweptAt, stopAt] = [clock.now(), performance.now() + passMs];
    const left = await stores.each(async ({ sweep, deleteOld }) => {
      while (await sweep(sweptAt)) if (performance.now() > stopAt) return true;
      await deleteOld();
      return false;
    });
    isBehind = left.includes(true);
  }
}
