/**
 * Charges of earlier attempts (for earlier amounts of a list, before a challenge, of refused tries
 * on the payment page) that may be approved late. Each late approval owes its own reversal, which
 * is sent when the order is final or waits for a card and owes nothing else, and is repeated until
 * it is proved. The merchant's result does not change.
 */
import { Failure } from "../values/failure.ts";
import type { Instant } from "../values/time.ts";
import { acquirerIsAsked, type OperatorEvent, type OrderEvent, type Unproved } from "./events.ts";
import type { Order, OwedReversal, PriorAttempt, ReversalProgress } from "./order.ts";
import { isFinal, stagesInDoubt } from "./stages.ts";
import { initialOf } from "./transactions.ts";
import { anyStage, whileOwingPrior } from "./transitions.ts";

export type OwingAttempt = PriorAttempt & { readonly owes: OwedReversal };

export function findOwingAttempt(order: Order): OwingAttempt | undefined {
  return priorAttemptsOf(order).find(isOwing);
}

export function findPriorAttempt(order: Order, reference = ""): PriorAttempt | undefined {
  return priorAttemptsOf(order).find(({ identifiers }) => identifiers.reference === reference);
}

export function knowsCharge(order: Order, reference: string): boolean {
  const made = [...order.earlier, order.transaction].map(
    ({ identifiers }) => identifiers?.reference,
  );
  return made.includes(reference) || findPriorAttempt(order, reference) !== undefined;
}

export function priorAttemptsOf(order: Order): readonly PriorAttempt[] {
  const { priorAttempts = [] } = initialOf(order);
  if (order.page === undefined) return priorAttempts;
  return [...order.page.refused.flatMap(({ attempts }) => attempts), ...priorAttempts];
}

export function attemptsBefore({ page }: Order): number {
  const attempts = page?.refused.flatMap((each) => each.attempts) ?? [];
  return attempts.at(-1)?.identifiers.attempt ?? 0;
}

/** The order is as it was when the attempt was sent, because an earlier try had another card. */
export function orderOfAttempt(order: Order, { identifiers, amount }: PriorAttempt): Order {
  const { reference } = identifiers;
  const transaction = { ...initialOf(order), identifiers, amount };
  const tried = order.page?.refused.find(({ attempts }) =>
    attempts.some((each) => each.identifiers.reference === reference),
  );
  if (tried === undefined) return { ...order, transaction };
  const { wallet: _, ...purchase } = order.purchase;
  const { card, wallet } = tried;
  return {
    ...order,
    card,
    purchase: wallet === undefined ? purchase : { ...purchase, wallet },
    transaction: { ...transaction, authentication: undefined },
  };
}

/** Whether the acquirer may have moved money that the gateway does not count, or the reverse. */
export function isInDoubt({ owed, transaction }: Order): boolean {
  const isReversing = owed?.effect === "reverse" || owed?.effect === "reverse_prior";
  return isReversing || stagesInDoubt.includes(transaction.stage);
}

/** The charge or follow-up that is in doubt: the present one, or an earlier attempt. */
export function inDoubtOf(order: Order) {
  const prior = order.owed?.effect === "reverse_prior" ? findOwingAttempt(order) : undefined;
  return prior === undefined
    ? order.transaction
    : { ...prior, tries: prior.owes.tries, reversal: prior.owes };
}

/** An order in progress must end before the reversal, because only one effect is owed at a time. */
export function mayReversePrior(order: Order): boolean {
  const { stage } = order.transaction;
  const isFree = isFinal(stage) || stage === "awaiting_card";
  return isFree && findOwingAttempt(order) !== undefined;
}

export function isAboutPrior({ kind }: OrderEvent): boolean {
  return anyStage[kind]?.owes === "reverse_prior";
}

type PriorEvent = Extract<
  OrderEvent,
  { readonly kind: "prior_approved_late" | "prior_reversed" | "prior_unreversed" }
>;

export function meetPrior(order: Order, event: PriorEvent, at: Instant): Order | Failure {
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
  }
}

/** Applies an operator's decision about the reversal that the order owes. */
export function decidePrior(order: Order, { kind }: OperatorEvent): Order | Failure {
  if (order.owed?.resting !== true) return acquirerIsAsked;
  if (whileOwingPrior[kind] === undefined) return hasResult;
  if (kind === "asked_again") return { ...order, version: order.version + 1 };
  const attempt = findOwingAttempt(order);
  return settle(order, attempt?.identifiers.reference ?? "", attempt?.owes.approvedAt);
}

export function progressAfter(
  before: ReversalProgress | undefined,
  answered: Unproved,
  at: Instant,
): ReversalProgress | undefined {
  const kept = unansweredOf(before);
  if (answered.kind === "reversal_refused") return { ...kept, refusedWith: answered.code };
  if (answered.kind === "original_not_found") {
    return { ...kept, notFoundAt: before?.notFoundAt ?? at };
  }
  return isSent(answered.cause) ? { ...before, unansweredAt: at } : before;
}

/** The host's answer to one message says nothing about another message. */
export function unansweredOf(progress: ReversalProgress | undefined): ReversalProgress {
  const { unansweredAt } = progress ?? {};
  return unansweredAt === undefined ? {} : { unansweredAt };
}

/** The cause of the missing answer shows whether a message that may move money was sent. */
export function isSent(cause: string): boolean {
  const unsent = ["gate_unavailable", "card_not_held", "too_late", "not_repeatable"];
  return !unsent.includes(cause) && !cause.startsWith("inquiry: ");
}

/** An approval that came after a reversal has to be reversed again. */
function settle(order: Order, reference: string, approvedAt: Instant | undefined) {
  const owes = findPriorAttempt(order, reference)?.owes;
  return owes?.approvedAt === approvedAt ? mark(order, reference, undefined) : nothingOwed;
}

function mark(order: Order, reference: string, owes: OwedReversal | undefined): Order | Failure {
  if (findPriorAttempt(order, reference) === undefined) return nothingOwed;
  const initial = initialOf(order);
  const markOne = (attempt: PriorAttempt) =>
    attempt.identifiers.reference === reference ? { ...attempt, owes } : attempt;
  const priorAttempts = initial.priorAttempts?.map(markOne);
  const marked = { ...initial, ...(priorAttempts && { priorAttempts }) };
  const refused = order.page?.refused.map((each) => {
    return { ...each, attempts: each.attempts.map(markOne) };
  });
  const page = order.page && refused && { ...order.page, refused };
  const next = { ...order, version: order.version + 1, ...(page && { page }) };
  const [, ...later] = order.earlier;
  return order.earlier.length === 0
    ? { ...next, transaction: marked }
    : { ...next, earlier: [marked, ...later] };
}

const hasResult = new Failure("not_allowed_now", "", "the order has its result");
const nothingOwed = new Failure("not_allowed_now", "", "no such reversal is owed");

function isOwing(attempt: PriorAttempt): attempt is OwingAttempt {
  return attempt.owes !== undefined;
}
