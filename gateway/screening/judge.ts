/**
 * Judges a payment by the configured rules before its order is committed. A payment is counted
 * before it is judged, so that each of several concurrent payments, at any nodes, sees the ones
 * counted earlier.
 */
import type { Endpoint } from "../orders/merchant.ts";
import type { Answer, Finding, Order, Reason } from "../orders/order.ts";
import type { MerchantId, OrderId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { ListEntry, ListedOrder, Lists } from "./lists.ts";
import {
  type PaymentFacts,
  type PaymentResult,
  type Seen,
  type Subject,
  scopeOf,
  subjectOf,
  type Tally,
} from "./rule.ts";
import { type ActiveRule, type FindRuleSet, placeOf, type RuleSet } from "./rule-set.ts";
import { settle } from "./screen.ts";

export type CountedPayment = {
  readonly merchantId: MerchantId;
  readonly seen: Seen;
  /** Eight bytes that identify the merchant's request, and are the same for its repeats. */
  readonly request: Uint8Array;
  readonly rows: readonly TallyRow[];
};

export type TallyRow = {
  readonly owner: MerchantId;
  /** A keyed digest of the counted value, such as the email address, formatted as a UUID. */
  readonly key: string;
  readonly keepUntil: Instant;
};

export type TallyStore = {
  /** Counts the payment, unless it repeats a request, and returns the tally of each row. */
  add(payment: CountedPayment): Promise<readonly Tally[]>;
  remove(payment: CountedPayment): Promise<void>;
  /** Returns results of stored orders only. Concurrent calls share one database query. */
  findResults(
    merchant: MerchantId,
    orders: readonly OrderId[],
  ): Promise<ReadonlyMap<OrderId, PaymentResult>>;
};

export type JudgeDependencies = {
  readonly findRuleSet: FindRuleSet;
  readonly store: TallyStore;
  readonly lists: Pick<Lists, "find" | "size">;
  readonly findIpCountry: PaymentFacts["findIpCountry"];
  readonly digestSubject: (text: string) => Buffer;
  /** Returns the number of the key for digests, which changes when the key is replaced. */
  readonly countingKey?: () => number;
  /** Called when a counted payment was not made, and could not be removed from the counters. */
  readonly onUndoFailed: (order: Order, error: unknown) => void;
};

/**
 * A payment with the facts that rules and lists need besides its order. `card` is a digest of the
 * card number, the same at all merchants; `cardNames` has the digests by the old and the new key
 * while the fingerprint key is being replaced; `prefix` has more digits of the card number than the
 * order stores.
 */
type Judged = {
  readonly order: Order;
  readonly card: string | undefined;
  readonly cardNames?: ListedOrder["cardNames"];
  readonly prefix?: string | undefined;
  readonly request: Uint8Array;
};

/**
 * `undo` removes the payment from the counters. `isGuess` is set for a request that seems to guess
 * a card number: the response to it must not depend on the number.
 */
export type Screened = {
  readonly findings: readonly Finding[];
  readonly undo: () => Promise<void>;
  readonly isGuess?: true;
};

/** Judges an approval by the issuer's answer. Returns undefined if no rule fires. */
export type JudgeApproval = (order: Order, answer: Answer) => JudgedApproval | undefined;
type JudgedApproval = { readonly findings: readonly Finding[]; readonly reason?: Reason };

export function makeJudgeApproval({
  findRuleSet,
  findIpCountry,
}: Pick<JudgeDependencies, "findRuleSet" | "findIpCountry">): JudgeApproval {
  return (order, answer) => {
    const rules = findRuleSet(order.endpointId)?.rules.filter((rule) => rule.judge.judgesApprovals);
    if (rules === undefined || rules.length === 0) return undefined;
    const judged = { ...order, transaction: { ...order.transaction, answer } };
    const resultOf = () => "open" as const;
    const facts = {
      order: judged,
      at: answer.processedAt,
      card: undefined,
      findIpCountry,
      resultOf,
    };
    const fired = rules.flatMap((rule) => findingOf(rule, facts) ?? []);
    if (fired.length === 0) return undefined;
    // The approval is there: nothing can force an authentication any more.
    const { kept, reason } = settle(fired, { isAllowed: order.transaction.isAllowed === true });
    return { findings: kept.findings ?? [], ...(reason && { reason }) };
  };
}

/** An order that is not committed within this time after it was counted never will be. */
const uncommittedMs = 60_000;

export function makeJudgePayment(dependencies: JudgeDependencies) {
  const { findRuleSet, store, lists, findIpCountry, onUndoFailed } = dependencies;
  const keyOf = makeKeyOf(dependencies.digestSubject, dependencies.countingKey);
  return (order: Order, digestsOf: () => Omit<Judged, "order">): Promise<Screened> | undefined => {
    const set = findRuleSet(order.endpointId) ?? (lists.size === 0 ? undefined : noRules);
    // A payment whose wallet data was refused is not judged.
    if (set === undefined || order.purchase.wallet?.refusal !== undefined) return undefined;
    return judge(set, { order, ...digestsOf() });
  };

  async function judge(set: RuleSet, judged: Judged): Promise<Screened> {
    const { merchantId, acceptedAt: at } = judged.order;
    const places = placesOf(set, judged);
    const payment = paymentOf(judged, places.flat());
    const counted = payment.rows.length === 0 ? [] : await store.add(payment);
    const tallies = inPlaces(places, counted);

    let known: ReadonlyMap<OrderId, PaymentResult> = new Map();
    const resultOf = ({ orderId, at: seenAt }: Seen) => {
      // A counted payment with the id of the judged order is an earlier try on its payment page. A
      // page accepts another try only after a refusal, so the earlier try counts as declined.
      if (orderId === judged.order.id) return "declined";
      return known.get(orderId) ?? (at - seenAt < uncommittedMs ? "open" : "other");
    };
    const facts = { order: judged.order, at, card: judged.card, findIpCountry, resultOf };
    const factsOf = tallies.map((tally): PaymentFacts => ({ ...facts, tally }));
    const factsFor = ({ tally = -1 }: ActiveRule) => factsOf[tally] ?? facts;
    const asked = set.rules.flatMap((rule) => rule.judge.asks?.(factsFor(rule)) ?? []);
    if (asked.length > 0) {
      const ids = [...new Set(asked.map(({ orderId }) => orderId))];
      known = await store.findResults(merchantId, ids);
    }
    const findings = [
      ...findListed(judged),
      ...set.rules.flatMap((rule) => findingOf(rule, factsFor(rule)) ?? []),
    ];
    const undo = () =>
      store.remove(payment).catch((error: unknown) => onUndoFailed(judged.order, error));
    return { findings, undo };
  }

  /** Lists apply even if no rule is active. */
  function findListed({ order, card, cardNames = [], prefix }: Judged): readonly Finding[] {
    if (lists.size === 0) return [];
    const { merchantId, endpointId, acceptedAt, purchase, card: facts } = order;
    const named = { merchantId, endpointId, acceptedAt, purchase, card: facts };
    const entry = lists.find({ ...named, cardDigest: card, cardNames, prefix });
    return entry === undefined ? [] : [findingOfEntry(entry)];
  }

  /**
   * Returns the counter rows of each tally; none if the payment lacks the counted value. While the
   * fingerprint key is being replaced, a card has a row under each key, because some nodes know
   * only the old one.
   */
  function placesOf(
    { tallies }: RuleSet,
    { order, card, cardNames = [] }: Judged,
  ): readonly (readonly TallyRow[])[] {
    const cards = cardNames.length === 0 ? [card] : cardNames.map(({ digest }) => digest);
    return tallies.map(({ per, place, owner, keepMs }) => {
      const values = per === "card" ? cards : [subjectOf(per, order, card)];
      return values.flatMap((value) => {
        if (value === undefined) return [];
        const key = keyOf(place, per, value);
        return [{ owner, key, keepUntil: (order.acceptedAt + keepMs) as Instant }];
      });
    });
  }
}

const noRules: RuleSet = { rules: [], tallies: [] };

/** The finding names the list entry by its id, because the entry's value may identify a person. */
function findingOfEntry(entry: ListEntry): Finding {
  const { id, list, kind, merchantId, endpointId } = entry;
  return {
    rule: id,
    kind: "list",
    scope: scopeOf({ merchantId, endpointId }),
    action: list,
    code: "blocked_by_list",
    facts: { list, of: kind, entry: id },
  };
}

/**
 * Returns a function that makes the key of a counter row: a digest of place (the cell, a merchant
 * or an endpoint), kind of value, and value. A card is a digest already, so it is only joined to
 * the digest of its place.
 */
function makeKeyOf(digest: JudgeDependencies["digestSubject"], countingKey = () => 0) {
  /** Cached digests of the places where cards are counted: the cell, merchants and endpoints. */
  const places = new Map<string, string>();
  let placedBy = countingKey();
  return (place: string, per: Subject, value: string): string => {
    if (placedBy !== countingKey()) places.clear();
    placedBy = countingKey();
    if (per !== "card") return uuidOf(digest(`${place}\n${per}\n${value}`).toString("hex", 0, 16));
    const known = places.get(place) ?? digest(`${place}\n${per}`).toString("hex", 0, 8);
    places.set(place, known);
    return uuidOf(known + value);
  };
}

/** Returns all counter rows that may include payments of the card or email address. */
export function tallyRowsOf(
  per: Subject,
  value: string,
  {
    endpoints,
    digestSubject,
  }: {
    readonly endpoints: readonly Endpoint[];
    readonly digestSubject: JudgeDependencies["digestSubject"];
  },
): readonly Pick<TallyRow, "owner" | "key">[] {
  const scopes = ["gateway", "merchant", "endpoint"] as const;
  const places = endpoints.flatMap((each) => scopes.map((scope) => placeOf(scope, each)));
  const keyOf = makeKeyOf(digestSubject);
  const owners = new Map(places.map(({ place, owner }) => [place, owner]));
  return [...owners].map(([place, owner]) => {
    return { owner, key: keyOf(place, per, value) };
  });
}

export function uuidOf(hex: string): string {
  const [first, second, third] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16)];
  return `${first}-${second}-${third}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function paymentOf({ order, card = "", request }: Judged, rows: readonly TallyRow[]) {
  const { id: orderId, merchantId, acceptedAt: at, transaction } = order;
  const { minor, currency } = transaction.amount;
  const seen = { orderId, at, minor, currency: currency.code, card };
  return { merchantId, seen, request, rows };
}

/**
 * Returns one tally for each value that the rules count. While the fingerprint key is being
 * replaced, a card has a tally under each key. The tally that began earlier has all payments and is
 * returned.
 */
function inPlaces(
  places: readonly (readonly TallyRow[])[],
  counted: readonly Tally[],
): readonly (Tally | undefined)[] {
  let next = 0;
  return places.map((rows) => {
    const own = counted.slice(next, next + rows.length);
    next += rows.length;
    return own.reduce<Tally | undefined>(
      (first, each) => (first === undefined || each.firstAt <= first.firstAt ? each : first),
      undefined,
    );
  });
}

function findingOf(rule: ActiveRule, facts: PaymentFacts): Finding | undefined {
  const judgement = rule.judge.judge(facts);
  if (judgement === undefined) return undefined;
  const { id, kind, scope, action } = rule;
  const named = { rule: id, kind, scope };
  return "missing" in judgement ? { ...named, ...judgement } : { ...named, action, ...judgement };
}
