/**
 * Defines screening rules (decision 0048). The file of a rule declares its parameters in a table
 * and binds their values to a pure function that judges one payment. The function gets facts: the
 * order, the payments counted before it, and how those orders ended.
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

/**
 * The highest limit on a number of payments that a rule can have. A counter keeps this many
 * payments of a card, an email address and so on.
 */
export const countMax = 100;

/** The properties by which payments are counted, such as the card or the email address. */
export const subjects = ["card", "bin", "email", "ip", "device", "purpose"] as const;
export type Subject = (typeof subjects)[number];

/**
 * A rule as an operator has configured it, with its parameters as typed. A rule without a
 * merchant's and an endpoint's id applies to the whole gateway.
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

/**
 * An earlier payment that has the same counted value, such as the card or the email address, as the
 * judged payment.
 */
export type Seen = {
  readonly orderId: OrderId;
  readonly at: Instant;
  readonly minor: bigint;
  readonly currency: string;
  /** A digest of the card number; empty for a payment without a card. */
  readonly card: string;
};

/**
 * The counted payments with one card, email address and so on, at an endpoint, at a merchant, or in
 * the merchant's cell.
 */
export type Tally = {
  readonly firstAt: Instant;
  /**
   * The payments before the judged one, the latest first. A request and its repeats count as one
   * payment.
   */
  readonly before: readonly Seen[];
  /** Whether the counter is full. Older payments may then have been dropped from it. */
  readonly isFull: boolean;
};

/**
 * The result of an earlier payment. `open` means that the order may yet be approved. `other` means
 * that it was filtered, ended with an error, or is not stored.
 */
export type PaymentResult = "approved" | "declined" | "open" | "other";

export type PaymentFacts = {
  readonly order: Order;
  readonly at: Instant;
  /** A digest of the card number that is the same at all merchants; undefined without a card. */
  readonly card: string | undefined;
  /**
   * The earlier payments that the rule counts; undefined if the judged payment lacks the value by
   * which the rule counts.
   */
  readonly tally?: Tally | undefined;
  /**
   * Returns the ISO 3166 alpha-2 code of the address's country, or undefined if the country is not
   * known.
   */
  readonly findIpCountry: (address: string) => string | undefined;
  /** Returns the result of an earlier payment. The rule must have named that payment in `asks`. */
  readonly resultOf: (seen: Seen) => PaymentResult;
};

/** Returns the earlier payments within the window, the latest first. */
export function seenWithin({ at, tally }: PaymentFacts, windowMs: number): readonly Seen[] {
  return tally?.before.filter((seen) => seen.at > at - windowMs) ?? [];
}

export type Counting = {
  readonly per: Subject;
  /**
   * Where payments are counted: at the endpoint or at the merchant. If absent, they are counted in
   * the rule's own scope.
   */
  readonly at?: "endpoint" | "merchant";
  /** For how long the counter keeps a payment for the rule. */
  readonly keepMs: number;
};

/**
 * The judgement that the rule fires. If the rule blocks the payment, the merchant sees `code`. Only
 * the operator sees `facts`.
 */
export type Fired = { readonly code: FailureCode; readonly facts: RuleFacts };
/**
 * The judgement that the rule could not decide, because the named fact is not known. The rule then
 * does not fire.
 */
type NoData = { readonly missing: string };
export type Judgement = Fired | NoData | undefined;

export type Judge = {
  /** The countries that the rule compares. The rule does not fire if one of them is not known. */
  readonly needs?: readonly ("issuer" | "payer" | "ip")[];
  readonly counting?: Counting;
  /**
   * Returns the earlier payments whose results the rule needs. Absent if the rule needs no results.
   */
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
  /**
   * Checks whether the parameters agree with each other, and returns the function that judges a
   * payment by them.
   */
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

/** Returns the purpose of a payment in lower case, because rules ignore case. */
export function foldPurpose(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

/**
 * Returns the value by which a payment is counted, or undefined if the payment lacks it. `card` is
 * a digest of the card number.
 */
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
 * Returns an IPv4 address, or the first 64 bits of an IPv6 address. An IPv6 subscriber has at least
 * 64 bits of addresses and may use any of them.
 */
export function networkOf(text: string): string {
  if (!text.includes(":")) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const head = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${head.join(":")}::/64`;
}

/**
 * Identifies the browser by the properties that the merchant sends. Many browsers have the same
 * properties, so the address is added.
 */
function deviceOf({ browser, ipAddress }: Purchase): string | undefined {
  if (browser === undefined) return undefined;
  const properties = Object.entries(browser).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([networkOf(ipAddress), properties]);
}

function orNothing(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
