/** Formats a merchant's settings, endpoints and keys for their screens and forms. */
import { printGates } from "../actions/values.ts";
import type { OutputOf } from "../shell/call.ts";

export type MerchantDetail = OutputOf<"GET /merchants/:login">;
/** The properties that each tab of a merchant's page gets. */
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

/** Returns the conditions of a routing rule, as its row in a list has them. */
export function conditionsOf(row: Readonly<Record<string, string>>): readonly string[] {
  const conditions = Object.entries(row).filter(([name]) => name !== "rule" && name !== "to");
  return conditions.map(([name, value]) => `${name}=${value}`);
}

/** For each payment, a group chooses the endpoint with the payment's currency. */
export function membersOf(endpoints: readonly Member[]): string {
  return endpoints.map(({ name, currency }) => `${name} (${currency})`).join(", ");
}

/** Returns a group's current settings, with which the form for changes is filled. */
export function termsOf(enabled: boolean, endpoints: readonly Member[]) {
  return {
    enable: String(enabled),
    endpoints: endpoints.map(({ id }) => id).join(","),
  };
}

/**
 * The actions on a merchant's control key, each with whether it needs an old key. A merchant who
 * has an old key must drop it before the control key can be changed again.
 */
const keyActions = [
  ["merchant control-key renew", false],
  ["merchant control-key set", false],
  ["merchant control-key drop", true],
] as const;

/**
 * Returns all actions and whether each is offered now. Actions that are not offered are included,
 * so that the dialog of an action stays open when the action has been performed.
 */
export function keyActionsFor({ oldLastUsed }: Pick<MerchantDetail["controlKey"], "oldLastUsed">) {
  return keyActions.map(([action, needsOld]) => ({
    action,
    isOffered: needsOld === (oldLastUsed !== undefined),
  }));
}
