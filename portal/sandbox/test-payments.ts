/** Test payments, descriptions of test cards, and the comparison with the sandbox bank's ledger. */
import type { OutputOf } from "../shell/call.ts";

export type SandboxView = OutputOf<"GET /sandbox">;
export type Booked = OutputOf<"GET /sandbox/ledger">["booked"][number];
export type Payment = {
  readonly card: string;
  readonly endpoint: string;
  readonly wallet?: boolean;
};

/** `card` is a name in the sandbox bank's list of test cards. */
export const payments = {
  plain: { card: "not-enrolled", endpoint: "plain" },
  frictionless: { card: "frictionless", endpoint: "secure" },
  challenge: { card: "challenge", endpoint: "secure" },
  version1: { card: "v1-authenticated", endpoint: "secure" },
  wallet: { card: "not-enrolled", endpoint: "plain", wallet: true },
  decline: { card: "decline-funds", endpoint: "plain" },
} as const satisfies Readonly<Record<string, Payment>>;

type Endpoints = Pick<SandboxView, "endpoints">;

/** Returns an endpoint of the demonstration merchant. */
export function endpointNamed(wanted: string, { endpoints }: Endpoints): string {
  return endpoints.find(({ name }) => name === wanted)?.id ?? "";
}

/** Cards for 3-D Secure need an endpoint with 3-D Secure. */
export function endpointFor(group: string, sandbox: Endpoints): string {
  return endpointNamed(/3-D Secure|networks/.test(group) ? "secure" : "plain", sandbox);
}

/** The bank describes a plain decline only by a response code, to which words are added. */
export function describeCard(what: string): string {
  return /^[0-9A-Z]{2}$/.test(what) ? `declined with code ${what}` : what;
}

/** An open order and the bank's ledger may still differ, so the two are not compared. */
export function comparisonOf({ isOpen, differs }: Pick<Booked, "isOpen" | "differs">) {
  if (isOpen) return ["processing", "open"] as const;
  return differs ? (["declined", "differs"] as const) : (["approved", "agrees"] as const);
}
