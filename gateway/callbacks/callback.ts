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
  /** How often it was sent in vain. */
  readonly tries: number;
};

export type Attempt = {
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
};

/** What becomes of it after a try. */
export type Verdict =
  | { readonly ended: "delivered" | "stopped" | "given_up" }
  | { readonly dueAt: Instant };

export type Recorded = {
  readonly callback: Callback;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
};

export type Claim = {
  readonly now: Instant;
  /** Nobody else takes them up until then. */
  readonly until: Instant;
  readonly most: number;
  /** Places of receivers that have enough to do here. */
  readonly except: readonly string[];
};

export type CallbackStore = {
  /** Takes up what is due. */
  claimDue(claim: Claim): Promise<readonly Callback[]>;
  /** An earlier one of the order is still to be told: this one is put off until then. */
  waitsForEarlier(callback: Callback): Promise<boolean>;
  /** The next of the order is due as soon as this one is over. */
  record(recorded: Recorded): Promise<void>;
  findOrder(callback: Callback): Promise<Order | undefined>;
};

/** A merchant's receiver: host and port. The store says the same in its own words. */
export function placeOf({ merchantId, url }: Pick<Callback, "merchantId" | "url">): string {
  const [, host = ""] = /^https?:\/\/([^/?#]*)/.exec(url) ?? [];
  return `${merchantId} ${host}`;
}
