/** What the portal asks of the system of record, and the rows that it reads. */
import type { ReadGate } from "../administration/gates/gate-settings.ts";
import type { Endpoint, EndpointGroup, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { IndexRow } from "./order-index.ts";

/** What a list shows of an order's row. */
export type OrderLineRow = Omit<
  IndexRow,
  "at" | "version" | "outcome" | "overheadMs" | "net" | "words" | "people"
> & { readonly at: number };

export type OrderListQuery = {
  /** Absent: of all merchants. */
  readonly merchantId: MerchantId | undefined;
  /** One of each group. */
  readonly words: readonly (readonly string[])[];
  /** One of the words, or the person that the query names. */
  readonly search?: { readonly words: readonly string[]; readonly person: string } | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly after: { readonly at: number; readonly orderId: string } | undefined;
  readonly limit: number;
};

/** A window of a list, filtered: `end` is the last row that was looked at, if there are more. */
export type Window<Row, Key> = { readonly rows: readonly Row[]; readonly end: Key | undefined };
export type OrderWindow = Window<OrderLineRow, NonNullable<OrderListQuery["after"]>>;

/**
 * Rows that a page of a filtered list looks through where no index has its filter: at most a tenth
 * of a second. The screen says how far it was, and the next page goes on there.
 */
export const lookedThrough = 10_000;

export const deliveryStates = ["due", "delivered", "stopped", "given_up"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
/** Failing: due, and refused or unanswered before. */
export const filteredStates = [...deliveryStates, "failing"] as const;

/** Callbacks that one action of the portal sends again; the user may perform it again. */
export const resentMax = 10_000;

/** What is absent lets everything pass. Times are those of the final status. */
export type DeliveryFilter = {
  readonly merchantId?: MerchantId | undefined;
  readonly orderId?: string | undefined;
  readonly sequence?: number | undefined;
  readonly state?: (typeof filteredStates)[number] | undefined;
  readonly endpointId?: string | undefined;
  /** Of the receiver, with its port or without. */
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
  /** When a user last had it sent again. */
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
  /** An attempt has failed. */
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

/** The configuration in memory. */
export type Configured = {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<string, PortalGate>;
  readonly screeningRules: readonly PortalRule[];
};

/** Null for a login that is none: an unknown merchant has no orders. A user has one merchant. */
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

/** Of this node: links to acquirers, and what keeps it from being ready. */
export type PortalHealth = {
  readonly links: readonly {
    readonly gate: string;
    readonly up: number;
    readonly wanted: number;
  }[];
  readonly missing: readonly string[];
};
