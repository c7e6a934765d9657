/**
 * A callback: the notification of one transaction's result, its attempts, and the time of the next
 * one.
 */
import type { Order } from "../orders/order.ts";
import { sequencesPerUrl } from "../orders/transactions.ts";
import type { MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import { asInstant, hours, type Instant, parseDate } from "../values/time.ts";

export type Callback = {
  readonly merchantId: MerchantId;
  readonly orderId: OrderId;
  readonly sequence: number;
  readonly serialNumber: SerialNumber;
  readonly url: string;
  /** The normalised host and port of the URL, which the delivery limiter counts. */
  readonly receiver: string;
  /** Failed attempts, except those that failed because of the gateway. */
  readonly tries: number;
  readonly begunAt: Instant;
  /** The end of this node's lease. Another time in the row means that the callback was moved. */
  readonly leaseUntil: Instant;
};

export type CallbackRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The endpoint may use the private networks and names that the operator permits. */
  readonly isPrivate?: boolean;
};

export type DeliveryAttempt = Omit<CallbackRequest, "headers" | "isPrivate"> & {
  readonly at: Instant;
  readonly status: number | undefined;
  readonly failure: string | undefined;
  readonly durationMs: number;
  readonly answer: string;
  readonly retryAfterMs: number | undefined;
  /** The gateway and not the receiver caused the failure. */
  readonly isGatewayFault?: boolean;
};

export type DeliveryDecision =
  | { readonly ended: "delivered" | "stopped" | "given_up" }
  /** An attempt that failed because of the gateway is recorded and does not count. */
  | { readonly dueAt: Instant; readonly isCounted: boolean };

export type AttemptRecord = {
  readonly callback: Callback;
  readonly attempt: DeliveryAttempt;
  readonly decision: DeliveryDecision;
};

type CallbackClaim = {
  readonly now: Instant;
  readonly until: Instant;
  readonly countMax: number;
  readonly except: Saturated;
};

/** Receivers (as `receiverKey`) and merchants that already have enough callbacks on this node. */
export type Saturated = {
  readonly receivers: readonly string[];
  readonly merchants: readonly MerchantId[];
};

export type CallbackStore = {
  claimDue(claim: CallbackClaim): Promise<readonly Callback[]>;
  /** If an earlier callback to the URL is open, returns true, and this one becomes due with it. */
  waitsForEarlier(callback: Callback): Promise<boolean>;
  /**
   * A decision is only applied while this node's lease is in the row, because an operator who
   * resends the callback replaces the lease. The order's next callback becomes due when this one
   * has ended.
   */
  record(record: AttemptRecord): Promise<void>;
  /** The callbacks are due at once for any node, if this node still has their leases. */
  release(callbacks: readonly Callback[], now: Instant): Promise<void>;
  findOrder(callback: Callback): Promise<Order | undefined>;
  /** Deletes some callbacks that ended before a time, with their attempts. Returns their number. */
  deleteEnded(before: Instant): Promise<number>;
};

export type RetryOptions = {
  /** The gaps between attempts. After the last one the callback is given up. */
  readonly gapsMs: readonly number[];
  /** A random number from 0 up to 1: receivers that failed together must not be called together. */
  readonly random: () => number;
};

const retryAfterMaxMs = hours(24);
const jitter = 0.1;
/** The margin for the time in which no node was running. */
const ageMarginMs = hours(24);

/** Whether the callback belongs to the order's first transaction and waits for no other. */
export function isFirst({ sequence }: Pick<Callback, "sequence">): boolean {
  return sequence % sequencesPerUrl === 1;
}

/** The store's statements build the same text. */
export function receiverKey({ merchantId, receiver }: Pick<Callback, "merchantId" | "receiver">) {
  return `${merchantId} ${receiver}`;
}

/** Several times the longest attempt, which is long enough for a queued callback. */
export function callbackLeaseMs(timeoutMs: number): number {
  return 4 * timeoutMs;
}

export function decide(
  { tries, begunAt }: Pick<Callback, "tries" | "begunAt">,
  { status, retryAfterMs = 0 }: Pick<DeliveryAttempt, "status" | "retryAfterMs">,
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
  // `Retry-After` never makes the series of attempts longer: the receiver is called less often.
  const ageMaxMs = gapsMs.reduce((sum, each) => sum + each * (1 + jitter), ageMarginMs);
  return dueAt > begunAt + ageMaxMs ? { ended: "given_up" } : { dueAt, isCounted: true };
}

/** The header has seconds or a date. Returns undefined if it has neither or the date has passed. */
export function readRetryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const isCount = /^\d{1,9}$/.test(header);
  const waitMs = isCount ? Number(header) * 1000 : (parseDate(header) ?? now) - now;
  return waitMs > 0 ? waitMs : undefined;
}
