/**
 * An order as it was after each of its events, made again from its history: from it follow the
 * merchant's status replies at each moment and the messages that were sent.
 */
import { Failure } from "../values/failure.ts";
import type { Instant } from "../values/time.ts";
import { meetRecorded } from "./advance.ts";
import type { OrderEvent } from "./events.ts";
import type { Order } from "./order.ts";
import { noCard } from "./payment-page.ts";
import { initialOf, newTransaction } from "./transactions.ts";
import { beginningOnPage } from "./transitions.ts";

type Recorded = { readonly event: OrderEvent; readonly at: Instant };

/** Returns undefined when the history is incomplete, or when this version would not write it. */
export function replay(order: Order, recorded: readonly Recorded[]): readonly Order[] | undefined {
  const orders: Order[] = [];
  let now = draftOf(order);
  for (const { event, at } of recorded) {
    const next = meetRecorded(now, event, at);
    if (next instanceof Failure) return undefined;
    orders.push(next);
    now = next;
  }
  const { version, transaction } = order;
  const isWhole = now.version === version && now.transaction.stage === transaction.stage;
  return isWhole ? orders : undefined;
}

function draftOf({ chargebacks: _, page, ...order }: Order): Order {
  const { kind, serialNumber, authentication } = initialOf(order);
  const begun = newTransaction({ kind, serialNumber, amount: order.purchase.amount });
  const none = { version: 0, earlier: [], owed: undefined, deadlineAt: undefined };
  if (page === undefined) {
    // A wallet's proof came with the request.
    const proof = order.purchase.wallet === undefined ? undefined : authentication;
    return { ...order, ...none, transaction: { ...begun, authentication: proof } };
  }
  return {
    ...order,
    ...none,
    card: noCard,
    page: { ...page, refused: [] },
    transaction: { ...begun, stage: beginningOnPage.stage },
  };
}
