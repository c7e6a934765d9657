/**
 * Carries an order from step to step: does what it is owed, applies what came of it, and goes on
 * until the order is owed nothing more or must wait. Orders in hand are counted: past the bound the
 * node takes no new ones.
 */
import { isUnanswered } from "../orders/advance.ts";
import type { Apply } from "../orders/apply.ts";
import type { CardInHand, Circumstances, Doers } from "../orders/doer.ts";
import { isCarried } from "../orders/effects.ts";
import { isBeforeNextTry, type OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import type { OrderId } from "../values/ids.ts";

export type Carry = {
  /**
   * Goes on in the background. An order that is already in hand is left alone, unless it turns out
   * in the end that whoever has it in hand has not seen this version of it.
   */
  start(order: Order, circumstances: Circumstances): void;
  has(order: OrderId): boolean;
  readonly count: number;
  /** Resolves when nothing is in hand. */
  idle(): Promise<void>;
};

export type CarryNeeds = {
  readonly doers: Doers;
  readonly apply: Apply;
  readonly onStep: (order: Order) => void;
  /** What was done came to nothing: the order no longer wanted it. */
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
};

/** `version` is the latest that was seen on the way. */
type Journey = { version: number; end: Promise<void> };

export function makeCarry(needs: CarryNeeds): Carry {
  const { doers, apply, onStep, onTrouble } = needs;
  const inHand = new Map<OrderId, Journey>();

  return {
    start,
    has: (order) => inHand.has(order),
    get count() {
      return inHand.size;
    },
    async idle() {
      while (inHand.size > 0) await Promise.all([...inHand.values()].map(({ end }) => end));
    },
  };

  function start(order: Order, circumstances: Circumstances): void {
    if (order.owed === undefined) return;
    const earlier = inHand.get(order.id);
    if (earlier !== undefined) {
      void earlier.end.then(() => earlier.version < order.version && start(order, circumstances));
      return;
    }
    const journey = { version: order.version, end: Promise.resolve() };
    inHand.set(order.id, journey);
    journey.end = carry(order, circumstances, journey)
      .catch((error) => onTrouble(order, error))
      .finally(() => inHand.delete(order.id));
  }

  async function carry(
    begun: Order,
    circumstances: Circumstances,
    journey: Journey,
  ): Promise<void> {
    let order = begun;
    let { startedBefore } = circumstances;
    // The CVV is for the authorisation; once that is answered it is forgotten.
    let held: CardInHand | undefined = circumstances.inHand;
    while (order.owed !== undefined && isCarried(order.owed.effect)) {
      const { effect } = order.owed;
      const event = await doers[effect](order, { startedBefore, inHand: held });
      const next = await apply(order, event);
      if (next instanceof Failure) return needs.onRefused(order, event, next);
      onStep(next);
      order = next;
      journey.version = next.version;
      startedBefore = false;
      if (effect === "authorize" && !isBeforeNextTry(event)) held = withoutCvv(held);
      if (isUnanswered(event)) return;
    }
  }
}

function withoutCvv(held: CardInHand | undefined): CardInHand | undefined {
  return held === undefined ? undefined : { ...held, cvv: undefined };
}
