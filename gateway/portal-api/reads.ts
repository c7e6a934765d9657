/** The queries that the portal needs from the system of record, and the rows that they return. */
import type { ReadGate } from "../administration/gates/gate-settings.ts";
import type { Endpoint, EndpointGroup, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { IndexRow } from "./order-index.ts";

/** The part of an order's row that a list shows. */
export type OrderLineRow = Omit<
  IndexRow,
  "at" | "version" | "outcome" | "overheadMs" | "net" | "words" | "people"
> & { readonly at: number };

export type OrderListQuery = {
  /** The merchant of the orders; undefined for the orders of all merchants. */
  readonly merchantId: MerchantId | undefined;
  /** An order must have one word of each group. */
  readonly words: readonly (readonly string[])[];
  /** An order must have one of these words, or match the query for a person. */
  readonly search?: { readonly words: readonly string[]; readonly person: string } | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly after: { readonly at: number; readonly orderId: string } | undefined;
  readonly limit: number;
};

/** A window of a filtered list. `end` is the last row that was examined, if there are more. */
export type Window<Row, Key> = { readonly rows: readonly Row[]; readonly end: Key | undefined };
export type OrderWindow = Window<OrderLineRow, NonNullable<OrderListQuery["after"]>>;

/**
 * How many rows a page examines if no index has its filter, which takes at most a tenth of a
 * second. The screen shows how far the search went, and the next page continues there.
 */
export const lookedThrough = 10_000;

export const deliveryStates = ["due", "delivered", "stopped", "given_up"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
/** Callbacks are failing if they are due and an earlier attempt was refused or got no answer. */
export const filteredStates = [...deliveryStates, "failing"] as const;

/** How many callbacks one action sends again. The user may repeat the action. */
export const resentMax = 10_000;

/**
 * A filter of callbacks. Absent fields match everything, and times are those of the final status.
 */
export type DeliveryFilter = {
  readonly merchantId?: MerchantId | undefined;
  readonly orderId?: string | undefined;
  readonly sequence?: number | undefined;
  readonly state?: (typeof filteredStates)[number] | undefined;
  readonly endpointId?: string | undefined;
  /** The host of the receiver, with or without its port. */
  readonly host?: string | undefined;
  readonly since?: Instant | undefined;
  readonly until?: Instant | undefined;
};

export type DeliveryKey = {
  readonly at: number;
  readonly orderId: string;
  readonly sequence: number;
};
export type CallbackQuery = DeliveryFilter & {
  readonly after: DeliveryKey | undefined;
  readonly limit: number;
};
export type CallbackWindow = Window<StoredCallback, DeliveryKey>;

export type Point = { readonly at: number };

export type HistoryEntry = {
  readonly version: number;
  readonly at: string;
  readonly node: string;
  readonly kind: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

export type StoredCallback = {
  readonly merchantId: string;
  readonly orderId: string;
  readonly sequence: number;
  readonly url: string;
  readonly state: DeliveryState;
  readonly tries: number;
  readonly madeAt: number;
  readonly nextAt: number | null;
  readonly endedAt: number | null;
  /** The time when a user last sent the callback again. */
  readonly resentAt: number | null;
  readonly resentBy: string | null;
  /** The result of the last attempt. */
  readonly lastStatus: number | null;
  readonly lastFailure: string | null;
};

export type StoredAttempt = {
  readonly sequence: number;
  readonly at: Instant;
  readonly node: string;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly status: number | null;
  readonly failure: string | null;
  readonly ms: number;
  readonly answer: string;
};

export type ResentCount = {
  readonly state: DeliveryState;
  /** Whether an attempt has failed. */
  readonly failed: boolean;
  readonly count: number;
};

export type FigureRange = {
  readonly merchantId: MerchantId | undefined;
  readonly grain: "minute" | "hour" | "day";
  readonly since: Instant;
};

export type PortalGate = ReadGate & {
  readonly id: string;
  readonly name: string;
  readonly zoneKey?: object | undefined;
};

export type PortalRule = {
  readonly id: string;
  readonly kind: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly action: string;
  readonly enabled: boolean;
  readonly merchantId: MerchantId | undefined;
  readonly endpointId: string | undefined;
};

/** The part of the configuration in memory that the portal needs. */
export type Configured = {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<string, PortalGate>;
  readonly screeningRules: readonly PortalRule[];
};

/**
 * Returns null for a login that does not exist, so that an unknown merchant has no orders. A
 * merchant's user always gets their own merchant.
 */
export function merchantFor(
  { merchantId }: { readonly merchantId: MerchantId | undefined },
  { merchants }: Configured,
  login: string | undefined,
): MerchantId | undefined | null {
  if (merchantId !== undefined || login === undefined) return merchantId;
  return merchants.find((each) => each.login === login)?.id ?? null;
}

export function loginOf({ merchants }: Configured, merchantId: string): string {
  return merchants.find(({ id }) => id === merchantId)?.login ?? "";
}

/** The health of this node: its links to acquirers, and the reasons why it is not ready. */
export type PortalHealth = {
  readonly links: readonly {
    readonly gate: string;
    readonly up: number;
    readonly wanted: number;
  }[];
  readonly missing: readonly string[];
};
