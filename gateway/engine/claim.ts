/**
 * Finds the orders that are due and claims them: deadlines that have passed, reversals whose gap is
 * over, and the orders of a node whose lease ran out.
 */
import type { ClaimOrder } from "../orders/apply.ts";
import type { Order } from "../orders/order.ts";
import { type Clock, type Instant, later } from "../values/time.ts";
import type { OrderRunner } from "./run.ts";

export type ClaimDependencies = {
  /** It changes when another node has taken the name. */
  readonly node: { readonly name: string };
  /** `certain` resolves when the time is sure to be the one that other nodes go by. */
  readonly clock: Pick<Clock, "now"> & { certain(): Promise<void> };
  readonly findDue: FindDue;
  /** The orders that a node of this name had in flight when it ended. */
  readonly findOwned: (node: string) => Promise<readonly Order[]>;
  readonly claim: ClaimOrder;
  readonly runner: OrderRunner;
  readonly batchMax: number;
};

/**
 * Leases run out while the database is unreachable, and their nodes may know answers that they
 * could not commit. They get this long for it when the database is back; a commit is tried every
 * second.
 */
const afterOutageMs = 10_000;

type FindDue = (now: Instant, most: number) => Promise<readonly Order[]>;

/**
 * The search for due orders in one database. It leaves out orders that other nodes may still have
 * in flight for a while after an outage, after the start, and after a pause of this node: the last
 * two may follow an outage that it did not see.
 */
export function afterOutages(findDue: FindDue, { now: readTime }: Pick<Clock, "now">): FindDue {
  let isAway = false;
  let lookedAt = readTime();
  let othersFrom = later(lookedAt, afterOutageMs);
  return async (now, most) => {
    const due = await findDue(now, most).catch((error) => {
      isAway = true;
      throw error;
    });
    if (isAway || now > lookedAt + afterOutageMs) othersFrom = later(now, afterOutageMs);
    isAway = false;
    lookedAt = now;
    return now < othersFrom ? due.filter((order) => !mayBeInFlight(order)) : due;
  };
}

/** Another node may have an answer for it that it is about to commit. */
function mayBeInFlight({ owed }: Order): boolean {
  return owed !== undefined && owed.resting !== true;
}

export function makeClaimWork(dependencies: ClaimDependencies) {
  const { node, clock, runner, claim, findDue, findOwned, batchMax } = dependencies;
  return {
    /** Looks once for due orders; answers how many this node claimed. */
    async claimDue(): Promise<number> {
      await clock.certain();
      const due = await findDue(clock.now(), batchMax);
      return claimAll(due.filter(isClaimable));
    },
    /** After a restart the node claims its own orders without waiting for its old lease. */
    claimOwn: async () => claimAll(await findOwned(node.name)),
  };

  async function claimAll(orders: readonly Order[]): Promise<number> {
    const free = orders.filter(({ id }) => !runner.has(id));
    const claimed = await Promise.all(free.map(claimOne));
    return claimed.filter(Boolean).length;
  }

  async function claimOne(order: Order): Promise<boolean> {
    const expired = isExpired(order);
    const claimed = await claim(
      order,
      expired ? { kind: "expired" } : { kind: "claimed", node: node.name },
    );
    if (claimed === undefined) return false;
    // No node ran an order that only waited, and what one sent before it rested is recorded.
    const { owed } = order;
    runner.start(claimed, { startedBefore: owed !== undefined && owed.resting !== true });
    return true;
  }

  /** That an order is due is a hint: the order says whether its lease has ended. */
  function isClaimable({ owed }: Order): boolean {
    return owed === undefined || owed.claimableAt <= clock.now();
  }

  /** No timer decides what became of a charge: its handler finds out whether it was sent. */
  function isExpired({ deadlineAt, owed }: Order): boolean {
    if (owed?.effect === "authorize") return false;
    return deadlineAt !== undefined && deadlineAt <= clock.now();
  }
}
