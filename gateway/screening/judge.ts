/**
 * Judges a payment by the configured rules, before its order is committed. The payment is counted
 * first: each of several at the same moment, at any node, then knows the ones before it. Without
 * rules nothing is read or written.
 */
import type { Endpoint } from "../orders/merchant.ts";
import type { Finding, Order } from "../orders/order.ts";
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

/** The payment with the rows that count it, of the merchant or of the whole cell. */
export type CountedPayment = {
  readonly merchantId: MerchantId;
  readonly seen: Seen;
  /** Eight bytes: the same for a repeat of the same request. */
  readonly request: Uint8Array;
  readonly rows: readonly TallyRow[];
};

export type TallyRow = {
  readonly owner: MerchantId;
  /** A keyed digest of what is counted, as a UUID. */
  readonly key: string;
  readonly keepUntil: Instant;
};

export type TallyStore = {
  /** Counts the payment; answers what each row has. Counted twice by a repeated try, it is one. */
  add(payment: CountedPayment): Promise<readonly Tally[]>;
  remove(payment: CountedPayment): Promise<void>;
  /** Also those that others ask for at the same moment. Orders that are not stored have none. */
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
  /** Names the key of the digests. */
  readonly countingKey?: () => number;
  /** Called when a count could not be taken back: the counter keeps a payment that was not made. */
  readonly onUndoFailed: (order: Order, error: unknown) => void;
};

/**
 * `card`: a digest of the number, the same at all merchants; `cardNames`: the card by several keys,
 * while one is being replaced. `prefix`: its first digits, more than the order has. `request`: a
 * digest of the request.
 */
type Judged = {
  readonly order: Order;
  readonly card: string | undefined;
  readonly cardNames?: ListedOrder["cardNames"];
  readonly prefix?: string | undefined;
  readonly request: Uint8Array;
};

/**
 * `undo` takes the payment back from what is counted. `isGuess`: card numbers are being searched
 * for, and no answer may depend on the number.
 */
export type Screened = {
  readonly findings: readonly Finding[];
  readonly undo: () => Promise<void>;
  readonly isGuess?: true;
};

/** An order is committed within this time after it was counted, or never. */
const uncommittedMs = 60_000;

export function makeJudgePayment(dependencies: JudgeDependencies) {
  const { findRuleSet, store, lists, findIpCountry, onUndoFailed } = dependencies;
  const keyOf = makeKeyOf(dependencies.digestSubject, dependencies.countingKey);
  /** Returns undefined when no rule is on and the lists are empty. */
  return (order: Order, digestsOf: () => Omit<Judged, "order">): Promise<Screened> | undefined => {
    const set = findRuleSet(order.endpointId) ?? (lists.size === 0 ? undefined : noRules);
    // A wallet's payment data that was refused is no payment.
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
      // A new try on the payment page: those before it were refused.
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

  /** The lists count without being switched on; an entry has no number of a rule but its own. */
  function findListed({ order, card, cardNames = [], prefix }: Judged): readonly Finding[] {
    if (lists.size === 0) return [];
    const { merchantId, endpointId, acceptedAt, purchase, card: facts } = order;
    const named = { merchantId, endpointId, acceptedAt, purchase, card: facts };
    const entry = lists.find({ ...named, cardDigest: card, cardNames, prefix });
    return entry === undefined ? [] : [findingOfEntry(entry)];
  }

  /**
   * The rows of each tally; none where the payment does not have what is counted. A card whose key
   * is being replaced is counted by both: a node may know the old one alone.
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

/** The value may be a person's: the operator finds it by the entry. */
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
 * The key of a row is a digest. A card has one already: the digest of the place is put before
 * it, which is the same for all cards.
 */
function makeKeyOf(digest: JudgeDependencies["digestSubject"], countingKey = () => 0) {
  /** Has one entry for each merchant and endpoint. */
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

/** Every row that may count the payments of a card or an email, wherever they were made. */
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

/** Makes a UUID from 32 hexadecimal digits. */
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
 * Chooses one row for each place: the row of a card that began first has all its payments. Among
 * equals the last row counts.
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
