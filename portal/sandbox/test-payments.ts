/**
 * Data of the sandbox screen: the test payments, descriptions of test cards, and the result of
 * comparing the bank's ledger with the gateway's orders.
 */
import type { OutputOf } from "../shell/call.ts";

export type SandboxView = OutputOf<"GET /sandbox">;
export type Booked = OutputOf<"GET /sandbox/ledger">["booked"][number];
export type Payment = {
  readonly card: string;
  readonly endpoint: string;
  readonly wallet?: boolean;
};

/** The test payments. `card` is a name in the sandbox bank's list of test cards. */
export const payments = {
  plain: { card: "not-enrolled", endpoint: "plain" },
  frictionless: { card: "frictionless", endpoint: "secure" },
  challenge: { card: "challenge", endpoint: "secure" },
  version1: { card: "v1-authenticated", endpoint: "secure" },
  wallet: { card: "not-enrolled", endpoint: "plain", wallet: true },
  decline: { card: "decline-funds", endpoint: "plain" },
} as const satisfies Readonly<Record<string, Payment>>;

type Endpoints = Pick<SandboxView, "endpoints">;

/** Returns the id of the endpoint with this name, which the demonstration merchant has. */
export function endpointNamed(wanted: string, { endpoints }: Endpoints): string {
  return endpoints.find(({ name }) => name === wanted)?.id ?? "";
}

/**
 * Returns the endpoint at which the test cards of a group pay. Cards for 3-D Secure need an
 * endpoint with 3-D Secure.
 */
export function endpointFor(group: string, sandbox: Endpoints): string {
  return endpointNamed(/3-D Secure|networks/.test(group) ? "secure" : "plain", sandbox);
}

/**
 * Describes what happens to payments with a test card. For a plain decline, the bank's description
 * is only the response code.
 */
export function describeCard(what: string): string {
  return /^[0-9A-Z]{2}$/.test(what) ? `declined with code ${what}` : what;
}

/**
 * Returns whether the bank's ledger and the gateway's order agree. They are not compared while the
 * order is open, because they may differ until it has ended.
 */
export function comparisonOf({ isOpen, differs }: Pick<Booked, "isOpen" | "differs">) {
  if (isOpen) return ["processing", "open"] as const;
  return differs ? (["declined", "differs"] as const) : (["approved", "agrees"] as const);
}
