/** Copies the facts of an event into the transaction. The transition table decides the stage. */
import type { Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { EventOf, OrderEvent } from "./events.ts";
import { referenceOf, traceNumberOf } from "./messages.ts";
import type { GateFacts, Order, Reason, Transaction } from "./order.ts";
import { attemptsBefore, isSent, progressAfter, unansweredOf } from "./prior-attempts.ts";
import type { Stage } from "./stages.ts";

export function applyFacts(order: Order, event: OrderEvent, at: Instant): Partial<Transaction> {
  const { transaction } = order;
  switch (event.kind) {
    case "cleared_for_3ds":
      return {
        identifiers: identifiersOf(order, event.gate, at),
        ...(event.isForced && { forces3ds: true }),
        ...allowedBy(event),
        // A wallet's proof that did not satisfy the issuer must not be shown or sent.
        authentication: undefined,
      };
    case "cleared":
      return { identifiers: identifiersOf(order, event.gate, at), ...allowedBy(event) };
    case "rerouted":
      return { identifiers: identifiersOf(order, event.gate, at) };
    case "amount_refused":
    case "amount_reversed":
      return nextTry(order, event.next, at);
    case "method_requested":
    case "authentication_due":
    case "enrolment_due":
      return { threeds: event.threeds };
    case "method_uploaded":
    case "challenge_requested":
    case "pareq_requested":
      return progressOf(transaction, event);
    case "challenge_returned":
      return identifiersFrom(transaction, at);
    case "challenge_passed":
    case "authenticated":
    case "left_unauthenticated":
      return { authentication: event.authentication, ...identifiersFrom(transaction, at) };
    case "authentication_failed":
      return { authentication: event.authentication, reason: event.reason };
    case "authentication_demanded":
      return { ...nextTry(order, transaction.amount, at), ...demandedBy(event.reason) };
    case "authorized":
    case "paid_out":
      return { answer: event.answer, receiptId: event.receiptId };
    case "refused":
    case "refused_in_doubt":
    case "amount_in_doubt":
    case "approved_in_part":
    case "approval_refused":
      return { answer: event.answer, reason: event.reason };
    case "captured":
    case "returned":
      return { answer: event.answer };
    case "wallet_refused":
    case "filtered_out":
    case "gate_unavailable":
      return { reason: event.reason };
    default:
      return factsOfDoubt(transaction, event, at);
  }
}

function factsOfDoubt(
  transaction: Transaction,
  event: OrderEvent,
  at: Instant,
): Partial<Transaction> {
  switch (event.kind) {
    case "reversed":
      return { reason: transaction.reason ?? { code: "reversed_after_doubt", detail: "" } };
    case "outcome_unknown":
      return isSent(event.cause) ? { reversal: { ...transaction.reversal, unansweredAt: at } } : {};
    case "repeat_unanswered": {
      const { cause } = event;
      const before = transaction.reversal;
      // The host has to deny a transaction twice in a row. Any other answer starts that again.
      const reversal = cause.startsWith("inquiry: ") ? unansweredOf(before) : before;
      const progress = isSent(cause) ? { ...reversal, unansweredAt: at } : reversal;
      return { tries: transaction.tries + 1, ...(progress && { reversal: progress }) };
    }
    case "repeat_refused": {
      const reversal = { ...transaction.reversal, refusedWith: event.code };
      return { tries: transaction.tries + 1, reversal };
    }
    case "reversal_unanswered":
    case "reversal_refused":
    case "original_not_found": {
      const reversal = progressAfter(transaction.reversal, event, at);
      return { tries: transaction.tries + 1, reversal };
    }
    case "approved_late":
      // The approval proves that the charge exists, so its reversal starts again without delay.
      return { answer: event.answer, tries: 0, reversal: unansweredOf(transaction.reversal) };
    case "proved_unpaid":
      return { reason: { code: "not_paid_out", detail: "" } };
    case "settled_as_done":
      return { reason: undefined, receiptId: event.receiptId };
    case "settled_as_not_done":
      return { reason: transaction.reason ?? notDone(transaction) };
    case "expired":
      return lateOf(transaction, at);
    default:
      return {};
  }
}

/** If a void did not happen, the charge stands. If anything else did not, no money has moved. */
function notDone({ kind }: Transaction): Reason {
  return { code: kind === "void" ? "not_voided" : "settled_by_operator", detail: "" };
}

function allowedBy({ findings = [] }: EventOf<"cleared" | "cleared_for_3ds">) {
  const isAllowed = findings.some((each) => "action" in each && each.action === "allow");
  return isAllowed ? { isAllowed } : {};
}

/** The earlier proof did not satisfy the issuer, so the merchant must not see it any more. */
function demandedBy(demanded: Reason): Partial<Transaction> {
  return { demanded, authentication: undefined };
}

/** The browser's properties are dropped after the next step, which alone needs them. */
function progressOf(
  { threeds }: Transaction,
  event: EventOf<"method_uploaded" | "challenge_requested" | "pareq_requested">,
): Partial<Transaction> {
  if (threeds === undefined) return {};
  const { kind: _kind, ...news } = event;
  const { browser: _, ...going } = threeds;
  return { threeds: { ...going, ...news } };
}

/** The charge is sent only now, because the cardholder took some time. */
function identifiersFrom({ identifiers }: Transaction, at: Instant): Partial<Transaction> {
  return identifiers === undefined ? {} : { identifiers: { ...identifiers, transmittedAt: at } };
}

function lateOf(transaction: Transaction, at: Instant): Partial<Transaction> {
  if (transaction.stage === "awaiting_return") return identifiersFrom(transaction, at);
  return { reason: lateness[transaction.stage] ?? transaction.reason };
}

const expiredInside: Reason = { code: "processing_expired", detail: "" };

const lateness: { readonly [Where in Stage]?: Reason } = {
  awaiting_card: { code: "payment_page_expired", detail: "" },
  filtering: expiredInside,
  authenticating: expiredInside,
  awaiting_method: { code: "method_expired", detail: "" },
  awaiting_challenge: { code: "challenge_expired", detail: "" },
  awaiting_result: { code: "challenge_result_missing", detail: "" },
  awaiting_pares: { code: "pares_expired", detail: "" },
};

/** Another amount is a new charge through the same gate, with its own reference. */
function nextTry(order: Order, amount: Money, at: Instant): Partial<Transaction> {
  const { identifiers, amount: tried, priorAttempts = [] } = order.transaction;
  if (identifiers === undefined) return { amount };
  return {
    answer: undefined,
    reason: undefined,
    tries: 0,
    amount,
    reversal: undefined,
    priorAttempts: [...priorAttempts, { identifiers, amount: tried }],
    identifiers: identifiersOf(order, identifiers.gate, at),
  };
}

function identifiersOf(order: Order, gate: GateFacts, at: Instant) {
  const attempt = (order.transaction.identifiers?.attempt ?? attemptsBefore(order)) + 1;
  const reference = referenceOf(order, attempt);
  const traceNumber = traceNumberOf(order, 0, attempt);
  return { gate, attempt, reference, traceNumber, transmittedAt: at };
}
