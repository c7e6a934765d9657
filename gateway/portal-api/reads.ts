/** The types of the portal's database queries, and of the rows that they return. */
import type { ReadGate } from "../administration/gates/gate-settings.ts";
import type { Endpoint, EndpointGroup, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { IndexRow } from "./order-index.ts";

export type OrderLineRow = Omit<
  IndexRow,
  "at" | "version" | "outcome" | "overheadMs" | "net" | "words" | "people" | "movements"
> & { readonly at: number };

export type OrderListQuery = {
  /** If undefined, the orders of all merchants are listed. */
  readonly merchantId: MerchantId | undefined;
  /** An order must have at least one index word of each filter that is not empty. */
  readonly words: readonly (readonly string[])[];
  /** An order must have one of these index words, or its person must match the text query. */
  readonly search?: { readonly words: readonly string[]; readonly person: string } | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly after: { readonly at: number; readonly orderId: string } | undefined;
  readonly limit: number;
};

/** `end` is the last examined row's key, if the search stopped before the page was full. */
export type Window<Row, Key> = { readonly rows: readonly Row[]; readonly end: Key | undefined };
export type OrderWindow = Window<OrderLineRow, NonNullable<OrderListQuery["after"]>>;

/**
 * The highest number of rows that are examined for a page if no index supports the filter, which
 * takes at most a tenth of a second. The next page continues after the last examined row.
 */
export const lookedThrough = 10_000;

export const deliveryStates = ["due", "delivered", "stopped", "given_up"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
/** A callback is `failing` if it is due and an earlier attempt was refused or not answered. */
export const filteredStates = [...deliveryStates, "failing"] as const;

/** The most callbacks that one action sends again. To send others, the user repeats the action. */
export const resentMax = 10_000;

/** An absent field matches all. `since` and `until` limit when a transaction became final. */
export type DeliveryFilter = {
  readonly merchantId?: MerchantId | undefined;
  readonly orderId?: string | undefined;
  readonly sequence?: number | undefined;
  readonly state?: (typeof filteredStates)[number] | undefined;
  readonly endpointId?: string | undefined;
  /** The host to which the callback is sent, with or without the port. */
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
  /** When a user last sent the callback again. */
  readonly resentAt: number | null;
  readonly resentBy: string | null;
  /** Null if the receiver did not answer the last attempt. */
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
  /** Whether at least one attempt to send these callbacks has failed. */
  readonly failed: boolean;
  readonly count: number;
};

export type FigureRange = {
  readonly merchantId: MerchantId | undefined;
  readonly grain: "minute" | "hour" | "day";
  readonly since: Instant;
  readonly until?: Instant;
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

export type Configured = {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<string, PortalGate>;
  readonly screeningRules: readonly PortalRule[];
};

/**
 * Returns the merchant whose data a request may show. A merchant's user always gets their own. An
 * operator gets the merchant with the requested login, or null if there is no such merchant. An
 * operator who requests no login gets undefined, which means all merchants.
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

/** A gate's links of this node, and its health as all nodes see it. */
export type GateHealthView = {
  readonly up: number;
  readonly wanted: number;
  readonly health: "healthy" | "weakened" | "unhealthy" | "off";
  /** Why the health has changed last. */
  readonly why: string;
  /** The charges in the latest window. */
  readonly sent: number;
  readonly failed: number;
  readonly approvalRate?: number | undefined;
  readonly usualRate?: number | undefined;
  readonly answerMs?: number | undefined;
};

export type PortalHealth = {
  readonly links: readonly (GateHealthView & { readonly gate: string })[];
  readonly missing: readonly string[];
};
