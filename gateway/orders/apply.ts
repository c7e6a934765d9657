/**
 * Applies events to orders, except a card from the payment page. `commit` gathers the steps of all
 * orders in flight into one statement. If the version is stale, because another node or request was
 * faster, the event is applied to the new version, or kept as a note if it changes nothing any
 * more.
 */
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import type { Advance, Conditions, Step } from "./advance.ts";
import {
  approvals,
  type EventKind,
  type EventOf,
  type FollowUpEvent,
  type OrderEvent,
} from "./events.ts";
import type { Order, Transaction } from "./order.ts";
import { findPriorAttempt, isAboutPrior, knowsCharge } from "./prior-attempts.ts";
import { isBeforeSending } from "./stages.ts";
import { findRepeated } from "./transactions.ts";
import { needsConditions } from "./transitions.ts";

export type Commit = (step: Step) => Promise<"done" | "stale">;

export type Apply = (order: Order, event: OrderEvent) => Promise<Order | Failure>;
export type ClaimOrder = ReturnType<typeof makeClaim>;
export type Follow = ReturnType<typeof makeFollow>;

export type ApplyDependencies = {
  readonly advance: Advance;
  readonly commit: Commit;
  readonly load: (order: Order) => Promise<Order>;
  readonly conditionsOf?: (order: Order) => Conditions;
  readonly clock: Pick<Clock, "now">;
};

export function makeApply(dependencies: ApplyDependencies): Apply {
  const { advance, commit, load, conditionsOf, clock } = dependencies;
  return apply;

  async function apply(order: Order, event: OrderEvent): Promise<Order | Failure> {
    let met = order;
    for (;;) {
      const conditions = needsConditions(event) ? conditionsOf?.(met) : undefined;
      const isOfThis = isAbout(met, order, event);
      const step = isOfThis ? advance(met, event, clock.now(), conditions) : movedOn(met, order);
      if (step instanceof Failure) {
        const late = lateApprovalOf(event);
        if (late !== undefined && late !== event && isOfThis) return apply(met, late);
        if (late !== undefined) await reportPrior(met, order.transaction.identifiers, late);
        if (met !== order) await apply(met, noteOf(event, step));
        return step;
      }
      if ((await commit(step)) === "done") return step.order;
      met = await load(order);
    }
  }

  /** The order has gone on with another attempt, so the approval belongs to an earlier one. */
  async function reportPrior(
    met: Order,
    identifiers: Transaction["identifiers"],
    { answer }: EventOf<"approved_late">,
  ): Promise<void> {
    const reference = identifiers?.reference ?? "";
    if (findPriorAttempt(met, reference) === undefined) return;
    await apply(met, { kind: "prior_approved_late", reference, answer });
  }
}

/** A failover to a standby that lacked the last commits may have lost the charge itself. */
function movedOn(now: Order, { transaction }: Order): Failure {
  const { reference } = transaction.identifiers ?? {};
  const isKnown = reference === undefined || knowsCharge(now, reference);
  if (isKnown) return new Failure("not_allowed_now", "", "the order has moved on since");
  return new LostCharge(
    "not_allowed_now",
    "",
    `it was about the charge ${reference}, of which the order knows nothing`,
  );
}

/** The database has lost the charge that the event is about. */
export class LostCharge extends Failure {}

/** The database has lost the order in a failover to a standby that had not received it. */
export class LostOrder extends Error {}

/**
 * Whether the event still applies: it is about the transaction and the acquirer identifiers that
 * its reporter worked with, and says nothing about others that the order may have now.
 */
function isAbout(
  { transaction: now, owed }: Order,
  { transaction: then, owed: owedThen }: Order,
  event: OrderEvent,
): boolean {
  if (isAboutPrior(event)) return true;
  // Another node that has taken the order over may have sent what this node has not.
  const isTakenOver =
    owed?.effect === owedThen?.effect && owed?.claimableAt !== owedThen?.claimableAt;
  if (isTakenOver && event.kind === "gate_unavailable") return false;
  // The host may have refused the other node's repeat. That proves nothing about this message.
  const isFollowUp = owed?.effect === "capture" || owed?.effect === "refund";
  if (isTakenOver && isFollowUp && event.kind === "refused") return false;
  if (now.serialNumber !== then.serialNumber) return false;
  if (questionOf(now) !== questionOf(then)) return false;
  // Each try on the payment page has an authentication of its own.
  const asked = isBeforeSending(then.stage) ? then.threeds?.transactionId : undefined;
  if (asked !== undefined && asked !== now.threeds?.transactionId) return false;
  const [reference, earlier] = [now.identifiers?.reference, then.identifiers?.reference];
  if (earlier !== undefined && reference !== earlier) return false;
  // A reversal sent before the approval may have found no charge, so it is sent again.
  return !endsDoubt.has(event.kind) || now.answer?.processedAt === then.answer?.processedAt;
}

/** An event from before the issuer's demand for authentication must not answer the demand. */
function questionOf({ threeds }: Transaction): string | undefined {
  return threeds?.challenge?.acsTransactionId ?? threeds?.payerRequest?.pareq;
}

const endsDoubt = new Set<EventKind>([
  "reversed",
  "part_reversed",
  "amount_reversed",
  "original_not_found",
]);

/** Returns an event's approval. If the order refuses it, the money taken has to be reversed. */
function lateApprovalOf(event: OrderEvent): EventOf<"approved_late"> | undefined {
  if (event.kind === "approved_late") return event;
  if (!("answer" in event) || !approvals.has(event.kind)) return undefined;
  return { kind: "approved_late", answer: event.answer };
}

function noteOf({ kind }: OrderEvent, { cause }: Failure): OrderEvent {
  return { kind: "noted", what: kind, detail: cause };
}

type ClaimEvent = EventOf<"claimed"> | EventOf<"expired">;

/** Returns undefined if the order has changed since it was found. */
export function makeClaim({ advance, commit, clock }: ApplyDependencies) {
  return async (order: Order, event: ClaimEvent): Promise<Order | undefined> => {
    const step = advance(order, event, clock.now());
    if (step instanceof Failure) return undefined;
    return (await commit(step)) === "done" ? step.order : undefined;
  };
}

/**
 * Begins another transaction of the order, unless an identical request has. Of two concurrent
 * requests with the same version, the later one is applied to the result of the other.
 */
export function makeFollow({ advance, commit, load, clock }: ApplyDependencies) {
  return async (order: Order, event: FollowUpEvent) => {
    let met = order;
    for (;;) {
      const repeated = findRepeated(met, event.request);
      if (repeated !== undefined) return { order: met, repeated };
      const step = advance(met, event, clock.now());
      if (step instanceof Failure) return step;
      if ((await commit(step)) === "done") return { order: step.order, repeated };
      met = await load(order);
    }
  };
}
