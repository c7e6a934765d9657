/**
 * Carries an order from step to step: does what it is owed, applies what came of it, and goes on
 * until the order is owed nothing more or must wait. Orders in hand are counted: past the bound the
 * node takes no new ones.
 */
import { isUnanswered } from "../orders/advance.ts";
import type { Apply } from "../orders/apply.ts";
import type { CardInHand, Circumstances, Doers } from "../orders/doer.ts";
import { isCarried } from "../orders/effects.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import type { OrderId } from "../values/ids.ts";

export type Carry = {
  /** Goes on in the background; what is already in hand is left alone. */
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
  readonly onTrouble: (order: Order, error: unknown) => void;
};

export function makeCarry({ doers, apply, onStep, onTrouble }: CarryNeeds): Carry {
  const inHand = new Map<OrderId, Promise<void>>();

  return {
    start(order, circumstances) {
      if (order.owed === undefined || inHand.has(order.id)) return;
      const journey = carry(order, circumstances)
        .catch((error) => onTrouble(order, error))
        .finally(() => inHand.delete(order.id));
      inHand.set(order.id, journey);
    },
    has: (order) => inHand.has(order),
    get count() {
      return inHand.size;
    },
    async idle() {
      while (inHand.size > 0) await Promise.all(inHand.values());
    },
  };

  async function carry(begun: Order, circumstances: Circumstances): Promise<void> {
    let order = begun;
    let { startedBefore } = circumstances;
    // The CVV is for the one authorisation that leaves; after that it is forgotten.
    let held: CardInHand | undefined = circumstances.inHand;
    while (order.owed !== undefined && isCarried(order.owed.effect)) {
      const event = await doers[order.owed.effect](order, { startedBefore, inHand: held });
      const next = await apply(order, event);
      if (next instanceof Failure) return;
      onStep(next);
      order = next;
      startedBefore = false;
      if (event.kind !== "rerouted") held = withoutCvv(held);
      if (isUnanswered(event)) return;
    }
  }
}

function withoutCvv(held: CardInHand | undefined): CardInHand | undefined {
  return held === undefined ? undefined : { ...held, cvv: undefined };
}
