/** Who may send orders, and through which entry point: read from the database, kept in memory. */
import type { EndpointId, GroupId, MerchantId } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import type { GateFacts } from "./order.ts";

export type Merchant = {
  readonly id: MerchantId;
  readonly login: string;
  readonly name: string;
  readonly controlKey: Secret<string>;
};

export type Endpoint = {
  readonly id: EndpointId;
  readonly merchant: Merchant;
  readonly name: string;
  readonly currency: string;
  readonly gate: EndpointGate;
  readonly enabled: boolean;
  readonly settings: EndpointSettings;
};

/** What an endpoint must know of the gate behind it. */
export type EndpointGate = GateFacts & { readonly worksWithoutCvv: boolean };

export type EndpointSettings = {
  readonly threeDSecure: "off" | "when_possible" | "always";
  /** In minor units, as text; an order outside them is filtered. */
  readonly amountMin?: string;
  readonly amountMax?: string;
  /** What the cardholder's statement shows, when it is not the gate's descriptor. */
  readonly descriptor?: string;
  /** Sale fields that this endpoint does not insist on: email, phone and the address fields. */
  readonly optionalFields?: readonly string[];
};

export type EndpointGroup = {
  readonly id: GroupId;
  readonly merchant: Merchant;
  readonly name: string;
  readonly enabled: boolean;
  readonly endpoints: readonly Endpoint[];
};

/** An endpoint or a group: they share one number space. */
export type EntryPoint = {
  readonly id: EndpointId | GroupId;
  readonly merchant: Merchant;
  /** One for an endpoint, one per currency for a group. */
  readonly endpoints: readonly Endpoint[];
};
