/** The sandbox: its test payments, what a card does, and what the books say. */
import type { OutputOf } from "../shell/call.ts";

export type SandboxView = OutputOf<"GET /sandbox">;
export type Booked = OutputOf<"GET /sandbox/ledger">["booked"][number];
export type Payment = {
  readonly card: string;
  readonly endpoint: string;
  readonly wallet?: boolean;
};

/** Cards by their names in the bank's catalogue. */
export const payments = {
  plain: { card: "not-enrolled", endpoint: "plain" },
  frictionless: { card: "frictionless", endpoint: "secure" },
  challenge: { card: "challenge", endpoint: "secure" },
  version1: { card: "v1-authenticated", endpoint: "secure" },
  wallet: { card: "not-enrolled", endpoint: "plain", wallet: true },
  decline: { card: "decline-funds", endpoint: "plain" },
} as const satisfies Readonly<Record<string, Payment>>;

type Endpoints = Pick<SandboxView, "endpoints">;

/** The id of a demonstration endpoint by its name. */
export function endpointNamed(wanted: string, { endpoints }: Endpoints): string {
  return endpoints.find(({ name }) => name === wanted)?.id ?? "";
}

/** Test cards of 3-D Secure are offered only at endpoints with 3-D Secure. */
export function endpointFor(group: string, sandbox: Endpoints): string {
  return endpointNamed(/3-D Secure|networks/.test(group) ? "secure" : "plain", sandbox);
}

/** The bank writes a plain decline as its response code alone. */
export function describeCard(what: string): string {
  return /^[0-9A-Z]{2}$/.test(what) ? `declined with code ${what}` : what;
}

/** Until an order has ended, the books may differ. */
export function comparisonOf({ isOpen, differs }: Pick<Booked, "isOpen" | "differs">) {
  if (isOpen) return ["processing", "open"] as const;
  return differs ? (["declined", "differs"] as const) : (["approved", "agrees"] as const);
}
