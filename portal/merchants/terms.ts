/** Formats a merchant's settings, endpoints and keys for their screens and forms. */
import { printGates } from "../actions/values.ts";
import type { OutputOf } from "../shell/call.ts";

export type MerchantDetail = OutputOf<"GET /merchants/:login">;
/** Properties of a tab of the merchant's page. */
export type PartProps = { readonly detail: MerchantDetail };
type Endpoint = MerchantDetail["endpoints"][number];
type Member = Pick<Endpoint, "id" | "name" | "currency">;

/** Returns the gates of an endpoint as the text of their form field, one gate in each line. */
export function gatesTextOf({ gates }: Pick<Endpoint, "gates">): string {
  const texts = gates.map(({ name, rank, weight }) => ({
    name,
    rank: String(rank),
    weight: String(weight),
  }));
  return printGates(texts);
}

/** Formats the endpoints of a group, which chooses one of them by currency. */
export function membersOf(endpoints: readonly Member[]): string {
  return endpoints.map(({ name, currency }) => `${name} (${currency})`).join(", ");
}

/** Returns the current settings of a group, with which its form starts. */
export function termsOf(enabled: boolean, endpoints: readonly Member[]) {
  return {
    enable: String(enabled),
    endpoints: endpoints.map(({ id }) => id).join(","),
  };
}

/**
 * Actions on the control key. The value says whether the action requires an old key, which must be
 * dropped before the key is changed again.
 */
const keyActions = [
  ["merchant control-key renew", false],
  ["merchant control-key set", false],
  ["merchant control-key drop", true],
] as const;

/** Returns all actions, so that a dialog stays open after its action is no longer offered. */
export function keyActionsFor({ oldLastUsed }: Pick<MerchantDetail["controlKey"], "oldLastUsed">) {
  return keyActions.map(([action, needsOld]) => ({
    action,
    isOffered: needsOld === (oldLastUsed !== undefined),
  }));
}
