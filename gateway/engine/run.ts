/**
 * Runs an order's effects: the runner calls the handler of the effect that the order owes, applies
 * the event that it reports, and goes on until the order owes nothing more or has to wait. Orders
 * in flight are counted: beyond a bound the node accepts no new ones. Orders that are due are
 * claimed and run too.
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
  /** The order no longer accepts what the handler reports. */
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
  /** The acquirer has approved a charge that a failover has lost. */
  readonly onLostApproval: (order: Order) => void;
};

/** What the run has seen last of its order. */
type Run = { seen: Pick<Order, "version" | "changedAt">; end: Promise<void> };

export function makeOrderRunner(dependencies: RunnerDependencies) {
  const { handlers, apply, onRefused, onTrouble, onLostApproval } = dependencies;
  const inFlight = new Map<OrderId, Run>();

  return {
    start,
    has: (order: OrderId) => inFlight.has(order),
    /** Whether it runs the order's present step; it may also wait for the end of an earlier one. */
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
   * Runs in the background. An order that is in flight already is left alone, unless its run ends
   * without having seen it as it is now.
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
      // A follow-up has begun since: the run that its request started performs it.
      const isOthers = next.owed !== undefined && next.owed.effect !== "reverse_prior";
      if (effect === "reverse_prior" && isOthers) return;
      order = next;
      run.seen = next;
      startedBefore = false;
      // The CVV is for the authorisation; once that is answered it is forgotten.
      const isAnswered = effect === "authorize" && !isBeforeNextAttempt(event);
      if (isAnswered) cardData = cardData && { ...cardData, cvv: undefined };
      if (isBeforeRest(event)) return;
    }
  }
}

function isApproval({ kind }: OrderEvent): boolean {
  return kind === "authorized" || kind === "approved_in_part";
}

/** A standby that took over may have given a version that the run has seen to another step. */
function isNewer(order: Order, seen: Run["seen"]): boolean {
  const isOtherStep = order.version === seen.version && order.changedAt !== seen.changedAt;
  return order.version > seen.version || isOtherStep;
}

/**
 * Reports what a browser, a merchant or a directory server tells of an order: it is committed
 * before the reporter is answered, and the effects that follow from it run in the background.
 */
type Report = (order: Order, event: OrderEvent) => Promise<Order | Failure>;

export function makeReport(apply: Apply, runner: OrderRunner): Report {
  return async (order, event) => {
    const next = await apply(order, event);
    if (!(next instanceof Failure) && event.kind !== "noted") runner.start(next);
    return next;
  };
}

/** Calls the listeners with every step once it is committed, whichever code path made it. */
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

  /** The step is committed: a listener that fails must not make it look as if it were not. */
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

/** Another node may have an answer for it that it is about to commit. */
function mayBeInFlight({ owed }: Order): boolean {
  return owed !== undefined && owed.resting !== true;
}

/**
 * Finds the orders that are due and claims them: deadlines that have passed, reversals whose gap is
 * over, and the orders of a node whose lease ran out.
 */
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
