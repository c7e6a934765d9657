/**
 * What a screening rule is (decision 0048). A rule's file declares its parameters in a table and
 * binds their values to a pure function that judges one payment. What the rule knows comes in as
 * facts: the order, the payments counted before it, and how those orders ended.
 */
import ipaddr from "ipaddr.js";
import type { Order, Purchase, RuleAction, RuleFacts, RuleScope } from "../orders/order.ts";
import { foldEmail } from "../values/email.ts";
import type { FailureCode } from "../values/failure.ts";
import type { EndpointId, MerchantId, OrderId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { Instant } from "../values/time.ts";
import {
  type Documentation,
  type ParameterTable,
  type ParameterValues,
  readParameters,
} from "./parameters.ts";

/** The largest limit on a number of payments: as many are kept of each card, email … */
export const countMax = 100;

/** What payments can be counted by. */
export const subjects = ["card", "bin", "email", "ip", "device", "purpose"] as const;
export type Subject = (typeof subjects)[number];

/**
 * A rule that an operator has configured, with the parameters that were typed. A rule without ids
 * is the gateway's.
 */
export type ConfiguredRule = {
  readonly id: string;
  readonly merchantId: MerchantId | undefined;
  readonly endpointId: EndpointId | undefined;
  readonly kind: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly action: RuleAction;
  readonly enabled: boolean;
};

export function scopeOf(rule: Pick<ConfiguredRule, "merchantId" | "endpointId">): RuleScope {
  if (rule.endpointId !== undefined) return "endpoint";
  return rule.merchantId === undefined ? "gateway" : "merchant";
}

/** An earlier payment of the same card, email … */
export type Seen = {
  readonly orderId: OrderId;
  readonly at: Instant;
  readonly minor: bigint;
  readonly currency: string;
  /** A digest; empty without a card. */
  readonly card: string;
};

/** What is known of the subject: at the endpoint, at the merchant, or in the merchant's cell. */
export type Tally = {
  readonly firstAt: Instant;
  /** Before the payment that is judged, the latest first. A repeated request counts once. */
  readonly before: readonly Seen[];
  /** There may be older ones, which are no longer kept. */
  readonly isFull: boolean;
};

/** `open`: it may yet be approved. `other`: filtered, ended with an error, or not stored. */
export type PaymentResult = "approved" | "declined" | "open" | "other";

export type PaymentFacts = {
  readonly order: Order;
  readonly at: Instant;
  /** A digest of the card's number, the same at all merchants; nothing without a card. */
  readonly card: string | undefined;
  /** The counter's row; undefined when the payment does not have what the rule counts. */
  readonly tally?: Tally | undefined;
  /** Alpha-2; nothing when it is not known. */
  readonly findIpCountry: (address: string) => string | undefined;
  /** The results of the orders that the rule has asked for. */
  readonly resultOf: (seen: Seen) => PaymentResult;
};

/** Those in the window, the latest first. */
export function seenWithin({ at, tally }: PaymentFacts, windowMs: number): readonly Seen[] {
  return tally?.before.filter((seen) => seen.at > at - windowMs) ?? [];
}

export type Counting = {
  readonly per: Subject;
  /** Where it is counted; at the rule's own scope when absent. */
  readonly at?: "endpoint" | "merchant";
  /** How long after a payment the rule may need it. */
  readonly keepMs: number;
};

/** The rule fires: the merchant sees the code if it blocks, the operator also the facts. */
export type Fired = { readonly code: FailureCode; readonly facts: RuleFacts };
/** The rule cannot tell, because this is not known. It does not fire. */
type NoData = { readonly missing: string };
export type Judgement = Fired | NoData | undefined;

export type Judge = {
  /** The countries that it compares: without data it does not fire. */
  readonly needs?: readonly ("issuer" | "payer" | "ip")[];
  readonly counting?: Counting;
  /** The payments whose result decides; asked for only when a tally alone does not. */
  readonly asks?: (facts: PaymentFacts) => readonly Seen[];
  readonly judge: (facts: PaymentFacts) => Judgement;
};

export type Rule = {
  readonly kind: string;
  readonly documentation: Documentation;
  readonly parameters: ParameterTable;
  readonly bind: (texts: Readonly<Record<string, string>>) => Judge | Problem;
};

export function defineRule<Table extends ParameterTable>(rule: {
  readonly kind: string;
  readonly documentation: Documentation;
  readonly parameters: Table;
  /** Checks what the parameters must be together. */
  readonly bind: (values: ParameterValues<Table>) => Judge | Problem;
}): Rule {
  return {
    ...rule,
    bind(texts) {
      const values = readParameters(rule.parameters, texts);
      return values instanceof Problem ? values : rule.bind(values);
    },
  };
}

/** Case does not matter. */
export function foldPurpose(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

/** Returns undefined where the payment does not have the subject. `card` is a digest. */
export function subjectOf(
  subject: Subject,
  { purchase, card: { bin } }: Pick<Order, "purchase" | "card">,
  card: string | undefined,
): string | undefined {
  switch (subject) {
    case "card":
      return card;
    case "bin":
      return orNothing(bin);
    case "email":
      return orNothing(purchase.customer.email && foldEmail(purchase.customer.email));
    case "ip":
      return orNothing(networkOf(purchase.ipAddress));
    case "device":
      return deviceOf(purchase);
    case "purpose":
      return orNothing(purchase.purpose && foldPurpose(purchase.purpose));
  }
}

/**
 * An IPv4 address, or the first 64 bits of an IPv6 address: a subscriber has at least so many, and
 * may change the rest at will.
 */
export function networkOf(text: string): string {
  if (!text.includes(":")) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const head = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${head.join(":")}::/64`;
}

/** The browser as the merchant saw it. Many browsers are alike: the address tells them apart. */
function deviceOf({ browser, ipAddress }: Purchase): string | undefined {
  if (browser === undefined) return undefined;
  const properties = Object.entries(browser).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([networkOf(ipAddress), properties]);
}

function orNothing(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
