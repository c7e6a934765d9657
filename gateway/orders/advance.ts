/**
 * Decides how an event changes an order, or refuses the event. The result depends only on the
 * arguments and on endpoints' URLs. Immediate effects are performed at once, so that one commit
 * holds all steps that wait for no other system.
 */
import assert from "node:assert/strict";
import { Failure } from "../values/failure.ts";
import { type GateId, receiverOf, type SerialNumber } from "../values/ids.ts";
import { type Instant, later } from "../values/time.ts";
import { withDecision } from "./disputes.ts";
import { acquirerIsAsked, isBeforeRest, isFollowUp, mayArrive, type OrderEvent } from "./events.ts";
import { applyFacts } from "./facts.ts";
import type { Endpoint } from "./merchant.ts";
import type { Finding, Order, Owed } from "./order.ts";
import { closePage, endTry, enterCard, mayTryAgain } from "./payment-page.ts";
import { decidePrior, findOwingAttempt, mayReversePrior, meetPrior } from "./prior-attempts.ts";
import type { FoundOrder } from "./requests.ts";
import type { GateShares } from "./route.ts";
import {
  type Effect,
  type ImmediateEffect,
  isExternal,
  isFinal,
  isImmediate,
  type OpenStage,
} from "./stages.ts";
import {
  callbackSequenceOf,
  followUp,
  initialOf,
  sequencesPerUrl,
  withChargeback,
} from "./transactions.ts";
import {
  anyStage,
  beginningOnPage,
  beginnings,
  tables,
  tablesWithTriesLeft,
  whileOwingPrior,
} from "./transitions.ts";

export type Step = {
  /** The version that the order must still have when the step is committed. */
  readonly from: number;
  /** The version's time. A failover may lose a version, and another one then has its number. */
  readonly fromChangedAt?: Instant | undefined;
  readonly fromDueAt?: Instant | undefined;
  readonly order: Order;
  readonly events: readonly OrderEvent[];
  readonly at: Instant;
  readonly callbacks?: readonly OwedCallback[];
};

type OwedCallback = {
  readonly url: string;
  /** The host and port, by which deliveries are limited. */
  readonly receiver: string;
  /** Callbacks to a URL are sent in this sequence. Each further URL adds `sequencesPerUrl`. */
  readonly sequence: number;
  readonly serialNumber: SerialNumber;
};

/** Returns the endpoint's URLs that are called with the result. */
export type FindEndpointUrls = (found: FoundOrder) => readonly string[];

/** The facts that decide immediate effects. The caller gathers them before. */
export type Conditions = {
  readonly endpoint: Endpoint;
  readonly readyGates: ReadonlySet<GateId>;
  readonly shares?: GateShares | undefined;
  /** The ids of an authentication are made of these random bytes. */
  readonly entropy: Uint8Array;
  /** Absent if no screening rule is active. */
  readonly findings?: readonly Finding[];
};

export type Advance = (
  order: Order,
  event: OrderEvent,
  at: Instant,
  /** Absent if the event leads to no immediate effect, as with all events of operators. */
  conditions?: Conditions,
) => Step | Failure;

export type ImmediateHandlers = Readonly<
  Record<ImmediateEffect, (order: Order, conditions: Conditions) => OrderEvent>
>;

export type Deadlines = {
  readonly stageMs: Readonly<Record<Exclude<OpenStage, "awaiting_card">, number>>;
  /** For how long a node may keep an effect without a sign of life. */
  readonly leaseMs: number;
  /** For how long an unanswered message may still reach the host. */
  readonly answerTimeoutMs: number;
  /** The gaps between repeats of an unanswered message. The last gap repeats without end. */
  readonly repeatGapsMs: readonly number[];
};

export function makeAdvance(
  deadlines: Deadlines,
  handlers: ImmediateHandlers,
  findEndpointUrls: FindEndpointUrls = () => [],
): Advance {
  return (order, event, at, conditions) => {
    const stayed = meetInAnyStage(order, event, at);
    if (stayed instanceof Failure) return stayed;
    if (stayed !== undefined) return stepInAnyStage(order, stayed, event, at);

    if (isContradicted(order, event, at)) return mayArrive;
    const events: OrderEvent[] = [event];
    let met = meet(order, event, at);
    for (;;) {
      if (met instanceof Failure) return met;
      const effect = met.effects.find(isImmediate);
      if (effect === undefined) break;
      assert.ok(conditions !== undefined, `${effect} needs conditions`);
      const consequence = handlers[effect](met.order, conditions);
      events.push(consequence);
      met = meet(met.order, consequence, at);
    }

    const last = events.at(-1) ?? event;
    const deadlineAt = nextDeadline(order, met.order, last, at);
    const owed = owedFor(met, last, at) ?? priorOwed(met.order, last, at);
    const next = { ...met.order, deadlineAt, owed };
    const step = stepFrom(order, next, events, at);
    return withCallbacks(step, met.effects, event);
  };

  /** Refuses a decision that a message on its way to the host could undo. */
  function isContradicted({ owed, transaction }: Order, { kind }: OrderEvent, at: Instant) {
    const { answer, reason, identifiers, reversal } = transaction;
    const isReversal = owed?.effect === "reverse";
    const repeatedAt = reversal?.unansweredAt;
    const isAnswered = answer !== undefined || reason !== undefined;
    const { answerTimeoutMs, leaseMs } = deadlines;
    const isOnItsWay = (sentAt: Instant | undefined, arrivesMs: number) =>
      sentAt !== undefined && at < sentAt + arrivesMs;
    if (kind === "settled_as_done") return isReversal && isOnItsWay(repeatedAt, answerTimeoutMs);
    if (kind !== "settled_as_not_done") return false;
    if (!isReversal) return isOnItsWay(repeatedAt, answerTimeoutMs);
    // A charge may be on its way for the whole lease, in which its node may send it at any time.
    return !isAnswered && isOnItsWay(identifiers?.transmittedAt, leaseMs);
  }

  function stepInAnyStage(before: Order, after: Order, event: OrderEvent, at: Instant): Step {
    const { owes, effects = [] } = anyStage[event.kind] ?? whileOwingPrior[event.kind] ?? {};
    const isFree = before.owed === undefined || before.owed.effect === "reverse_prior";
    let { owed } = before;
    if (owes === "reverse_prior" && isFree) owed = priorOwed(after, event, at);
    if (owes === "renewed" && owed) {
      owed = claimableFrom(owed.effect, event, after.transaction.tries, at);
    }
    return withCallbacks(stepFrom(before, { ...after, owed }, [event], at), effects, event);
  }

  /** Only an endpoint that wants it is notified of a dispute. */
  function withCallbacks(step: Step, effects: readonly Effect[], event: OrderEvent): Step {
    if (!effects.includes("notify_merchant")) return step;
    const { order } = step;
    const isDispute = event.kind === "charged_back";
    if (isDispute && !event.notify) return step;
    const dispute = isDispute ? { dispute: event.chargeback } : {};
    const found = { order, transaction: order.transaction, ...dispute };
    return { ...step, callbacks: callbacksOf(found, findEndpointUrls(found)) };
  }

  function owedFor({ order, effects }: Met, last: OrderEvent, at: Instant): Owed | undefined {
    const effect = effects.find(isExternal);
    return effect && claimableFrom(effect, last, order.transaction.tries, at);
  }

  function priorOwed(order: Order, last: OrderEvent, at: Instant): Owed | undefined {
    if (!mayReversePrior(order)) return undefined;
    const answered = last.kind === "prior_unreversed" ? last.answered : last;
    const { tries = 0 } = findOwingAttempt(order)?.owes ?? {};
    return claimableFrom("reverse_prior", answered, tries, at);
  }

  function claimableFrom(effect: Effect, last: OrderEvent, tries: number, at: Instant): Owed {
    // An operator's command is no node and sends nothing, so any node may claim the order at once.
    if (last.kind === "asked_again") return { effect, claimableAt: at, resting: true };
    if (!isBeforeRest(last)) return { effect, claimableAt: later(at, deadlines.leaseMs) };
    return { effect, claimableAt: later(at, gapAfter(last, tries)), resting: true };
  }

  /** A refused message waits for the longest gap, unless a repeat may help at once. */
  function gapAfter(last: OrderEvent, tries: number): number {
    const { leaseMs, repeatGapsMs, answerTimeoutMs } = deadlines;
    if (last.kind === "original_not_found") return answerTimeoutMs;
    const isHopeless =
      last.kind === "repeat_refused" || (last.kind === "reversal_refused" && !last.mayHelp);
    const gaps = isHopeless ? repeatGapsMs.length : Math.min(tries, repeatGapsMs.length);
    return repeatGapsMs[gaps - 1] ?? leaseMs;
  }

  /** The deadline is set again only if the stage changes or the deadline has passed. */
  function nextDeadline(before: Order, after: Order, last: OrderEvent, at: Instant) {
    const { stage } = after.transaction;
    if (isFinal(stage)) return undefined;
    if (stage === "awaiting_card") return after.page?.expiresAt;
    const entered = before.transaction.stage !== stage;
    const renewed = entered || last.kind === "expired" || before.deadlineAt === undefined;
    return renewed ? later(at, deadlines.stageMs[stage]) : before.deadlineAt;
  }
}

/**
 * Returns when a node must look at the order: when its effect can be claimed or, if it owes none,
 * at its deadline. A deadline within the lease waits, because a live node works on the order.
 */
export function dueAtOf({ owed, deadlineAt }: Order): Instant | undefined {
  return owed?.claimableAt ?? deadlineAt;
}

function stepFrom(before: Order, after: Order, events: readonly OrderEvent[], at: Instant): Step {
  const { version: from, changedAt: fromChangedAt } = before;
  const order = { ...after, changedAt: at };
  return { from, fromChangedAt, fromDueAt: dueAtOf(before), order, events, at };
}

/** Replays a committed event. Its consequences are separate events in the history. */
export function meetRecorded(order: Order, event: OrderEvent, at: Instant): Order | Failure {
  const effect = mayReversePrior(order) ? "reverse_prior" : "reverse";
  const resting = { effect, claimableAt: at, resting: true } as const;
  const met = preview("by" in event ? { ...order, owed: resting } : order, event, at);
  return met instanceof Failure ? met : { ...met, owed: undefined };
}

/** Returns the order as the event leaves it, before the consequences of the event. */
export function preview(order: Order, event: OrderEvent, at: Instant): Order | Failure {
  const stayed = meetInAnyStage(order, event, at);
  if (stayed !== undefined) return stayed;
  const met = meet(order, event, at);
  return met instanceof Failure ? met : met.order;
}

/** Returns undefined for an event that moves the open transaction. */
function meetInAnyStage(order: Order, event: OrderEvent, at: Instant): Order | Failure | undefined {
  if ("by" in event) {
    return order.owed?.effect === "reverse_prior" ? decidePrior(order, event) : undefined;
  }
  const cell = anyStage[event.kind];
  if (cell === undefined) return undefined;
  if (cell.in !== "every stage" && isFinal(initialOf(order).stage)) return notIn(order, event);
  switch (event.kind) {
    case "claimed":
      return { ...takeOver(order, event, at), version: order.version + 1 };
    case "charged_back":
      return withChargeback(order, event.chargeback);
    case "dispute_decided":
      return withDecision(order, event);
    case "page_closed":
      return closePage(order, at) ?? notIn(order, event);
    case "prior_approved_late":
    case "prior_reversed":
    case "prior_unreversed":
      return meetPrior(order, event, at);
    case "noted":
      return { ...order, version: order.version + 1 };
    default:
      assert.fail(`${event.kind} means nothing in every stage`);
  }
}

type Met = { readonly order: Order; readonly effects: readonly Effect[] };

function meet(given: Order, event: OrderEvent, at: Instant): Met | Failure {
  const order = takeOver(given, event, at);
  const { transaction } = order;
  const version = order.version + 1;
  if (event.kind === "received") {
    const { effects } = order.page === undefined ? beginnings[transaction.kind] : beginningOnPage;
    return { order: { ...order, version }, effects };
  }
  if (isFollowUp(event)) {
    const next = followUp(order, event, at);
    if (next instanceof Failure) return next;
    const earlier = [...order.earlier, transaction];
    const { effects } = beginnings[next.kind];
    return { order: { ...order, version, earlier, transaction: next }, effects };
  }

  // A message of a node may still be on its way to the acquirer.
  if ("by" in event && order.owed?.resting !== true) return acquirerIsAsked;
  const hasTriesLeft = order.page !== undefined && mayTryAgain(order.page, at);
  const cell = (hasTriesLeft ? tablesWithTriesLeft : tables)[transaction.kind][transaction.stage]?.[
    event.kind
  ];
  if (cell === undefined) return notIn(order, event);
  const paid = event.kind === "card_entered" ? enterCard(order, event, at) : order;
  if (paid instanceof Failure) return paid;
  const finishedAt = isFinal(cell.stage) ? (transaction.finishedAt ?? at) : undefined;
  const facts = applyFacts(order, event, at);
  const next = { ...paid.transaction, ...facts, stage: cell.stage, finishedAt };
  const moved = { ...paid, version, transaction: next };
  return {
    order: cell.stage === "awaiting_card" ? endTry(moved, at) : moved,
    effects: cell.effects,
  };
}

/**
 * A node that takes over a message does not know whether it was sent, so the message counts as on
 * its way for as long as an answer may come. A late approval is reversed at once, even if another
 * node is about to do so.
 */
function takeOver(order: Order, { kind }: OrderEvent, at: Instant): Order {
  const { owed, transaction } = order;
  if (kind !== "claimed" && kind !== "expired" && kind !== "approved_late") return order;
  if (owed === undefined || owed.resting === true || !repeated.has(owed.effect)) return order;
  const reversal = { ...transaction.reversal, unansweredAt: at };
  return { ...order, transaction: { ...transaction, reversal } };
}

const repeated = new Set<Effect>(["reverse", "capture", "refund", "pay_out"]);

function notIn({ transaction: { stage } }: Order, { kind }: OrderEvent): Failure {
  return new Failure("not_allowed_now", "", `${kind} in stage ${stage}`);
}

function callbacksOf(found: FoundOrder, endpointUrls: readonly string[]): readonly OwedCallback[] {
  const own = ownUrlOf(found);
  const others = endpointUrls.filter((url) => own === undefined || !isSame(url, own));
  const { serialNumber } = found.dispute ?? found.transaction;
  return [own, ...others].flatMap((url, index) => {
    if (url === undefined) return [];
    const sequence = callbackSequenceOf(found) + index * sequencesPerUrl;
    return [{ url, receiver: receiverOf(url), sequence, serialNumber }];
  });
}

/** The first transaction has a URL of its own, and all later ones share another. */
function ownUrlOf({ order: { purchase, earlier }, dispute }: FoundOrder): string | undefined {
  const { serverCallback, notify } = purchase.urls;
  if (dispute !== undefined) return notify;
  return earlier.length === 0 ? (serverCallback ?? notify) : notify;
}

function isSame(url: string, other: string): boolean {
  return url === other || URL.parse(url)?.href === URL.parse(other)?.href;
}
