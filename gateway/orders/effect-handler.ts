/**
 * A doer performs one effect for one order and reports what happened, as an event. It never throws
 * for anything the network can do, and doing it twice must end in the same order.
 */
import type { CardNumber } from "../values/card-number.ts";
import type { Secret } from "../values/secret.ts";
import type { ExternalEffect } from "./effects.ts";
import type { OrderEvent } from "./events.ts";
import type { Order } from "./order.ts";

export type EffectHandler = (order: Order, context: RunContext) => Promise<OrderEvent>;
export type EffectHandlers = Readonly<Record<ExternalEffect, EffectHandler>>;

export type RunContext = {
  /** Taken over from a node that went silent: whatever it began may have happened. */
  readonly startedBefore: boolean;
  readonly cardData: CardData | undefined;
};

/** The card and its secrets, while the node that accepted the order still has them in memory. */
export type CardData = {
  readonly number: CardNumber;
  /** Two digits each, as banks want them. */
  readonly expiryYear: string;
  readonly expiryMonth: string;
  readonly cvv: Secret<string> | undefined;
  /** A wallet's proof of the cardholder, in base64: never written, because it is payment data. */
  readonly cryptogram?: Secret<string>;
};
