/**
 * Data of the sandbox screens: test payments, descriptions of cards, and the comparison of ledgers.
 */
import type { OutputOf } from "../shell/call.ts";

export type SandboxView = OutputOf<"GET /sandbox">;
export type Booked = OutputOf<"GET /sandbox/ledger">["booked"][number];
export type Payment = {
  readonly card: string;
  readonly endpoint: string;
  readonly wallet?: boolean;
};

/** The test payments, with their cards as the bank's catalogue names them. */
export const payments = {
  plain: { card: "not-enrolled", endpoint: "plain" },
  frictionless: { card: "frictionless", endpoint: "secure" },
  challenge: { card: "challenge", endpoint: "secure" },
  version1: { card: "v1-authenticated", endpoint: "secure" },
  wallet: { card: "not-enrolled", endpoint: "plain", wallet: true },
  decline: { card: "decline-funds", endpoint: "plain" },
} as const satisfies Readonly<Record<string, Payment>>;

type Endpoints = Pick<SandboxView, "endpoints">;

/** Returns the id of a demonstration endpoint. */
export function endpointNamed(wanted: string, { endpoints }: Endpoints): string {
  return endpoints.find(({ name }) => name === wanted)?.id ?? "";
}

/** Returns the endpoint for a group of cards: test cards of 3-D Secure need one with 3-D Secure. */
export function endpointFor(group: string, sandbox: Endpoints): string {
  return endpointNamed(/3-D Secure|networks/.test(group) ? "secure" : "plain", sandbox);
}

/** Describes what a card does. The bank describes a plain decline by its response code alone. */
export function describeCard(what: string): string {
  return /^[0-9A-Z]{2}$/.test(what) ? `declined with code ${what}` : what;
}

/** Returns the result of the comparison. The ledgers may differ until an order has ended. */
export function comparisonOf({ isOpen, differs }: Pick<Booked, "isOpen" | "differs">) {
  if (isOpen) return ["processing", "open"] as const;
  return differs ? (["declined", "differs"] as const) : (["approved", "agrees"] as const);
}
