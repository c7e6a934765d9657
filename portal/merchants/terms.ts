/** A merchant's settings, endpoints and keys as their screens and forms show them. */
import { printPlaces } from "../actions/values.ts";
import type { OutputOf } from "../shell/call.ts";

export type MerchantDetail = OutputOf<"GET /merchants/:login">;
/** Of a tab of a merchant. */
export type PartProps = { readonly detail: MerchantDetail };
type Endpoint = MerchantDetail["endpoints"][number];
type Member = Pick<Endpoint, "id" | "name" | "currency">;

/** The gates of an endpoint as its form takes them, one in each line. */
export function placesOf({ gates }: Pick<Endpoint, "gates">): string {
  const texts = gates.map(({ name, rank, weight }) => ({
    name,
    rank: String(rank),
    weight: String(weight),
  }));
  return printPlaces(texts);
}

/** The endpoints of a group, which chooses among them by currency. */
export function membersOf(endpoints: readonly Member[]): string {
  return endpoints.map(({ name, currency }) => `${name} (${currency})`).join(", ");
}

/** A group as the form that changes it begins. */
export function termsOf(enabled: boolean, endpoints: readonly Member[]) {
  return {
    enable: String(enabled),
    endpoints: endpoints.map(({ id }) => id).join(","),
  };
}

/** An old key has to be dropped before there is another one. */
const keyActions = [
  ["merchant control-key renew", false],
  ["merchant control-key set", false],
  ["merchant control-key drop", true],
] as const;

/** All of them, so that the window of one that is no longer offered can stay open. */
export function keyActionsFor({ oldLastUsed }: Pick<MerchantDetail["controlKey"], "oldLastUsed">) {
  return keyActions.map(([action, needsOld]) => ({
    action,
    isOffered: needsOld === (oldLastUsed !== undefined),
  }));
}
