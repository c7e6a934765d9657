/**
 * The only place an order changes. `commit` gathers the steps of all orders in flight into one
 * statement; a stale version means that somebody else was faster, so the event meets the order
 * anew, and is kept as a note when it no longer changes anything.
 */
import { Failure } from "../values/failure.ts";
import type { MerchantId, OrderId } from "../values/ids.ts";
import type { Clock } from "../values/time.ts";
import type { Advance, Step } from "./advance.ts";
import type { EventKind, EventOf, OrderEvent } from "./events.ts";
import type { Order, Transaction } from "./order.ts";
import { findRepeated } from "./transactions.ts";

export type Commit = (step: Step) => Promise<"done" | "stale">;
export type LoadOrder = (merchant: MerchantId, order: OrderId) => Promise<Order>;

export type Apply = (order: Order, event: OrderEvent) => Promise<Order | Failure>;
/**
 * Takes up an order that is due, just as it was found: an order that has moved on since is not due
 * any more, so nothing comes back when somebody was faster.
 */
export type ClaimOrder = (
  order: Order,
  event: EventOf<"claimed"> | EventOf<"expired">,
) => Promise<Order | undefined>;

/**
 * Begins another transaction of the order, unless an identical request has begun it already. Two
 * at once start from the same version, so one of them meets the order anew.
 */
export type Follow = (
  order: Order,
  event: EventOf<"capture_asked"> | EventOf<"return_asked">,
) => Promise<Followed | Failure>;

export type Followed = { readonly order: Order; readonly repeated: Transaction | undefined };

type Dependencies = {
  readonly advance: Advance;
  readonly commit: Commit;
  readonly load: LoadOrder;
  readonly clock: Clock;
};

export function makeApply({ advance, commit, load, clock }: Dependencies): Apply {
  return async function apply(order: Order, event: OrderEvent): Promise<Order | Failure> {
    let met = order;
    for (;;) {
      const step = isAbout(met, order, event) ? advance(met, event, clock.now()) : movedOn;
      if (step instanceof Failure) {
        const late = lateApprovalOf(event);
        if (late !== undefined && step !== movedOn) return apply(met, late);
        if (met !== order) await apply(met, noteOf(event, step));
        return step;
      }
      if ((await commit(step)) === "done") return step.order;
      met = await load(order.merchantId, order.id);
    }
  };
}

const movedOn = new Failure("not_allowed_now", "", "it was about an earlier transaction");

/**
 * An event is about the transaction, and the charge, that its reporter had in hand. When the order
 * has gone on to another one meanwhile, what is learnt means nothing for that one.
 */
function isAbout(
  { transaction: now }: Order,
  { transaction: then }: Order,
  { kind }: OrderEvent,
): boolean {
  if (now.serialNumber !== then.serialNumber) return false;
  if (questionOf(now) !== questionOf(then)) return false;
  const [reference, earlier] = [now.identifiers?.reference, then.identifiers?.reference];
  if (earlier !== undefined && reference !== earlier) return false;
  // A reversal that was sent before the approval came may have met nothing: it is sent again.
  return !endsDoubt.has(kind) || now.answer?.processedAt === then.answer?.processedAt;
}

/**
 * What the cardholder is asked by his bank. Whoever was told nothing before it was asked, such as a
 * node that slept, must not answer in its place.
 */
function questionOf({ threeds }: Transaction): string | undefined {
  return threeds?.challenge?.acsTransactionId ?? threeds?.payerRequest?.pareq;
}

const endsDoubt: ReadonlySet<EventKind> = new Set<EventKind>([
  "reversed",
  "part_reversed",
  "amount_reversed",
]);

/** An approval for which the order has no use any more is money taken, and must be given back. */
function lateApprovalOf(event: OrderEvent): OrderEvent | undefined {
  if (event.kind !== "authorized" && event.kind !== "approved_in_part") return undefined;
  return { kind: "approved_late", answer: event.answer };
}

function noteOf({ kind }: OrderEvent, { cause }: Failure): OrderEvent {
  return { kind: "noted", what: kind, detail: cause };
}

export function makeClaim({ advance, commit, clock }: Omit<Dependencies, "load">): ClaimOrder {
  return async (order, event) => {
    const step = advance(order, event, clock.now());
    if (step instanceof Failure) return undefined;
    return (await commit(step)) === "done" ? step.order : undefined;
  };
}

export function makeFollow({ advance, commit, load, clock }: Dependencies): Follow {
  return async (order, event) => {
    let met = order;
    for (;;) {
      const repeated = findRepeated(met, event.request);
      if (repeated !== undefined) return { order: met, repeated };
      const step = advance(met, event, clock.now());
      if (step instanceof Failure) return step;
      if ((await commit(step)) === "done") return { order: step.order, repeated };
      met = await load(order.merchantId, order.id);
    }
  };
}
