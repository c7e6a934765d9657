/**
 * Runs the effects of orders: calls the handler of the owed effect, applies the event that the
 * handler returns, and continues until the order owes nothing or has to wait. Due orders are
 * claimed and run too. Above a limit of orders in flight, the node accepts no new ones.
 */
import type { Step } from "../orders/advance.ts";
import { type Apply, type ClaimOrder, LostCharge, LostOrder } from "../orders/apply.ts";
import {
  approvals,
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
  /** Called when the order refuses an effect handler's event. */
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
  /** Called when the acquirer approves a charge that the database has lost in a failover. */
  readonly onLostApproval: (order: Order) => void;
};

/** `seen` is the latest version of the order that the run has seen. */
type Run = { seen: Pick<Order, "version" | "changedAt">; end: Promise<void> };

export function makeOrderRunner(dependencies: RunnerDependencies) {
  const { handlers, apply, onRefused, onTrouble, onLostApproval } = dependencies;
  const inFlight = new Map<OrderId, Run>();

  return {
    start,
    has: (order: OrderId) => inFlight.has(order),
    /** An order that waits for the run of its older version to end is in flight but not running. */
    runs: (order: Order) => inFlight.get(order.id)?.seen.version === order.version,
    get count() {
      return inFlight.size;
    },
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all([...inFlight.values()].map(({ end }) => end));
    },
  };

  /** An order in flight runs again after its present run, unless that run has seen this version. */
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
      // A follow-up began while this run performed a reversal. The follow-up's request runs the
      // effect that the order owes now, so this run ends.
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
  return approvals.has(kind) || kind === "paid_out";
}

/** Different steps may have the same version number after a failover that lost commits. */
function isNewer(order: Order, seen: Run["seen"]): boolean {
  const isOtherStep = order.version === seen.version && order.changedAt !== seen.changedAt;
  return order.version > seen.version || isOtherStep;
}

/** Commits an event that a browser, merchant or directory server reports. */
type Report = (order: Order, event: OrderEvent) => Promise<Order | Failure>;

export function makeReport(apply: Apply, runner: OrderRunner): Report {
  return async (order, event) => {
    const next = await apply(order, event);
    if (!(next instanceof Failure) && event.kind !== "noted") runner.start(next);
    return next;
  };
}

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

  /** The step is already committed, so a listener's error is only reported. */
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
  /** The node's name changes if another node has taken the name. */
  readonly node: { readonly name: string };
  /** `certain` resolves when this machine's clock agrees with the time that all nodes share. */
  readonly clock: Pick<Clock, "now"> & { certain(): Promise<void> };
  readonly findDue: FindDue;
  /** Returns the orders that a node with this name had in flight when it ended. */
  readonly findOwned: (node: string) => Promise<readonly Order[]>;
  readonly claim: ClaimOrder;
  readonly runner: OrderRunner;
  readonly batchMax: number;
};

/**
 * For this time after an outage of the database, a node claims no orders of other nodes. Their
 * leases expire during an outage, although they may have answers that they commit right after it.
 */
const afterOutageMs = 10_000;

type FindDue = (now: Instant, most: number) => Promise<readonly Order[]>;

/**
 * After an outage of the database, or after a start or a pause of this node, in which it may have
 * missed an outage, due orders that other nodes may have in flight are left out.
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

/** Returns whether another node may have the order in flight and commit an answer soon. */
function mayBeInFlight({ owed }: Order): boolean {
  return owed !== undefined && owed.resting !== true;
}

/** An order is due after its deadline, at its next reversal, or when its node's lease expires. */
export function makeClaimWork(dependencies: ClaimDependencies) {
  const { node, clock, runner, claim, findDue, findOwned, batchMax } = dependencies;
  return {
    /** Returns how many orders this node has claimed. */
    async claimDue(): Promise<number> {
      await clock.certain();
      const due = await findDue(clock.now(), batchMax);
      return claimAll(due.filter(isClaimable));
    },
    /** Claims what this node had in flight when it last ended, before the leases expire. */
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
    // The previous node may have begun the effect, unless the effect was due only later.
    const { owed } = order;
    runner.start(claimed, { startedBefore: owed !== undefined && owed.resting !== true });
    return true;
  }

  /** The table of due orders may be out of date, so the order's own lease is checked. */
  function isClaimable({ owed }: Order): boolean {
    return owed === undefined || owed.claimableAt <= clock.now();
  }

  /** Whether the deadline ends the order. An authorisation is ended by its effect handler only. */
  function isExpired({ deadlineAt, owed }: Order): boolean {
    if (owed?.effect === "authorize") return false;
    return deadlineAt !== undefined && deadlineAt <= clock.now();
  }
}
