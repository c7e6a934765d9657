/**
 * Answers to disputes: what a reason means, when an answer is due, the merchant's decision, and
 * earlier payments that show that the cardholder knew the shop.
 */
import type { Network } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import { hours, type Instant, later } from "../values/time.ts";
import type { Chargeback, DisputeOutcome, Order } from "./order.ts";
import { byDate, reasonCodeOf, totalsOf } from "./transactions.ts";

// biome-ignore format: a table
const kindsByCode = [
  ["fraud",         /^(10\.\d|48(37|40|63|7[01])|F\d\d|FR\d|UA\d\d)$/],
  ["authorisation", /^(11\.\d|48(07|08|12)|A\d\d)$/],
  ["processing",    /^(12\.\d|48(31|34|42|46)|P\d\d)$/],
  ["not_received",  /^(13\.[19]|4855|C08)$/],
  ["not_as_sold",   /^(13\.[345]|4853|C3[12])$/],
  ["cancelled",     /^(13\.[27]|4841|C05|C18|C28)$/],
  ["credit",        /^(13\.[68]|4860|C0[24])$/],
  ["other",         /^/],
] as const;
export type ReasonKind = (typeof kindsByCode)[number][0];

/** Reads the codes of Visa, Mastercard, American Express and Discover. */
export function reasonKindOf(chargeback: Pick<Chargeback, "reason" | "stage">): ReasonKind {
  if (chargeback.stage === "fraud") return "fraud";
  const code = reasonCodeOf(chargeback);
  return kindsByCode.find(([, form]) => form.test(code))?.[0] ?? "other";
}

const days = (count: number) => hours(24 * count);
const stagesToAnswer: readonly string[] = ["retrieval", "first", "pre-arbitration", "arbitration"];
/** The networks' own times. An acquirer demands the answer earlier. */
const answerDays: Readonly<Partial<Record<Network, number>>> = { MASTERCARD: 45, AMEX: 20 };
const usualAnswerDays = 30;

/** The acquirer's file says when the answer is due, or else the network's rules. */
export function answerDueAt(
  { card }: Order,
  { stage, at, dueAt }: Chargeback,
): Instant | undefined {
  if (!stagesToAnswer.includes(stage)) return undefined;
  const network = stage === "first" ? card.network : undefined;
  return dueAt ?? later(at, days((network && answerDays[network]) ?? usualAnswerDays));
}

/** A decision is about the latest stage of the case. A later stage needs another decision. */
export function withDecision(
  order: Order,
  { caseId, outcome }: { readonly caseId: string; readonly outcome: DisputeOutcome },
): Order | Failure {
  const { chargebacks = [] } = order;
  const latest = byDate(order).findLast((each) => each.caseId === caseId);
  if (latest === undefined || !stagesToAnswer.includes(latest.stage)) return nothingToDecide;
  const decided = chargebacks.map((each) => (each === latest ? { ...each, outcome } : each));
  return { ...order, version: order.version + 1, chargebacks: decided };
}

const nothingToDecide = new Failure("not_allowed_now", "", "the case has no stage to answer");

/** Visa's compelling evidence 3.0 takes payments of this age at the time of the dispute. */
const evidenceDays = [120, 365] as const;

export function evidencePeriod({ at }: Pick<Chargeback, "at">) {
  const [least, most] = evidenceDays;
  return { from: later(at, -days(most)), until: later(at, -days(least)) };
}

export type EvidenceMatch = "ip" | "email" | "phone" | "address";

/** A payment of another card, one that charged nothing, or a disputed one proves nothing. */
export function sharedWith(order: Order, earlier: Order): readonly EvidenceMatch[] | undefined {
  const isSameCard = order.card.hashId !== "" && earlier.card.hashId === order.card.hashId;
  const isApproved = totalsOf(earlier).charged.minor > 0n && earlier.id !== order.id;
  if (!isSameCard || !isApproved || (earlier.chargebacks ?? []).length > 0) return undefined;
  const [own, other] = [tracesOf(order), tracesOf(earlier)];
  const shared = own.flatMap(([name, value], at) =>
    value !== "" && value === other[at]?.[1] ? [name] : [],
  );
  return shared.length > 0 ? shared : undefined;
}

function tracesOf({ purchase: { customer, ipAddress } }: Order) {
  const { email = "", phone = "", address = "", zipCode = "", city = "" } = customer;
  const digits = phone.replaceAll(/\D/g, "");
  const place = address === "" ? "" : fold(`${address} ${zipCode} ${city}`);
  return [
    ["ip", ipAddress],
    ["email", fold(email)],
    ["phone", digits],
    ["address", place],
  ] as const satisfies readonly (readonly [EvidenceMatch, string])[];
}

function fold(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}@.]+/gu, " ")
    .trim();
}

/** Visa's reason 10.4 takes two payments, each with the same IP address and one more fact. */
export function isCompelling(
  { network }: Pick<Order["card"], "network">,
  dispute: Pick<Chargeback, "reason">,
  shared: readonly (readonly EvidenceMatch[])[],
): boolean {
  if (network !== "VISA" || reasonCodeOf(dispute) !== "10.4") return false;
  return shared.filter((each) => each.includes("ip") && each.length > 1).length >= 2;
}
