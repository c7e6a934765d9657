/** What the page at `/` is told, and what its form sends. */

import type { OrderLine } from "../views/status.ts";
import type { Till } from "./example-sale.ts";

export type WelcomeFacts = Till & {
  readonly bank: { readonly url: string; readonly host: string };
  readonly database: string;
  /** What keeps the gateway from taking work; empty when it is ready. */
  readonly missing: Readonly<Record<string, string>>;
  readonly endpoints: readonly EndpointLine[];
  readonly groups: readonly GroupLine[];
  /** Nothing when the bank does not answer. */
  readonly cards: readonly TestCard[] | undefined;
  /** The latest first. */
  readonly orders: readonly OrderLine[];
};

export type EndpointLine = {
  readonly name: string;
  readonly id: string;
  readonly currency: string;
  readonly threeDSecure: "off" | "when_possible" | "always";
};

export type GroupLine = {
  readonly name: string;
  readonly id: string;
  readonly endpoints: readonly string[];
};

/** A row of the sandbox bank's catalogue. */
export type TestCard = {
  readonly name: string;
  readonly card: string;
  readonly group: string;
  readonly what: string;
};

/** What was chosen in the form to pay with; `endpoint` is its number. */
export type Chosen = { readonly card: string; readonly amount: string; readonly endpoint: string };
