/**
 * The types of the queries that the portal sends to the database, and of the rows that they return.
 */
import type { ReadGate } from "../administration/gates/gate-settings.ts";
import type { Endpoint, EndpointGroup, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { IndexRow } from "./order-index.ts";

/** The fields of an order's index row that the list of orders shows. */
export type OrderLineRow = Omit<
  IndexRow,
  "at" | "version" | "outcome" | "overheadMs" | "net" | "words" | "people" | "movements"
> & { readonly at: number };

export type OrderListQuery = {
  /** The merchant whose orders are listed. Undefined lists the orders of all merchants. */
  readonly merchantId: MerchantId | undefined;
  /**
   * The index words of the filters, one group for each filter. An order must have at least one word
   * of each group that is not empty.
   */
  readonly words: readonly (readonly string[])[];
  /**
   * The text for which the user searches, as index words and as a text query for a person. An order
   * must have one of the words or match the query.
   */
  readonly search?: { readonly words: readonly string[]; readonly person: string } | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly after: { readonly at: number; readonly orderId: string } | undefined;
  readonly limit: number;
};

/**
 * A part of a filtered list. `rows` are the rows that match the filter. `end` is the key of the
 * last row that was examined, if the search stopped there before the part was full and more rows
 * follow.
 */
export type Window<Row, Key> = { readonly rows: readonly Row[]; readonly end: Key | undefined };
export type OrderWindow = Window<OrderLineRow, NonNullable<OrderListQuery["after"]>>;

/**
 * The maximum number of rows that are examined for one page if no index supports the filter.
 * Examining this many rows takes at most a tenth of a second. The screen shows how far the search
 * went, and the next page continues there.
 */
export const lookedThrough = 10_000;

export const deliveryStates = ["due", "delivered", "stopped", "given_up"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
/**
 * The states by which callbacks can be filtered. A callback is `failing` if it is still due and an
 * earlier attempt was refused or got no answer.
 */
export const filteredStates = [...deliveryStates, "failing"] as const;

/**
 * The maximum number of callbacks that one action sends again. If there are more callbacks, the
 * user repeats the action.
 */
export const resentMax = 10_000;

/**
 * A filter of callbacks. A field that is absent matches every callback. `since` and `until` limit
 * the time at which the transaction got its final status.
 */
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
  /** The time when a user last sent the callback again. */
  readonly resentAt: number | null;
  readonly resentBy: string | null;
  /** The HTTP status of the receiver's answer to the last attempt. Null if there was no answer. */
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

/** The part of the node's configuration in memory that the portal reads. */
export type Configured = {
  readonly merchants: readonly Merchant[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly groups: readonly EndpointGroup[];
  readonly gates: ReadonlyMap<string, PortalGate>;
  readonly screeningRules: readonly PortalRule[];
};

/**
 * Returns the merchant whose data a request may show. For a merchant's user, this is always their
 * own merchant. For an operator, it is the merchant with the given login, undefined (all merchants)
 * if no login is given, and null if the login does not exist.
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

/**
 * The health of this node: the state of its links to acquirers, and the reasons why the node is not
 * ready.
 */
export type PortalHealth = {
  readonly links: readonly {
    readonly gate: string;
    readonly up: number;
    readonly wanted: number;
  }[];
  readonly missing: readonly string[];
};
