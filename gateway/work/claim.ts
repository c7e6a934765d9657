/**
 * Finds the orders that somebody must look at and takes them up: deadlines that have passed,
 * reversals whose gap is over, and whatever a node that went silent had in hand.
 */
import type { Claim } from "../orders/apply.ts";
import type { Order } from "../orders/order.ts";
import type { Clock, Instant } from "../values/time.ts";
import type { Carry } from "./carry.ts";

export type ClaimNeeds = {
  readonly node: string;
  readonly clock: Clock;
  readonly findDue: (now: Instant, most: number) => Promise<readonly Order[]>;
  readonly findCarried: (node: string) => Promise<readonly Order[]>;
  readonly claim: Claim;
  readonly carry: Carry;
  readonly batchMax: number;
};

export type ClaimWork = {
  /** One look at what is due; answers how many orders were taken up. */
  claimDue(): Promise<number>;
  /** What this node had in hand when it last ended: no need to wait for its own lease. */
  claimOwn(): Promise<number>;
};

export function makeClaimWork(needs: ClaimNeeds): ClaimWork {
  const { node, clock, carry } = needs;

  return {
    async claimDue() {
      const due = await needs.findDue(clock.now(), needs.batchMax);
      return takeAll(due);
    },
    async claimOwn() {
      return takeAll(await needs.findCarried(node));
    },
  };

  async function takeAll(orders: readonly Order[]): Promise<number> {
    const free = orders.filter(({ id }) => !carry.has(id));
    const taken = await Promise.all(free.map(take));
    return taken.filter((order) => order).length;
  }

  async function take(order: Order): Promise<boolean> {
    const expired = isExpired(order);
    const taken = await needs.claim(
      order,
      expired ? { kind: "expired" } : { kind: "claimed", node },
    );
    if (taken === undefined) return false;
    // An order that only waited was in nobody's hands: nothing of it can have left.
    carry.start(taken, { startedBefore: order.owed !== undefined, inHand: undefined });
    return true;
  }

  /** What became of a charge is never decided by a timer: its doer finds out whether it left. */
  function isExpired({ deadlineAt, owed }: Order): boolean {
    if (owed?.effect === "authorize") return false;
    return deadlineAt !== undefined && deadlineAt <= clock.now();
  }
}
