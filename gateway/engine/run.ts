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
  /** Called when the order no longer accepts the handler's event. */
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
  /** Called when the acquirer has approved a charge that the database lost in a failover. */
  readonly onLostApproval: (order: Order) => void;
};

/** The latest version of the order that the run has seen, and a promise of its end. */
type Run = { seen: Pick<Order, "version" | "changedAt">; end: Promise<void> };

export function makeOrderRunner(dependencies: RunnerDependencies) {
  const { handlers, apply, onRefused, onTrouble, onLostApproval } = dependencies;
  const inFlight = new Map<OrderId, Run>();

  return {
    start,
    has: (order: OrderId) => inFlight.has(order),
    /**
     * Returns whether the current version of the order runs here. An order in flight may still wait
     * for an earlier run to end.
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
   * Runs the order in the background. If it is already in flight, it runs again only if the present
   * run ends without having seen this version.
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
      // A follow-up has begun in the meantime. The run that its request started performs it.
      const isOthers = next.owed !== undefined && next.owed.effect !== "reverse_prior";
      if (effect === "reverse_prior" && isOthers) return;
      order = next;
      run.seen = next;
      startedBefore = false;
      // The CVV is forgotten once the authorisation is answered.
      const isAnswered = effect === "authorize" && !isBeforeNextAttempt(event);
      if (isAnswered) cardData = cardData && { ...cardData, cvv: undefined };
      if (isBeforeRest(event)) return;
    }
  }
}

function isApproval({ kind }: OrderEvent): boolean {
  return kind === "authorized" || kind === "approved_in_part";
}

/**
 * Whether the order is newer than the version that the run has seen. After a failover that lost
 * commits, another step may have the same version number.
 */
function isNewer(order: Order, seen: Run["seen"]): boolean {
  const isOtherStep = order.version === seen.version && order.changedAt !== seen.changedAt;
  return order.version > seen.version || isOtherStep;
}

/**
 * Commits an event that a browser, a merchant or a directory server reports, and then returns. The
 * effects that follow run in the background.
 */
type Report = (order: Order, event: OrderEvent) => Promise<Order | Failure>;

export function makeReport(apply: Apply, runner: OrderRunner): Report {
  return async (order, event) => {
    const next = await apply(order, event);
    if (!(next instanceof Failure) && event.kind !== "noted") runner.start(next);
    return next;
  };
}

/** Calls the listeners with every step once it is committed, from every code path. */
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

  /** Calls one listener. If the listener throws, the step is committed nevertheless. */
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
  /** The name changes if another node has taken it. */
  readonly node: { readonly name: string };
  /** `certain` resolves when the clock agrees with the time that all nodes share. */
  readonly clock: Pick<Clock, "now"> & { certain(): Promise<void> };
  readonly findDue: FindDue;
  /** Returns the orders that were in flight at a node with this name when it ended. */
  readonly findOwned: (node: string) => Promise<readonly Order[]>;
  readonly claim: ClaimOrder;
  readonly runner: OrderRunner;
  readonly batchMax: number;
};

/**
 * How long orders of other nodes are left alone after an outage. Leases expire while the database
 * is unreachable, and their nodes may have answers that they commit as soon as it is back.
 */
const afterOutageMs = 10_000;

type FindDue = (now: Instant, most: number) => Promise<readonly Order[]>;

/**
 * Finds due orders in one database. After an outage, a start or a pause of this node, it leaves out
 * orders that other nodes may have in flight. A start or a pause may have followed an outage that
 * this node did not notice.
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

/** Whether another node may be about to commit an answer for the order. */
function mayBeInFlight({ owed }: Order): boolean {
  return owed !== undefined && owed.resting !== true;
}

/**
 * Finds and claims due orders: those whose deadline has passed, whose next reversal is due, or
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
    /** Claims the orders of this node's previous run without waiting for their lease to expire. */
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
    // An order that was resting had no effect in flight, so nothing unknown was sent.
    const { owed } = order;
    runner.start(claimed, { startedBefore: owed !== undefined && owed.resting !== true });
    return true;
  }

  /** Whether the order's lease has ended. The table of due orders alone does not prove that. */
  function isClaimable({ owed }: Order): boolean {
    return owed === undefined || owed.claimableAt <= clock.now();
  }

  /**
   * Whether the deadline ends the order. No timer decides an authorisation: its handler finds out
   * whether the charge was sent.
   */
  function isExpired({ deadlineAt, owed }: Order): boolean {
    if (owed?.effect === "authorize") return false;
    return deadlineAt !== undefined && deadlineAt <= clock.now();
  }
}
