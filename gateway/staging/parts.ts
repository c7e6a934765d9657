/**
 * The parts that staging adds to a node, and the parts of the node that it uses. This file has
 * types only, because production loads none of staging's code.
 */
import type { ReportToOrder } from "../administration/installation/operator-events.ts";
import type { Callbacks } from "../callbacks/callbacks.ts";
import type { HttpRoute } from "../http/router.ts";
import type { IssuerRange } from "../issuers/issuers.ts";
import type { Merchant } from "../orders/merchant.ts";
import type { DocumentValues } from "../pages/documentation.ts";
import type { SandboxHandlers } from "../portal-api/sandbox-routes.ts";
import type { Configuration } from "../storage/configuration/configuration.ts";
import type { PortalReads } from "../storage/portal/portal-reads.ts";
import type { Clock } from "../values/time.ts";

/** The parts that a node only has in staging. */
export type StagingParts = {
  /** The issuers of test cards. */
  readonly ranges: readonly IssuerRange[];
  /** Countries of networks that exist in documentation only. */
  readonly networks?: readonly (readonly [network: string, country: string])[];
  /** The script that simulates wallets on payment pages. */
  readonly walletSheet?: string;
  /** Returns the demonstration merchant's values for the documentation. */
  readonly documentValues?: () => Promise<DocumentValues>;
  /** Makes the handlers of the portal's sandbox screen. */
  portal?(reads: PortalReads): SandboxHandlers;
  routes?(node: {
    readonly findState: () => Promise<NodeState>;
    readonly clock: Clock;
    readonly callbacks: Pick<Callbacks, "find" | "findOrder" | "write">;
    readonly findMerchant: (login: string) => Merchant | undefined;
    readonly report: ReportToOrder;
  }): readonly HttpRoute[];
};

export type NodeState = {
  readonly configuration: Configuration;
  readonly missing: Readonly<Record<string, string>>;
};
