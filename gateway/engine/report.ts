/**
 * What somebody outside tells of an order: a browser, a merchant, a directory server. It is written
 * before it is answered; what follows from it is done in the background.
 */
import type { Apply } from "../orders/apply.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import type { OrderRunner } from "./run.ts";

export type Report = (order: Order, event: OrderEvent) => Promise<Order | Failure>;

type Dependencies = {
  readonly apply: Apply;
  readonly runner: OrderRunner;
  readonly onStep: (order: Order) => void;
};

export function makeReport({ apply, runner, onStep }: Dependencies): Report {
  return async (order, event) => {
    const next = await apply(order, event);
    if (next instanceof Failure || event.kind === "noted") return next;
    onStep(next);
    runner.start(next, { startedBefore: false, cardData: undefined });
    return next;
  };
}
