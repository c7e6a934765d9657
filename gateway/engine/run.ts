/**
 * Runs the effects of orders. For each order, the runner calls the handler of the owed effect,
 * applies the event that the handler returns, and continues until the order owes nothing or has to
 * wait. Above a limit of orders in flight, the node accepts no new ones. Due orders are claimed and
 * run too.
 */
import type { Step } from "../orders/advance.ts";
import { type Apply, type ClaimOrder, LostCharge, LostOrder } from "../orders/apply.ts";
import {
  type EffectHandlers,
  isBeforeNextAttempt,
  isBeforeRest,
  type OrderEvent,
  type RunContext,
} from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { isExternal } from "../orders/stages.ts";
import { Failure } from "../values/failure.ts";
import type { OrderId } from "../values/ids.ts";
import { type Clock, type Instant, later } from "../values/time.ts";

export type OrderRunner = ReturnType<typeof makeOrderRunner>;

export type RunnerDependencies = {
  readonly handlers: EffectHandlers;
  readonly apply: Apply;
  /** Called when the order refuses the event that an effect handler returned. */
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
  /** Called when the acquirer approves a charge that the database has lost in a failover. */
  readonly onLostApproval: (order: Order) => void;
};

/**
 * A run of an order: the latest version of the order that the run has seen, and a promise that
 * resolves when the run ends.
 */
type Run = { seen: Pick<Order, "version" | "changedAt">; end: Promise<void> };

export function makeOrderRunner(dependencies: RunnerDependencies) {
  const { handlers, apply, onRefused, onTrouble, onLostApproval } = dependencies;
  const inFlight = new Map<OrderId, Run>();

  return {
    start,
    has: (order: OrderId) => inFlight.has(order),
    /**
     * Returns whether this node is running the given version of the order. An order that waits
     * until the run of an older version ends is in flight but not running.
     */
    runs: (order: Order) => inFlight.get(order.id)?.seen.version === order.version,
    get count() {
      return inFlight.size;
    },
    /** Resolves when no order is in flight. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all([...inFlight.values()].map(({ end }) => end));
    },
  };

  /**
   * Runs the order in the background. If the order is already in flight, it runs again after the
   * present run, unless the present run has seen this version.
   */
  function start(order: Order, given: Partial<RunContext> = {}): void {
    if (order.owed === undefined) return;
    const context = { startedBefore: false, cardData: undefined, ...given };
    const earlier = inFlight.get(order.id);
    if (earlier !== undefined) {
      void earlier.end.then(() => isNewer(order, earlier.seen) && start(order, context));
      return;
    }
    const run: Run = { seen: order, end: Promise.resolve() };
    inFlight.set(order.id, run);
    run.end = runEffects(order, context, run)
      .catch((error) => onTrouble(order, error))
      .finally(() => inFlight.delete(order.id));
  }

  async function runEffects(begun: Order, context: RunContext, run: Run): Promise<void> {
    let order = begun;
    let { startedBefore, cardData } = context;
    while (order.owed !== undefined && isExternal(order.owed.effect)) {
      const { effect } = order.owed;
      const event = await handlers[effect](order, { startedBefore, cardData });
      const next = await apply(order, event).catch((error) => {
        if (error instanceof LostOrder && isApproval(event)) onLostApproval(order);
        throw error;
      });
      if (next instanceof LostCharge && isApproval(event)) onLostApproval(order);
      if (next instanceof Failure) return onRefused(order, event, next);
      // The order now owes the effect of a follow-up that began while this run was busy with a
      // reversal. The request for the follow-up has started a run of its own.
      const isOthers = next.owed !== undefined && next.owed.effect !== "reverse_prior";
      if (effect === "reverse_prior" && isOthers) return;
      order = next;
      run.seen = next;
      startedBefore = false;
      // The CVV is removed from memory once the authorisation is answered.
      const isAnswered = effect === "authorize" && !isBeforeNextAttempt(event);
      if (isAnswered) cardData = cardData && { ...cardData, cvv: undefined };
      if (isBeforeRest(event)) return;
    }
  }
}

function isApproval({ kind }: OrderEvent): boolean {
  return kind === "authorized" || kind === "approved_in_part" || kind === "paid_out";
}

/**
 * Whether the order is newer than the version that the run has seen. The version number alone does
 * not tell: after a failover that lost commits, two different steps may have the same number.
 */
function isNewer(order: Order, seen: Run["seen"]): boolean {
  const isOtherStep = order.version === seen.version && order.changedAt !== seen.changedAt;
  return order.version > seen.version || isOtherStep;
}

/**
 * Commits an event that a browser, a merchant or a directory server reports, and returns the
 * changed order. The effects that follow run in the background.
 */
type Report = (order: Order, event: OrderEvent) => Promise<Order | Failure>;

export function makeReport(apply: Apply, runner: OrderRunner): Report {
  return async (order, event) => {
    const next = await apply(order, event);
    if (!(next instanceof Failure) && event.kind !== "noted") runner.start(next);
    return next;
  };
}

/** Wraps a commit function so that every listener is called with each committed step. */
export function makeAnnouncing(
  listeners: readonly ((step: Step) => void)[],
  onTrouble: (order: Order, error: unknown) => void,
) {
  return <Given extends Step | { readonly step: Step }, Outcome extends string>(
    commit: (given: Given) => Promise<"done" | Outcome>,
  ) =>
    async (given: Given): Promise<"done" | Outcome> => {
      const outcome = await commit(given);
      if (outcome === "done") for (const listener of listeners) call(listener, stepOf(given));
      return outcome;
    };

  /**
   * Calls one listener. An error of the listener is only reported, because the step is already
   * committed.
   */
  function call(listener: (step: Step) => void, step: Step): void {
    try {
      listener(step);
    } catch (error) {
      onTrouble(step.order, error);
    }
  }
}

function stepOf(given: Step | { readonly step: Step }): Step {
  return "step" in given ? given.step : given;
}

export type ClaimDependencies = {
  /** This node. Its name changes if another node has taken the name. */
  readonly node: { readonly name: string };
  /** `certain` resolves when this machine's clock agrees with the time that all nodes share. */
  readonly clock: Pick<Clock, "now"> & { certain(): Promise<void> };
  readonly findDue: FindDue;
  /** Returns the orders that were in flight at a node with this name when it ended. */
  readonly findOwned: (node: string) => Promise<readonly Order[]>;
  readonly claim: ClaimOrder;
  readonly runner: OrderRunner;
  readonly batchMax: number;
};

/**
 * For this time after an outage of the database, a node leaves the orders of other nodes alone.
 * Leases expire during an outage, although their nodes may have answers that they commit as soon as
 * the database is back.
 */
const afterOutageMs = 10_000;

type FindDue = (now: Instant, most: number) => Promise<readonly Order[]>;

/**
 * Finds due orders in one database. After an outage of the database, it leaves out orders that
 * other nodes may have in flight. It does the same after a start or a pause of this node, because
 * this node may not have noticed an outage during that time.
 */
export function afterOutages(findDue: FindDue, { now: readTime }: Pick<Clock, "now">): FindDue {
  let isUnreachable = false;
  let lookedAt = readTime();
  let othersFrom = later(lookedAt, afterOutageMs);
  return async (now, most) => {
    const due = await findDue(now, most).catch((error) => {
      isUnreachable = true;
      throw error;
    });
    if (isUnreachable || now > lookedAt + afterOutageMs) othersFrom = later(now, afterOutageMs);
    isUnreachable = false;
    lookedAt = now;
    return now < othersFrom ? due.filter((order) => !mayBeInFlight(order)) : due;
  };
}

/** Whether another node may be running the order, and may be about to commit an answer. */
function mayBeInFlight({ owed }: Order): boolean {
  return owed !== undefined && owed.resting !== true;
}

/**
 * Finds and claims due orders: orders whose deadline has passed, whose next reversal is due, or
 * whose node's lease has expired.
 */
export function makeClaimWork(dependencies: ClaimDependencies) {
  const { node, clock, runner, claim, findDue, findOwned, batchMax } = dependencies;
  return {
    /** Looks for due orders once, and returns how many this node has claimed. */
    async claimDue(): Promise<number> {
      await clock.certain();
      const due = await findDue(clock.now(), batchMax);
      return claimAll(due.filter(isClaimable));
    },
    /**
     * Claims the orders that this node had in flight when it last ended, without waiting for their
     * leases to expire.
     */
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
    // The previous node may have begun the effect, unless the order was only waiting for a later
    // time to run it (`resting`).
    const { owed } = order;
    runner.start(claimed, { startedBefore: owed !== undefined && owed.resting !== true });
    return true;
  }

  /**
   * Whether the order's lease has ended. The table of due orders may be out of date, so the order
   * itself is checked.
   */
  function isClaimable({ owed }: Order): boolean {
    return owed === undefined || owed.claimableAt <= clock.now();
  }

  /**
   * Whether the deadline ends the order. A deadline never ends an authorisation, because only its
   * effect handler can find out whether the charge was sent.
   */
  function isExpired({ deadlineAt, owed }: Order): boolean {
    if (owed?.effect === "authorize") return false;
    return deadlineAt !== undefined && deadlineAt <= clock.now();
  }
}
