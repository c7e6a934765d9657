/** A callback: the notice of one transaction's result, its attempts, and when the next is due. */
import type { Order } from "../orders/order.ts";
import { sequencesPerUrl } from "../orders/transactions.ts";
import type { MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import { asInstant, hours, type Instant, parseDate } from "../values/time.ts";

export type Callback = {
  readonly merchantId: MerchantId;
  readonly orderId: OrderId;
  /** A URL gets an order's callbacks in this sequence, which the step that owes them says. */
  readonly sequence: number;
  readonly serialNumber: SerialNumber;
  readonly url: string;
  /** Host and port of the URL, normalised: the delivery limiter counts by it. */
  readonly receiver: string;
  /** Failed attempts that count. */
  readonly tries: number;
  /** When the first attempt could be made. */
  readonly begunAt: Instant;
  /** This node's lease; a row with another time was moved by another node or by the operator. */
  readonly leaseUntil: Instant;
};

export type CallbackRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A form or JSON, or empty when the URL carries all fields. */
  readonly body: string;
  /** The endpoint may use the private networks and names that the operator has opened. */
  readonly isPrivate?: boolean;
};

export type DeliveryAttempt = Omit<CallbackRequest, "headers" | "isPrivate"> & {
  readonly at: Instant;
  /** Undefined when no response came. */
  readonly status: number | undefined;
  readonly failure: string | undefined;
  readonly durationMs: number;
  /** The first bytes of the response's body. */
  readonly answer: string;
  readonly retryAfterMs: number | undefined;
  /** The receiver did not cause the failure. */
  readonly isGatewayFault?: boolean;
};

export type DeliveryDecision =
  | { readonly ended: "delivered" | "stopped" | "given_up" }
  /** An attempt that the gateway made fail is recorded and does not count. */
  | { readonly dueAt: Instant; readonly isCounted: boolean };

export type AttemptRecord = {
  readonly callback: Callback;
  readonly attempt: DeliveryAttempt;
  readonly decision: DeliveryDecision;
};

type CallbackClaim = {
  readonly now: Instant;
  /** The lease of the claiming node. */
  readonly until: Instant;
  readonly countMax: number;
  readonly except: Saturated;
};

/** Receivers (as `receiverKey`) and merchants with enough callbacks on this node. */
export type Saturated = {
  readonly receivers: readonly string[];
  readonly merchants: readonly MerchantId[];
};

export type CallbackStore = {
  claimDue(claim: CallbackClaim): Promise<readonly Callback[]>;
  /** True when an earlier callback to the URL is open: this one is then due with that one. */
  waitsForEarlier(callback: Callback): Promise<boolean>;
  /**
   * Every attempt is kept. The decision applies only while this node's lease is in the row: an
   * operator who resends the callback replaces it. The order's next callback becomes due when
   * this one has ended.
   */
  record(record: AttemptRecord): Promise<void>;
  /** Makes callbacks due at once for any node, as far as this node still holds their leases. */
  release(callbacks: readonly Callback[], now: Instant): Promise<void>;
  findOrder(callback: Callback): Promise<Order | undefined>;
  /** Deletes some callbacks that ended before, with their attempts; answers how many. */
  deleteEnded(before: Instant): Promise<number>;
};

export type RetryOptions = {
  /** Between attempts; after the last gap the callback is given up. */
  readonly gapsMs: readonly number[];
  /**
   * Returns a random number from 0 up to 1, so that receivers that failed together are not called
   * again together.
   */
  readonly random: () => number;
};

const retryAfterMaxMs = hours(24);
const jitter = 0.1;
/** Allows for the time in which no node was running. */
const ageMarginMs = hours(24);

/** Whether the callback is of the order's first transaction, and waits for no other. */
export function isFirst({ sequence }: Pick<Callback, "sequence">): boolean {
  return sequence % sequencesPerUrl === 1;
}

/** A merchant's receiver. The store's statements build the same text. */
export function receiverKey({ merchantId, receiver }: Pick<Callback, "merchantId" | "receiver">) {
  return `${merchantId} ${receiver}`;
}

/** Long enough for a queued callback, several times what a hanging attempt can take. */
export function callbackLeaseMs(timeoutMs: number): number {
  return 4 * timeoutMs;
}

export function decide(
  { tries, begunAt }: Callback,
  { status, retryAfterMs = 0 }: DeliveryAttempt,
  now: Instant,
  { gapsMs, random }: RetryOptions,
): DeliveryDecision {
  if (status !== undefined && status >= 200 && status < 300) return { ended: "delivered" };
  if (status === 410) return { ended: "stopped" };
  const gapMs = gapsMs[tries];
  if (gapMs === undefined) return { ended: "given_up" };
  const jittered = gapMs * (1 - jitter + 2 * jitter * random());
  const requested = Math.min(retryAfterMs, retryAfterMaxMs);
  const dueAt = asInstant(now + Math.max(jittered, requested));
  // `Retry-After` does not extend the table: a receiver that always sends it is called less often.
  const ageMaxMs = gapsMs.reduce((sum, each) => sum + each * (1 + jitter), ageMarginMs);
  return dueAt > begunAt + ageMaxMs ? { ended: "given_up" } : { dueAt, isCounted: true };
}

/** Seconds or a date, as milliseconds from now; nothing when it is neither or has passed. */
export function readRetryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const isCount = /^\d{1,9}$/.test(header);
  const waitMs = isCount ? Number(header) * 1000 : (parseDate(header) ?? now) - now;
  return waitMs > 0 ? waitMs : undefined;
}
