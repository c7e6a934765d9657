/**
 * The merchants and endpoints that may send orders. They are read from the database and kept in
 * memory.
 */
import type { KeyObject } from "node:crypto";
import type { EndpointId, GroupId, MerchantId } from "../values/ids.ts";
import type { Fee } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import type { CredentialDefaults, GateFacts } from "./order.ts";

export type Merchant = {
  readonly id: MerchantId;
  readonly login: string;
  readonly name: string;
  /** The cell with the merchant's orders. */
  readonly cell: string;
  readonly controlKey: Secret<string>;
  /** The previous control key, which is accepted until an operator drops it. */
  readonly oldControlKey?: Secret<string> | undefined;
  /** A disabled merchant can only request the status of its orders. */
  readonly enabled: boolean;
  /**
   * The public keys with which OAuth signatures are verified. There are several while the merchant
   * changes them.
   */
  readonly oauthKeys: readonly OAuthKey[];
  readonly settings: MerchantSettings;
};

export type OAuthKey = {
  readonly id: string;
  readonly name: string;
  readonly publicKey: KeyObject;
};

export type MerchantSettings = {
  /** Whether the merchant sees the fees of a payment. */
  readonly commissions?: boolean;
  /** Whether the merchant may ask for its balance. */
  readonly balance?: boolean;
  /** How long card numbers are stored. If absent, the installation's settings apply. */
  readonly cardKeepDays?: number;
  readonly unpaidCardKeepDays?: number;
  /** Whether the merchant may send wallets' payment data that it has decrypted itself. */
  readonly decryptedWallets?: boolean;
  /** OAuth signatures by HMAC-SHA1 with the control key are refused. */
  readonly rsaOnly?: boolean;
  /** The address that gets the transaction report of each day. */
  readonly reportUrl?: string;
  /** The merchant's identifiers at the wallets. */
  readonly wallets?: WalletSettings;
};

export type WalletSettings = {
  readonly walleta?: {
    readonly merchantIdentifier: string;
    /** The merchant's country in two letters, for the wallet's button. */
    readonly country?: string;
  };
  readonly walletb?: {
    /** `merchant:<id>` or `gateway:<id>`. */
    readonly recipientId: string;
    /** The merchant's id at a wallet of the gateway; the login if absent. */
    readonly gatewayMerchantId?: string;
    /** The protocol version; ECv2 if absent. */
    readonly versions?: readonly ("ECv1" | "ECv2")[];
  };
};

export type Endpoint = {
  readonly id: EndpointId;
  readonly merchant: Merchant;
  readonly name: string;
  readonly currency: string;
  /** The gates, sorted by rank and then by gate id. */
  readonly gates: readonly EndpointGate[];
  readonly enabled: boolean;
  readonly settings: EndpointSettings;
};

/** The part of a gate that an endpoint in front of it needs. */
export type EndpointGate = Omit<GateFacts, "choice"> & {
  readonly name: string;
  /** The gates with the lowest rank are tried first. */
  readonly rank: number;
  /** The gate's share among those of its rank. */
  readonly weight: number;
  readonly worksWithoutCvv: boolean;
  /** The number of digits that its messages have for an amount in minor units. */
  readonly amountDigits: number;
  /** The currencies that the gate accepts; every currency if absent. */
  readonly currencies?: readonly string[];
  /** In minor units. */
  readonly amountMin?: bigint;
  readonly amountMax?: bigint;
  /** Absent where the gate sends no payouts. */
  readonly payouts?: PayoutTerms;
  /** The defaults for recurrent payments that do not state their initiator and scenario. */
  readonly recurrent?: CredentialDefaults;
};

/** How a gate sends payouts. */
export type PayoutTerms = {
  /** For how long its host recognises a repeated payout; it does not when absent. */
  readonly repeatHours?: number;
  /** The optional fields of a payout that its acquirer demands. */
  readonly fields?: readonly string[];
};

/** How callbacks are sent: everything in the address, in the body as a form, or as JSON. */
export const callbackMethods = ["GET", "POST", "JSON"] as const;
export type CallbackMethod = (typeof callbackMethods)[number];

/** An address of the endpoint that is called besides those of the order. */
export type CallbackUrl = {
  /** The `type` of the callbacks that it gets, or `all`. */
  readonly type: string;
  /** The only `status` that it gets; every one if absent. */
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
  /**
   * The mandatory fields of a sale that this endpoint does not require: email, phone and the
   * address fields.
   */
  readonly optionalFields?: readonly string[];
  /** The fee that the seller pays for a payment. */
  readonly fee?: Fee;
  /** The endpoint takes payouts. */
  readonly payouts?: boolean;
  /** In minor units, as text; a payout outside of them is refused. */
  readonly payoutMin?: string;
  readonly payoutMax?: string;
  /** The sum of all payouts of a day, in minor units, and the number of payouts to one card. */
  readonly payoutDayMax?: string;
  readonly payoutCardMax?: number;
  /** If true, an approval of less than the requested amount stands. Otherwise it is reversed. */
  readonly acceptsPartialApprovals?: boolean;
  readonly callbackMethod?: CallbackMethod;
  readonly callbackUrls?: readonly CallbackUrl[];
  /** How often the secret that signs forms was renewed, and when, while the old one counts. */
  readonly webhookSecret?: { readonly generation: number; readonly renewedAt?: number };
  /** Status and callbacks tell of chargebacks; as the order's latest transaction, if chosen so. */
  readonly tellsChargebacks?: boolean | "transactions";
  /** Statuses and callbacks of a void have this type: older client libraries know no other. */
  readonly voidAs?: "void" | "reversal";
  /** Whether cards are registered without a payment, and verified with their issuers first. */
  readonly profiles?: (typeof profileRules)[number];
  /** If true, only requests that are signed by OAuth are accepted. */
  readonly oauthOnly?: boolean;
  /** If true, return and callback addresses may be `http://` in production. */
  readonly plainAddresses?: boolean;
  /**
   * If true, callbacks may go to the private networks and names that the installation's settings
   * permit.
   */
  readonly privateCallbacks?: boolean;
} & PageSettings;

/** The settings of the payment page. */
type PageSettings = {
  /**
   * How long the page accepts cards, and how many. If absent, the installation's settings apply.
   */
  readonly pageLifeS?: number;
  readonly pageTries?: number;
  /**
   * The customer fields that the page asks for. By default these are the fields that a sale
   * requires, and for a payment link the email.
   */
  readonly pageFields?: readonly string[];
  /** The name of the shop, as cardholders see it. */
  readonly shopName?: string;
  /** A picture as a `data:` URL. */
  readonly shopLogo?: string;
  /** `#rrggbb`. */
  readonly shopColour?: string;
  /** The sites that may embed the page. */
  readonly embedOrigins?: readonly string[];
};

/**
 * Returns the name of the shop or, without one, the text on the cardholder's statement. It never
 * returns a login.
 */
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

/** An endpoint or a group. Both share one range of ids. */
export type EntryPoint = {
  readonly id: EndpointId | GroupId;
  readonly merchant: Merchant;
  /**
   * The endpoints, including disabled ones: one for an endpoint, and one for each currency of a
   * group.
   */
  readonly endpoints: readonly Endpoint[];
  /**
   * Whether the endpoint or group itself is disabled, or its merchant. Each operation decides
   * whether it is still available.
   */
  readonly disabled?: "itself" | "merchant";
};
