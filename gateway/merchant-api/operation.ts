/**
 * What an operation of the merchant interface is: one file says its path, its fields with their
 * documentation, its control formula and what it does. The pipeline, the documents, the client's
 * types and the contract tests all read this.
 */

import type { Endpoint, EntryPoint } from "../orders/merchant.ts";
import type { FoundOrder } from "../orders/requests.ts";
import type { Failure } from "../values/failure.ts";
import type { SerialNumber } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { Services } from "../wiring/services.ts";
import type { Fields, Values } from "./fields.ts";

/** Requests are signed by a checksum in v2, and by OAuth in v4. */
export type Version = "v2" | "v4";

export type Operation = {
  readonly name: string;
  /**
   * After `/{word}/api`; `{id}` is an endpoint id. The group form follows from it, and so do the
   * paths in the other versions.
   */
  readonly path: string;
  /** Where it exists; in both when it does not say. */
  readonly versions?: readonly Version[];
  /** A group's id is taken in the endpoint's place as well. */
  readonly takesGroupIds?: boolean;
  readonly purpose: string;
  readonly request: Fields;
  readonly control: readonly ControlTerm[];
  /** Kept by serial number with what it was answered; questions are not. */
  readonly kept: boolean;
  /** Has a synchronous twin, which waits for the result and answers with the status. */
  readonly sync: boolean;
  /** What is wrong between fields; found together with the faults of single ones. */
  readonly rules: (request: Values<Fields>, context: Context) => readonly Failure[];
  readonly handle: (request: Values<Fields>, context: Context) => Promise<Reply | Failure>;
};

/**
 * What is put into the checksum, in order; the merchant control key is always the last and not
 * written. `{id}` is the number in the path; a field that was not sent counts as empty. `{id?}`,
 * as the first term, is the same number, which some deployed clients leave out.
 */
export type ControlTerm =
  | string
  | { readonly minorUnitsOf: string }
  /** Amount in minor units and currency; nothing when no amount is sent. */
  | { readonly moneyIfSent: string };

export type Context = {
  readonly entryPoint: EntryPoint;
  readonly serialNumber: SerialNumber;
  readonly receivedAt: Instant;
  /** The request as it was sent, trimmed, and the names of the fields that count in it. */
  readonly sent: ReadonlyMap<string, string>;
  readonly known: readonly string[];
  readonly services: Services;
};

/** Wire names and values in the order of the interface; absent values are left out. */
export type Reply = {
  readonly type: string;
  readonly orderId?: string;
  readonly clientOrderId?: string;
  /** The transaction that it acknowledges. */
  readonly describes?: FoundOrder;
  /** The request is written already, together with the order that it began. */
  readonly stored?: boolean;
  readonly fields: readonly (readonly [name: string, value: string | undefined])[];
};

/** Gives the handler the types of its own fields. */
export function operation<Request extends Fields>(definition: {
  readonly name: string;
  readonly path: string;
  readonly versions?: readonly Version[];
  readonly takesGroupIds?: boolean;
  readonly purpose: string;
  readonly request: Request;
  readonly control: readonly (ControlTerm & (keyof Request | "{id}" | "{id?}" | object))[];
  readonly kept: boolean;
  readonly sync: boolean;
  readonly rules: (request: Values<Request>, context: Context) => readonly Failure[];
  readonly handle: (request: Values<Request>, context: Context) => Promise<Reply | Failure>;
}): Operation {
  // The pipeline reads each value by its own field, so the handler gets just what it asked for.
  return definition as unknown as Operation;
}

export function versionsOf({ versions = ["v2", "v4"] }: Operation): readonly Version[] {
  return versions;
}

/** The path of the operation in one of its versions. */
export function pathIn(version: Version, { path }: Operation): string {
  // The uploads of 3-D Secure have a version of their own in their path.
  return version === "v4" ? path.replace(/^\/(?:v\d|3ds\/v1)\//, "/v4/") : path;
}

/** The endpoint that takes this currency: the only one, or the group's one for it. */
export function endpointFor(entryPoint: EntryPoint, currency: string): Endpoint | undefined {
  return entryPoint.endpoints.find((endpoint) => endpoint.currency === currency);
}
