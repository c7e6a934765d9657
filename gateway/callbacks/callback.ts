/** A callback: what a merchant is owed to be told of one transaction, and how that went. */
import type { Order } from "../orders/order.ts";
import type { MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";

export type Callback = {
  readonly merchantId: MerchantId;
  readonly orderId: OrderId;
  /** The transaction's place in its order: one order's are told one after the other. */
  readonly sequence: number;
  readonly serialNumber: SerialNumber;
  readonly url: string;
  /** Host and port, however the address is spelled: whose places it takes. */
  readonly receiver: string;
  /** How often it was sent in vain. */
  readonly tries: number;
  /** Since when its tries count. */
  readonly begunAt: Instant;
  /** Until then it is this node's; a row that says otherwise has been moved by somebody else. */
  readonly leaseUntil: Instant;
};

export type DeliveryAttempt = {
  readonly at: Instant;
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Of a form; empty when all stands in the address. */
  readonly body: string;
  /** Nothing when no answer came. */
  readonly status: number | undefined;
  readonly failure: string | undefined;
  readonly durationMs: number;
  /** The first bytes of the answer. */
  readonly answer: string;
  /** As the receiver wishes, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The receiver has nothing to do with its failure. */
  readonly isOurFault?: boolean;
};

/** What becomes of it after a try. */
export type DeliveryDecision =
  | { readonly ended: "delivered" | "stopped" | "given_up" }
  /** A try that failed by our own fault is kept, and does not count. */
  | { readonly dueAt: Instant; readonly isCounted: boolean };

export type Recorded = {
  readonly callback: Callback;
  readonly attempt: DeliveryAttempt;
  readonly verdict: DeliveryDecision;
};

export type CallbackClaim = {
  readonly now: Instant;
  /** Nobody else takes them up until then. */
  readonly until: Instant;
  readonly most: number;
  /** Who has enough to do here: places of receivers, and merchants. */
  readonly except: Full;
};

export type Full = {
  readonly receivers: readonly string[];
  readonly merchants: readonly MerchantId[];
};

export type CallbackStore = {
  /** Takes up what is due. */
  claimDue(claim: CallbackClaim): Promise<readonly Callback[]>;
  /** An earlier one of the order is still to be told: this one is put off until then. */
  waitsForEarlier(callback: Callback): Promise<boolean>;
  /**
   * Every try is kept. What it means for the callback counts only if nobody has moved that since,
   * as an operator does who has it sent again; the next of the order is due as soon as it is over.
   */
  record(recorded: Recorded): Promise<void>;
  /** Due at once for whoever looks, those that are still this node's. */
  giveBack(callbacks: readonly Callback[], now: Instant): Promise<void>;
  findOrder(callback: Callback): Promise<Order | undefined>;
};

/** A merchant's receiver. The store says the same in its own words. */
export function placeOf({ merchantId, receiver }: Pick<Callback, "merchantId" | "receiver">) {
  return `${merchantId} ${receiver}`;
}
