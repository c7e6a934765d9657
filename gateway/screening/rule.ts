/**
 * Defines screening rules (decision 0048). A rule's file declares its parameters in a table and
 * binds their values to a pure function that judges a payment by facts: the order, the payments
 * counted before it, and how their orders ended.
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

/** A rule's highest limit on a number of payments, because a counter keeps no more of them. */
export const countMax = 100;

export const subjects = ["card", "bin", "email", "ip", "device", "purpose"] as const;
export type Subject = (typeof subjects)[number];

/**
 * A rule as an operator has configured it, with its parameters as typed. Without a merchant's and
 * an endpoint's id, it applies to the whole gateway.
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

/** An earlier payment with the same counted value (card, email address, …) as the judged one. */
export type Seen = {
  readonly orderId: OrderId;
  readonly at: Instant;
  readonly minor: bigint;
  readonly currency: string;
  /** A digest of the card number; empty without a card. */
  readonly card: string;
};

/** The payments with one card, email address or other value, at an endpoint, merchant or cell. */
export type Tally = {
  readonly firstAt: Instant;
  /** The payments before the judged one, the latest first. A repeated request is one payment. */
  readonly before: readonly Seen[];
  /** Whether the counter is full, so that it may have dropped older payments. */
  readonly isFull: boolean;
};

/** The payment of an `open` order may yet be approved. Filtered and failed orders are `other`. */
export type PaymentResult = "approved" | "declined" | "open" | "other";

export type PaymentFacts = {
  readonly order: Order;
  readonly at: Instant;
  /** A digest of the card number, the same at all merchants; undefined without a card. */
  readonly card: string | undefined;
  /** Undefined if the judged payment lacks the value by which the rule counts. */
  readonly tally?: Tally | undefined;
  /** Returns an ISO 3166 alpha-2 code, or undefined if the country is not known. */
  readonly findIpCountry: (address: string) => string | undefined;
  /** Returns the result of an earlier payment that the rule has named in `asks`. */
  readonly resultOf: (seen: Seen) => PaymentResult;
};

/** Returns the earlier payments in the window, the latest first. */
export function seenWithin({ at, tally }: PaymentFacts, windowMs: number): readonly Seen[] {
  return tally?.before.filter((seen) => seen.at > at - windowMs) ?? [];
}

export type Counting = {
  readonly per: Subject;
  /** Where payments are counted. If absent, they are counted in the rule's own scope. */
  readonly at?: "endpoint" | "merchant";
  readonly keepMs: number;
};

/** If the rule blocks the payment, the merchant sees `code`. Only the operator sees `facts`. */
export type Fired = { readonly code: FailureCode; readonly facts: RuleFacts };
/** The rule cannot decide, and does not fire, because the named fact is not known. */
type NoData = { readonly missing: string };
export type Judgement = Fired | NoData | undefined;

export type Judge = {
  /** The countries that the rule compares. If one is not known, the rule does not fire. */
  readonly needs?: readonly ("issuer" | "payer" | "ip")[];
  readonly counting?: Counting;
  /** Returns the earlier payments whose results the rule needs. */
  readonly asks?: (facts: PaymentFacts) => readonly Seen[];
  readonly judge: (facts: PaymentFacts) => Judgement;
  /** The rule judges the issuer's answer, so it is asked again when the charge is approved. */
  readonly judgesApprovals?: true;
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
  /** Checks the parameters against each other. Returns the function that judges payments. */
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

/** Returns the lower-case form by which purposes are compared. */
export function foldPurpose(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

/** Returns undefined if the payment lacks the value by which it is counted. `card` is a digest. */
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
 * Returns an IPv4 address, or the first 64 bits of an IPv6 address, because a subscriber can use
 * any address that begins with these bits.
 */
export function networkOf(text: string): string {
  if (!text.includes(":")) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const head = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${head.join(":")}::/64`;
}

/** Many browsers have the same properties, so the IP address is added to tell devices apart. */
function deviceOf({ browser, ipAddress }: Purchase): string | undefined {
  if (browser === undefined) return undefined;
  const properties = Object.entries(browser).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([networkOf(ipAddress), properties]);
}

function orNothing(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
