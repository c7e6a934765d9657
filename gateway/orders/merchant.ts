/** The merchants and endpoints that may send orders, read from the database and kept in memory. */
import type { KeyObject } from "node:crypto";
import type { EndpointId, GroupId, MerchantId } from "../values/ids.ts";
import type { Fee } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import type {
  CardFacts,
  CredentialDefaults,
  GateFacts,
  Order,
  ScaExemption,
  Transaction,
} from "./order.ts";

export type Merchant = {
  readonly id: MerchantId;
  readonly login: string;
  readonly name: string;
  readonly cell: string;
  readonly controlKey: Secret<string>;
  /** The previous key is accepted until an operator drops it. */
  readonly oldControlKey?: Secret<string> | undefined;
  /** A disabled merchant can only request the status of its orders. */
  readonly enabled: boolean;
  /** The merchant's public keys for OAuth; several while the merchant changes them. */
  readonly oauthKeys: readonly OAuthKey[];
  readonly settings: MerchantSettings;
};

export type OAuthKey = {
  readonly id: string;
  readonly name: string;
  readonly publicKey: KeyObject;
};

export type MerchantSettings = {
  readonly commissions?: boolean;
  /** Whether the merchant may ask for its balance. */
  readonly balance?: boolean;
  /** In days. If absent, the installation's settings apply. */
  readonly cardKeepDays?: number;
  readonly unpaidCardKeepDays?: number;
  /** Whether the merchant may send wallets' payment data that it has decrypted itself. */
  readonly decryptedWallets?: boolean;
  readonly rsaOnly?: boolean;
  /** The address that gets the transaction report of each day. */
  readonly reportUrl?: string;
  readonly wallets?: WalletSettings;
};

export type WalletSettings = {
  readonly walleta?: {
    readonly merchantIdentifier: string;
    /** Two letters; the wallet's button needs them. */
    readonly country?: string;
  };
  readonly walletb?: {
    /** `merchant:<id>` or `gateway:<id>`. */
    readonly recipientId: string;
    /** The merchant's id at a wallet of the gateway; the login if absent. */
    readonly gatewayMerchantId?: string;
    /** ECv2 if absent. */
    readonly versions?: readonly ("ECv1" | "ECv2")[];
  };
};

export type Endpoint = {
  readonly id: EndpointId;
  readonly merchant: Merchant;
  readonly name: string;
  readonly currency: string;
  /** Sorted by rank and then by gate id. */
  readonly gates: readonly EndpointGate[];
  /** The routing rules; absent without any. The first one that matches a payment decides. */
  readonly routes?: readonly Route[] | undefined;
  readonly enabled: boolean;
  readonly settings: EndpointSettings;
};

/** A routing rule as an operator wrote it: its conditions by name, and its result as `to`. */
export type RouteTexts = Readonly<Record<string, string>>;

/** A routing rule that has been read. `to` names its gates, sorted by rank, or what else to do. */
export type Route = {
  readonly number: number;
  readonly label: string;
  /** Whether it has a condition on the outcome of 3-D Secure. */
  readonly knowsOutcome: boolean;
  readonly matches: (payment: Routed, outcome: string | undefined) => boolean;
  readonly to: "refuse" | "cheapest" | readonly EndpointGate[];
};

/** The parts of an order by which its gate is chosen. */
export type Routed = Pick<Order, "id" | "acceptedAt"> & {
  readonly transaction: Pick<Transaction, "kind" | "amount" | "authentication">;
  readonly card: Pick<CardFacts, "bin" | "network" | "issuer">;
  readonly purchase: Pick<Order["purchase"], "wallet" | "credential">;
};

export type EndpointGate = Omit<GateFacts, "choice"> & {
  readonly name: string;
  readonly rank: number;
  readonly weight: number;
  readonly worksWithoutCvv: boolean;
  /** The number of digits for an amount in minor units in the gate's messages. */
  readonly amountDigits: number;
  /** The exemptions from authentication for which the gate's messages have a place. */
  readonly exemptions?: readonly ScaExemption[];
  /** Every currency if absent. */
  readonly currencies?: readonly string[];
  /** In minor units. */
  readonly amountMin?: bigint;
  readonly amountMax?: bigint;
  /** Absent where the gate sends no payouts. */
  readonly payouts?: PayoutTerms;
  /** Defaults of recurrent payments that do not state their initiator and scenario. */
  readonly recurrent?: CredentialDefaults;
  /** The acquirer's fee, by which a routing rule finds the cheapest gate. */
  readonly cost?: Fee;
};

export type PayoutTerms = {
  /** For how long the host recognises a repeated payout; it does not when absent. */
  readonly repeatHours?: number;
  readonly fields?: readonly string[];
};

/** Everything is in the URL, in the body as a form, or in the body as JSON. */
export const callbackMethods = ["GET", "POST", "JSON"] as const;
export type CallbackMethod = (typeof callbackMethods)[number];

export type CallbackUrl = {
  /** The `type` of the callbacks that are sent to the URL, or `all`. */
  readonly type: string;
  /** The only `status` that is sent to the URL; every one if absent. */
  readonly status?: string;
  /** Its query may have macros, which the fields of a callback replace. */
  readonly url: string;
};

export const profileRules = ["off", "on", "verified"] as const;

export type EndpointSettings = {
  readonly threeDSecure: "off" | "when_possible" | "always";
  /** In minor units, as text. An order with a smaller or larger amount is filtered. */
  readonly amountMin?: string;
  readonly amountMax?: string;
  /** The text on the cardholder's statement, if it is not the gate's descriptor. */
  readonly descriptor?: string;
  /** Mandatory fields of a sale that are not required here: email, phone, address fields. */
  readonly optionalFields?: readonly string[];
  readonly fee?: Fee;
  readonly payouts?: boolean;
  /** In minor units, as text. A payout outside of these limits is refused. */
  readonly payoutMin?: string;
  readonly payoutMax?: string;
  /** The sum of all payouts of a day, in minor units, and the number of payouts to one card. */
  readonly payoutDayMax?: string;
  readonly payoutCardMax?: number;
  /** If true, an approval of less than the requested amount stands. Otherwise it is reversed. */
  readonly acceptsPartialApprovals?: boolean;
  readonly routes?: readonly RouteTexts[];
  readonly callbackMethod?: CallbackMethod;
  readonly callbackUrls?: readonly CallbackUrl[];
  /** How often the secret that signs forms was renewed, and when, while the old one is accepted. */
  readonly webhookSecret?: { readonly generation: number; readonly renewedAt?: number };
  /** Whether status and callbacks report chargebacks, if chosen so as the latest transaction. */
  readonly tellsChargebacks?: boolean | "transactions";
  /** Statuses and callbacks of a void have this type: older client libraries know no other. */
  readonly voidAs?: "void" | "reversal";
  /** Whether cards are registered without a payment, and verified with their issuers. */
  readonly profiles?: (typeof profileRules)[number];
  /** Whether the merchant may send orders by mail or telephone, and claim exemptions. */
  readonly moto?: boolean;
  readonly exemptions?: boolean;
  readonly oauthOnly?: boolean;
  /** Return and callback URLs may be `http://` in production. */
  readonly plainAddresses?: boolean;
  /** Callbacks may go to private networks and names that the installation's settings permit. */
  readonly privateCallbacks?: boolean;
} & PageSettings;

type PageSettings = {
  /** For how long and how many cards the page accepts; as the installation's settings if absent. */
  readonly pageLifeS?: number;
  readonly pageTries?: number;
  /** If absent, the fields that a sale requires or, for a payment link, the email address. */
  readonly pageFields?: readonly string[];
  readonly shopName?: string;
  readonly shopLogo?: string;
  /** `#rrggbb`. */
  readonly shopColour?: string;
  readonly embedOrigins?: readonly string[];
  /** Shops may put the gateway's card fields into their own pages, at the origins above. */
  readonly hostedFields?: boolean;
};

/** Without a name, the text on the cardholder's statement is returned; never a login. */
export function shopNameOf({ settings, gates }: Pick<Endpoint, "settings" | "gates">): string {
  return settings.shopName ?? gates[0]?.shownDescriptor ?? "";
}

export type EndpointGroup = {
  readonly id: GroupId;
  readonly merchant: Merchant;
  readonly name: string;
  readonly enabled: boolean;
  readonly endpoints: readonly Endpoint[];
};

/** Endpoints and groups share one range of ids. */
export type EntryPoint = {
  readonly id: EndpointId | GroupId;
  readonly merchant: Merchant;
  /** One for an endpoint, and one for each currency of a group, including disabled ones. */
  readonly endpoints: readonly Endpoint[];
  /** The part that is disabled. Each operation decides whether it is still available. */
  readonly disabled?: "itself" | "merchant";
};

/** The sites that may show hosted fields; none where an endpoint of the group has them off. */
export function fieldOriginsOf({ endpoints, disabled }: EntryPoint): readonly string[] {
  const areOn = endpoints.every(({ settings }) => settings.hostedFields === true);
  if (!areOn || disabled !== undefined) return [];
  return [...new Set(endpoints.flatMap(({ settings }) => settings.embedOrigins ?? []))];
}
