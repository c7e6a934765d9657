/**
 * An operation of the merchant interface: its path, its fields with their documentation, its
 * control formula and its handler, in one file of `operations/`. The pipeline, the documents, the
 * client's types and the contract tests are made from it.
 */
import type { AddressChecks } from "../callbacks/addresses.ts";
import type { AcceptOrders, FindRepeats, FollowUps } from "../engine/accept.ts";
import type { Cards } from "../engine/cards.ts";
import type { OrderSearch, ResultWaits } from "../engine/find.ts";
import type { PaymentPages } from "../engine/payment-page.ts";
import type { Guarded } from "../http/server.ts";
import type { Endpoint, EndpointSettings, EntryPoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import type { BrowserAuthentication } from "../threeds/browser-steps.ts";
import type { Failure } from "../values/failure.ts";
import { asOrderId, type EndpointId, type SerialNumber } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { OpenWallets } from "../wallets/open-wallet.ts";
import type { Fields, Values } from "./fields.ts";

/** The functions that operations call. */
export type CalledParts = AddressChecks & {
  readonly orders: Guarded<
    AcceptOrders & FindRepeats & OrderSearch & FollowUps & Pick<ResultWaits, "waitForResult">
  >;
  readonly cards: Guarded<Cards>;
  readonly threeds: BrowserAuthentication;
  readonly paymentPages: Pick<PaymentPages, "termsOf" | "urlOf">;
  readonly wallets: Guarded<OpenWallets>;
  readonly settingsOf: (order: Order) => EndpointSettings;
  /** The interface's date format in the operator's zone. */
  readonly printDate: (instant: Instant) => string;
};

/** Requests are signed by a checksum in v2, and by OAuth in v4. */
export type Version = "v2" | "v4";

export type Operation<Request extends Fields = Fields> = {
  readonly name: string;
  /**
   * After `/{word}/api`; `{id}` is an endpoint id. The paths for groups and in other versions are
   * derived from it.
   */
  readonly path: string;
  /** Both versions by default. */
  readonly versions?: readonly Version[];
  /** Accepts a group id in place of the endpoint id. */
  readonly takesGroupIds?: boolean;
  /** Signed by OAuth in every version, by RSA-SHA256 or HMAC-SHA1. */
  readonly takesHmac?: boolean;
  readonly purpose: string;
  readonly request: Request;
  readonly control: readonly ControlTerm<keyof Request & string>[];
  /** Reads only: it is not recorded by serial number, and has a rate limit of its own. */
  readonly isQuery?: boolean;
  /**
   * Goes on for a disabled endpoint, or for a disabled merchant too; others are refused as if the
   * endpoint did not exist.
   */
  readonly goesOn?: "for_disabled_endpoints" | "for_disabled_merchants";
  /** Has a synchronous variant, which waits for the result and returns the status. */
  readonly sync?: boolean;
  /** Absent where a request begins no order. */
  readonly repeats?: Repeats;
  /** Checks between fields, reported together with the faults of single fields. */
  readonly rules?: (request: Values<Request>, context: Context) => readonly Failure[];
  readonly handle: (request: Values<Request>, context: Context) => Promise<Reply | Failure>;
};

/**
 * How an identical earlier request is found and answered. A request that has begun an order is
 * acknowledged again, also if it would be refused now: a merchant whose first try was not answered
 * must not take a refusal for the result.
 */
export type Repeats = {
  /** Returns the text with which the fingerprint of a request to the endpoint begins. */
  readonly subjectOf: (endpoint: EndpointId) => string;
  readonly answer: (begun: FoundOrder, context: Context) => Reply | Promise<Reply | Failure>;
};

/**
 * A part of the text that the checksum covers; the merchant control key is always the last part and
 * not listed. `{id}` is the number in the path; an absent field counts as empty. `{id?}`, as the
 * first term, is the same number, which some deployed clients leave out.
 */
export type ControlTerm<Field extends string = string> =
  | Field
  | "{id}"
  | "{id?}"
  | { readonly minorUnitsOf: Field }
  /** Amount in minor units and currency; nothing without an amount. */
  | { readonly moneyIfSent: Field };

/** The fields of a request as they were sent, trimmed. */
export type Sent = ReadonlyMap<string, string>;

export type Context = {
  readonly entryPoint: EntryPoint;
  readonly serialNumber: SerialNumber;
  readonly receivedAt: Instant;
  readonly sent: Sent;
  /** The names of the fields that the operation reads. */
  readonly known: readonly string[];
  readonly services: CalledParts;
};

/** Wire names and values in the order of the interface; absent values are left out. */
export type Reply = {
  readonly type: string;
  readonly orderId?: string;
  readonly clientOrderId?: string;
  /** The acknowledged transaction. */
  readonly describes?: FoundOrder;
  readonly fields: readonly (readonly [name: string, value: string | undefined])[];
  /** The texts of a reply that is sent again: its fields as they were written. */
  readonly texts?: { form?: string; json?: string };
};

/** Types the handler by the operation's own fields. */
export function operation<Request extends Fields>(definition: Operation<Request>): Operation {
  // The pipeline reads each value by its own field, so the handler gets the types of its fields.
  return definition as unknown as Operation;
}

export function versionsOf({ versions = ["v2", "v4"] }: Operation): readonly Version[] {
  return versions;
}

export function isSignedByOAuth({ takesHmac = false }: Operation, version: Version): boolean {
  return version === "v4" || takesHmac;
}

export function pathIn(version: Version, { path }: Operation): string {
  // The 3-D Secure uploads have a version of their own in their path.
  return version === "v4" ? path.replace(/^\/(?:v\d|3ds\/v1)\//, "/v4/") : path;
}

/** The endpoint for the currency: the only one, or the one of the group. */
export function endpointFor(entryPoint: EntryPoint, currency: string): Endpoint | undefined {
  return entryPoint.endpoints.find(
    (endpoint) => endpoint.enabled && endpoint.currency === currency,
  );
}

/** Finds the order that a request names. */
export function findOrder(
  clientOrderId: string,
  id: string,
  { entryPoint, services }: Context,
): Promise<FoundOrder | Failure> {
  const query = { clientOrderId, orderId: asOrderId(id), bySerialNumber: undefined };
  return services.orders.find(entryPoint, query);
}

/** A group requires a field as soon as one of its endpoints does. */
export function isWaived(name: string, { endpoints }: EntryPoint): boolean {
  return endpoints.every(({ settings }) => settings.optionalFields?.includes(name) === true);
}
