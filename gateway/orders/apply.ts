/**
 * The only place where an order changes. `commit` gathers the steps of all orders in flight into
 * one statement. A stale version means that another node or request was faster: the event then
 * meets the order as it is now, and is kept as a note when it no longer changes anything.
 */
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import type { Advance, Conditions, Step } from "./advance.ts";
import type { EventKind, EventOf, FollowUpEvent, OrderEvent } from "./events.ts";
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
  /** Absent where no event leads to an immediate effect. */
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

  /** The order has gone on to another attempt, so the approval is of an earlier one. */
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

/** The order has lost the charge that the event was about. */
export class LostCharge extends Failure {}

/** The order no longer exists: the database failed over to a standby that had not received it. */
export class LostOrder extends Error {}

/**
 * An event is about the transaction, and the acquirer's identifiers, that its reporter worked with.
 * When the order has moved on to others since, the event says nothing about those.
 */
function isAbout(
  { transaction: now, owed }: Order,
  { transaction: then, owed: owedThen }: Order,
  event: OrderEvent,
): boolean {
  if (isAboutPrior(event)) return true;
  // Another node has taken the order over since, and may have sent what this one has not.
  const isTakenOver =
    owed?.effect === owedThen?.effect && owed?.claimableAt !== owedThen?.claimableAt;
  if (isTakenOver && event.kind === "gate_unavailable") return false;
  // The host may have refused that node's repeat, which proves nothing about this node's message.
  const isFollowUp = owed?.effect === "capture" || owed?.effect === "refund";
  if (isTakenOver && isFollowUp && event.kind === "refused") return false;
  if (now.serialNumber !== then.serialNumber) return false;
  if (questionOf(now) !== questionOf(then)) return false;
  // Another try on the payment page is authenticated again.
  const asked = isBeforeSending(then.stage) ? then.threeds?.transactionId : undefined;
  if (asked !== undefined && asked !== now.threeds?.transactionId) return false;
  const [reference, earlier] = [now.identifiers?.reference, then.identifiers?.reference];
  if (earlier !== undefined && reference !== earlier) return false;
  // A reversal that was sent before the approval came may have found no charge: it is sent again.
  return !endsDoubt.has(event.kind) || now.answer?.processedAt === then.answer?.processedAt;
}

/**
 * The issuer's question to the cardholder. An event that was reported before the question was put,
 * as by a node that slept, must not answer it.
 */
function questionOf({ threeds }: Transaction): string | undefined {
  return threeds?.challenge?.acsTransactionId ?? threeds?.payerRequest?.pareq;
}

const endsDoubt = new Set<EventKind>([
  "reversed",
  "part_reversed",
  "amount_reversed",
  "original_not_found",
]);

/** An approval that the order refuses is money taken, and has to be reversed. */
function lateApprovalOf(event: OrderEvent): EventOf<"approved_late"> | undefined {
  if (event.kind === "approved_late") return event;
  if (event.kind !== "authorized" && event.kind !== "approved_in_part") return undefined;
  return { kind: "approved_late", answer: event.answer };
}

function noteOf({ kind }: OrderEvent, { cause }: Failure): OrderEvent {
  return { kind: "noted", what: kind, detail: cause };
}

type ClaimEvent = EventOf<"claimed"> | EventOf<"expired">;

/** Claims a due order as it was found; nothing comes back when it has moved on since. */
export function makeClaim({ advance, commit, clock }: ApplyDependencies) {
  return async (order: Order, event: ClaimEvent): Promise<Order | undefined> => {
    const step = advance(order, event, clock.now());
    if (step instanceof Failure) return undefined;
    return (await commit(step)) === "done" ? step.order : undefined;
  };
}

/**
 * Begins another transaction of the order, unless an identical request has begun it already. Two
 * concurrent requests start from the same version, so one of them meets the order again.
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
