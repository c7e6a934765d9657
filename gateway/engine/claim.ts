/**
 * Finds the orders that somebody must look at and takes them up: deadlines that have passed,
 * reversals whose gap is over, and whatever a node that went silent had in hand.
 */
import type { ClaimOrder } from "../orders/apply.ts";
import type { Order } from "../orders/order.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { OrderRunner } from "./run.ts";

export type ClaimDependencies = {
  readonly node: string;
  readonly clock: Clock;
  readonly findDue: (now: Instant, most: number) => Promise<readonly Order[]>;
  readonly findOwned: (node: string) => Promise<readonly Order[]>;
  readonly claim: ClaimOrder;
  readonly runner: OrderRunner;
  readonly batchMax: number;
};

export type ClaimWork = {
  /** One look at what is due; answers how many orders were taken up. */
  claimDue(): Promise<number>;
  /** What this node had in hand when it last ended: no need to wait for its own lease. */
  claimOwn(): Promise<number>;
};

export function makeClaimWork(dependencies: ClaimDependencies): ClaimWork {
  const { node, clock, runner } = dependencies;

  return {
    async claimDue() {
      const due = await dependencies.findDue(clock.now(), dependencies.batchMax);
      return takeAll(due);
    },
    async claimOwn() {
      return takeAll(await dependencies.findOwned(node));
    },
  };

  async function takeAll(orders: readonly Order[]): Promise<number> {
    const free = orders.filter(({ id }) => !runner.has(id));
    const taken = await Promise.all(free.map(take));
    return taken.filter((order) => order).length;
  }

  async function take(order: Order): Promise<boolean> {
    const expired = isExpired(order);
    const taken = await dependencies.claim(
      order,
      expired ? { kind: "expired" } : { kind: "claimed", node },
    );
    if (taken === undefined) return false;
    // An order that only waited was in nobody's hands: nothing of it can have left.
    runner.start(taken, { startedBefore: order.owed !== undefined, cardData: undefined });
    return true;
  }

  /** What became of a charge is never decided by a timer: its doer finds out whether it left. */
  function isExpired({ deadlineAt, owed }: Order): boolean {
    if (owed?.effect === "authorize") return false;
    return deadlineAt !== undefined && deadlineAt <= clock.now();
  }
}
