/**
 * Charges for earlier amounts of a list, or from before a challenge, that were approved after the
 * order had gone on to another attempt. Each owes a reversal of its own. The gateway sends it when
 * the order is final and owes nothing else, and repeats it until it is proved; the result that the
 * merchant knows does not change. These events are accepted in every stage.
 */
import { Failure } from "../values/failure.ts";
import type { Instant } from "../values/time.ts";
import { bankIsAsked, type OrderEvent, type Unproved } from "./events.ts";
import type { Order, OwedReversal, PriorAttempt, ReversalProgress } from "./order.ts";
import { isFinal } from "./stages.ts";
import { initialOf } from "./transactions.ts";

export type OwingAttempt = PriorAttempt & { readonly owes: OwedReversal };

/** The attempt to reverse next. */
export function findOwingAttempt(order: Order): OwingAttempt | undefined {
  return initialOf(order).priorAttempts?.find(isOwing);
}

export function findPriorAttempt(order: Order, reference = ""): PriorAttempt | undefined {
  const { priorAttempts = [] } = initialOf(order);
  return priorAttempts.find(({ identifiers }) => identifiers.reference === reference);
}

/** An order in progress first comes to its end: one effect is owed at a time. */
export function mayReversePrior(order: Order): boolean {
  return isFinal(order.transaction.stage) && findOwingAttempt(order) !== undefined;
}

export function isAboutPrior({ kind }: OrderEvent): boolean {
  return ["prior_approved_late", "prior_reversed", "prior_unreversed"].includes(kind);
}

/** Nothing when the event is not about an earlier attempt. */
export function meetPrior(
  order: Order,
  event: OrderEvent,
  at: Instant,
): Order | Failure | undefined {
  switch (event.kind) {
    case "prior_approved_late": {
      const { approvalCode, processedAt: approvedAt } = event.answer;
      return mark(order, event.reference, { approvedAt, approvalCode, tries: 0 });
    }
    case "prior_reversed":
      return settle(order, event.reference, event.approvedAt);
    case "prior_unreversed": {
      const owes = findPriorAttempt(order, event.reference)?.owes;
      if (owes === undefined) return nothingOwed;
      const { notFoundAt: _, refusedWith: __, ...kept } = owes;
      const progress = progressAfter(owes, event.answered, at);
      return mark(order, event.reference, { ...kept, ...progress, tries: owes.tries + 1 });
    }
    default:
      return order.owed?.effect === "reverse_prior" ? meetOperator(order, event) : undefined;
  }
}

/** What the host has said to a reversal so far. */
export function progressAfter(
  before: ReversalProgress | undefined,
  answered: Unproved,
  at: Instant,
): ReversalProgress | undefined {
  if (answered.kind === "reversal_refused") return { refusedWith: answered.code };
  if (answered.kind === "original_not_found") return { notFoundAt: before?.notFoundAt ?? at };
  return before;
}

/** The order's own stage has no part in it: it is final. */
function meetOperator(order: Order, event: OrderEvent): Order | Failure | undefined {
  const attempt = findOwingAttempt(order);
  switch (event.kind) {
    case "asked_again":
      return { ...order, version: order.version + 1 };
    case "settled_as_not_done":
      if (order.owed?.resting !== true) return bankIsAsked;
      return settle(order, attempt?.identifiers.reference ?? "", attempt?.owes.approvedAt);
    case "settled_as_done":
      return new Failure("not_allowed_now", "", "the order has its result");
    default:
      return undefined;
  }
}

/** An approval that came after the reversal was sent has to be reversed anew. */
function settle(order: Order, reference: string, approvedAt: Instant | undefined) {
  const owes = findPriorAttempt(order, reference)?.owes;
  return owes?.approvedAt === approvedAt ? mark(order, reference, undefined) : nothingOwed;
}

function mark(order: Order, reference: string, owes: OwedReversal | undefined): Order | Failure {
  if (findPriorAttempt(order, reference) === undefined) return nothingOwed;
  const initial = initialOf(order);
  const priorAttempts = initial.priorAttempts?.map((attempt) =>
    attempt.identifiers.reference === reference ? { ...attempt, owes } : attempt,
  );
  const marked = { ...initial, ...(priorAttempts && { priorAttempts }) };
  const version = order.version + 1;
  const [, ...later] = order.earlier;
  return order.earlier.length === 0
    ? { ...order, version, transaction: marked }
    : { ...order, version, earlier: [marked, ...later] };
}

const nothingOwed = new Failure("not_allowed_now", "", "no such reversal is owed");

function isOwing(attempt: PriorAttempt): attempt is OwingAttempt {
  return attempt.owes !== undefined;
}
