/**
 * An operation of the merchant interface: path, fields with their documentation, control formula
 * and handler, in one file of `operations/`. The pipeline, the documents, the client's types and
 * the contract tests are made from it.
 */
import type { AddressChecks } from "../callbacks/addresses.ts";
import type { AcceptOrders, FindRepeats, FollowUps } from "../engine/accept.ts";
import type { Cards } from "../engine/cards.ts";
import type { OrderSearch, ResultWaits } from "../engine/find.ts";
import type { HostedFields } from "../engine/hosted-fields.ts";
import type { PaymentPages } from "../engine/payment-page.ts";
import type { Profiles } from "../engine/profiles.ts";
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

export type CalledParts = AddressChecks & {
  readonly orders: Guarded<
    AcceptOrders & FindRepeats & OrderSearch & FollowUps & Pick<ResultWaits, "waitForResult">
  >;
  readonly cards: Guarded<Cards>;
  readonly profiles: Guarded<Profiles>;
  readonly threeds: BrowserAuthentication;
  readonly paymentPages: Pick<PaymentPages, "termsOf" | "urlOf">;
  readonly wallets: Guarded<OpenWallets>;
  readonly hostedFields: Guarded<Pick<HostedFields, "issueTicket" | "open">>;
  readonly settingsOf: (order: Order) => EndpointSettings;
  readonly printDate: (instant: Instant) => string;
  /** The product word in the names of fields. */
  readonly fieldWord: string;
};

/** Requests of v2 are signed by a checksum, and those of v4 by OAuth. */
export type Version = "v2" | "v4";

export type Operation<Request extends Fields = Fields> = {
  readonly name: string;
  /** After `/{word}/api`; `{id}` is an endpoint's id. Paths for groups and versions are derived. */
  readonly path: string;
  readonly versions?: readonly Version[];
  /** A group's id is accepted in place of the endpoint's. */
  readonly takesGroupIds?: boolean;
  readonly isForEndpoints?: boolean;
  /** Requests are signed by OAuth in every version, in v2 also by HMAC-SHA1. */
  readonly takesHmac?: boolean;
  readonly purpose: string;
  readonly request: Request;
  readonly rewrite?: (sent: Sent) => Sent | Failure;
  readonly control: readonly ControlTerm<keyof Request & string>[];
  /** A query changes nothing: it is not recorded by serial number, and has its own rate limit. */
  readonly isQuery?: boolean;
  /** If absent, a disabled endpoint or merchant is treated as an unknown endpoint. */
  readonly goesOn?: "for_disabled_endpoints" | "for_disabled_merchants";
  /** There is a synchronous variant, which waits for the result and returns the status. */
  readonly sync?: boolean;
  readonly repeats?: Repeats;
  /** Checks fields together. Its faults are reported with those of single fields. */
  readonly rules?: (request: Values<Request>, context: Context) => readonly Failure[];
  readonly handle: (request: Values<Request>, context: Context) => Promise<Reply | Failure>;
};

/**
 * Answers a repeat. A request that has begun an order is acknowledged again, even if it would be
 * refused now: a merchant whose first request got no answer could take the refusal for the result.
 */
export type Repeats = {
  /** The text with which the fingerprint of a request to the endpoint begins. */
  readonly subjectOf: (endpoint: EndpointId) => string;
  readonly answer: (begun: FoundOrder, context: Context) => Reply | Promise<Reply | Failure>;
};

/**
 * A part of the text that the checksum covers, which ends with the merchant control key. `{id}` is
 * the id in the path; as the first part it may be `{id?}`, which some clients leave out. An absent
 * field counts as empty.
 */
export type ControlTerm<Field extends string = string> =
  | Field
  | "{id}"
  | "{id?}"
  | { readonly minorUnitsOf: Field }
  /** The amount in minor units and the currency; empty without an amount. */
  | { readonly moneyIfSent: Field };

/** A request's fields, trimmed and otherwise as they were sent. */
export type Sent = ReadonlyMap<string, string>;

export type Context = {
  readonly entryPoint: EntryPoint;
  readonly serialNumber: SerialNumber;
  readonly receivedAt: Instant;
  readonly sent: Sent;
  readonly known: readonly string[];
  readonly services: CalledParts;
  /** When an entry of a payload stops waiting for a result. Absent for a request of its own. */
  readonly waitUntil?: Instant;
};

/** Fields are in the order of the interface. Absent values are left out. */
export type Reply = {
  readonly type: string;
  readonly orderId?: string;
  readonly clientOrderId?: string;
  readonly describes?: FoundOrder;
  readonly fields: readonly (readonly [name: string, value: string | undefined])[];
  /** The fields of a reply that is sent again, as they were written. */
  readonly texts?: { form?: string; json?: string };
};

/** The handler's types come from the operation's own fields. */
export function operation<Request extends Fields>(definition: Operation<Request>): Operation {
  // The pipeline reads each value with its own field, so the types hold.
  return definition as unknown as Operation;
}

export function versionsOf({ versions = ["v2", "v4"] }: Operation): readonly Version[] {
  return versions;
}

export function isSignedByOAuth({ takesHmac = false }: Operation, version: Version): boolean {
  return version === "v4" || takesHmac;
}

export function acceptsHmac({ takesHmac = false }: Operation, version: Version): boolean {
  return takesHmac && version === "v2";
}

export function placesOf({ isForEndpoints = false }: Operation): readonly ("endpoint" | "group")[] {
  return isForEndpoints ? ["endpoint"] : ["endpoint", "group"];
}

export function pathIn(version: Version, { path }: Operation): string {
  // The paths of 3-D Secure uploads contain a version of their own.
  return version === "v4" ? path.replace(/^\/(?:v\d|3ds\/v1)\//, "/v4/") : path;
}

/** Returns the only endpoint, or the group's endpoint for the currency. */
export function endpointFor(entryPoint: EntryPoint, currency: string): Endpoint | undefined {
  return entryPoint.endpoints.find(
    (endpoint) => endpoint.enabled && endpoint.currency === currency,
  );
}

export function findOrder(
  clientOrderId: string,
  id: string,
  { entryPoint, services }: Context,
): Promise<FoundOrder | Failure> {
  const query = { clientOrderId, orderId: asOrderId(id), bySerialNumber: undefined };
  return services.orders.find(entryPoint, query);
}

/** A group requires a field if one of its endpoints does. */
export function isWaived(name: string, { endpoints }: EntryPoint): boolean {
  return endpoints.every(({ settings }) => settings.optionalFields?.includes(name) === true);
}
