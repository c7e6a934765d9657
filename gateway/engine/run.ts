/**
 * Carries an order from step to step: does what it is owed, applies what came of it, and goes on
 * until the order is owed nothing more or must wait. Orders in hand are counted: past the bound the
 * node takes no new ones.
 */
import { isUnanswered } from "../orders/advance.ts";
import type { Apply } from "../orders/apply.ts";
import type { CardData, EffectHandlers, RunContext } from "../orders/effect-handler.ts";
import { isExternal } from "../orders/effects.ts";
import { isBeforeNextTry, type OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import type { OrderId } from "../values/ids.ts";

export type OrderRunner = {
  /**
   * Goes on in the background. An order that is already in hand is left alone, unless it turns out
   * in the end that whoever has it in hand has not seen this version of it.
   */
  start(order: Order, context: RunContext): void;
  has(order: OrderId): boolean;
  readonly count: number;
  /** Resolves when nothing is in hand. */
  idle(): Promise<void>;
};

export type RunnerDependencies = {
  readonly handlers: EffectHandlers;
  readonly apply: Apply;
  readonly onStep: (order: Order) => void;
  /** What was done came to nothing: the order no longer wanted it. */
  readonly onRefused: (order: Order, event: OrderEvent, refusal: Failure) => void;
  readonly onTrouble: (order: Order, error: unknown) => void;
};

/** `version` is the latest that was seen on the way. */
type Journey = { version: number; end: Promise<void> };

export function makeOrderRunner(dependencies: RunnerDependencies): OrderRunner {
  const { handlers, apply, onStep, onTrouble } = dependencies;
  const cardData = new Map<OrderId, Journey>();

  return {
    start,
    has: (order) => cardData.has(order),
    get count() {
      return cardData.size;
    },
    async idle() {
      while (cardData.size > 0) await Promise.all([...cardData.values()].map(({ end }) => end));
    },
  };

  function start(order: Order, context: RunContext): void {
    if (order.owed === undefined) return;
    const earlier = cardData.get(order.id);
    if (earlier !== undefined) {
      void earlier.end.then(() => earlier.version < order.version && start(order, context));
      return;
    }
    const journey = { version: order.version, end: Promise.resolve() };
    cardData.set(order.id, journey);
    journey.end = runner(order, context, journey)
      .catch((error) => onTrouble(order, error))
      .finally(() => cardData.delete(order.id));
  }

  async function runner(begun: Order, context: RunContext, journey: Journey): Promise<void> {
    let order = begun;
    let { startedBefore } = context;
    // The CVV is for the authorisation; once that is answered it is forgotten.
    let held: CardData | undefined = context.cardData;
    while (order.owed !== undefined && isExternal(order.owed.effect)) {
      const { effect } = order.owed;
      const event = await handlers[effect](order, { startedBefore, cardData: held });
      const next = await apply(order, event);
      if (next instanceof Failure) return dependencies.onRefused(order, event, next);
      onStep(next);
      order = next;
      journey.version = next.version;
      startedBefore = false;
      if (effect === "authorize" && !isBeforeNextTry(event)) held = withoutCvv(held);
      if (isUnanswered(event)) return;
    }
  }
}

function withoutCvv(held: CardData | undefined): CardData | undefined {
  return held === undefined ? undefined : { ...held, cvv: undefined };
}
