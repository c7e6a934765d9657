/**
 * Compares one day of the gateway's books, what the acquirer has approved on that UTC day, with the
 * acquirer's settlement file, or sums the day up for the host to compare. Lines and items are
 * matched by reference and direction. What remains of a reference on both sides is compared by its
 * sum, because an acquirer may drop a charge that was reversed before clearing, or present the two
 * as one.
 */
import type { Order } from "../orders/order.ts";
import {
  type DayTotals,
  referencesOf,
  type SettlementItem,
  type SettlementKind,
  type Sums,
  settlementItemsOf,
  settlementKinds,
} from "../orders/settlement-items.ts";
import type { GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { isSameMoney, type Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { SettlementLine } from "./acquirer-file.ts";

export type Period = {
  readonly from: Instant;
  readonly until: Instant;
  /** How far the clocks of gateway and acquirer may put a transaction beyond the day's edges. */
  readonly windowMs: number;
};

export type Neighbour = "previous" | "next";

type DifferenceKind =
  | "missing here"
  | "missing there"
  | "different amount"
  | "different currency"
  | "duplicate"
  | "other day";

export type Difference = {
  readonly kind: DifferenceKind;
  readonly reference: string;
  readonly what: SettlementKind;
  /** The amounts in the gateway's books and in the acquirer's file. */
  readonly here: Money | undefined;
  readonly there: Money | undefined;
  readonly line: number | undefined;
  readonly order: Order | undefined;
};

export type Total = {
  readonly currency: string;
  readonly kind: SettlementKind;
  here: Sums;
  there: Sums;
};

export type Result = {
  readonly matched: number;
  /** Items at an edge of the day, which may be in a neighbouring day's file that was not given. */
  readonly awaited: number;
  /** Lines and items whose sums agree although they do not match one by one. */
  readonly offset: number;
  readonly differences: readonly Difference[];
  readonly totals: readonly Total[];
};

/** More lines without a counterpart mean that the file belongs to another gate or day. */
export const unmatchedMax = 100_000;
export class TooManyUnmatched extends Error {}

type Options = {
  readonly gateId: GateId;
  readonly period: Period;
  readonly neighbours: readonly Neighbour[];
  readonly findOrder: (reference: string) => Promise<Order | undefined>;
};

type Edge = Neighbour | undefined;
type Expected = Pick<SettlementItem, "kind" | "money" | "isOptional"> & {
  /** Whether the item belongs to the day itself, and not to a neighbour within the window. */
  readonly isOwn: boolean;
  readonly edge: Edge;
};

export type Reconciliation = ReturnType<typeof makeReconciliation>;

export function makeReconciliation(options: Options) {
  const expected = new Map<string, Expected[]>();
  const unmatched = new Map<string, SettlementLine[]>();
  const totals = new Map<string, Total>();
  /** Items near an edge that the day's own file has matched. A neighbour's file must lack them. */
  const matchedAtEdge = new Map<string, Expected[]>();
  const inBoth: SettlementLine[] = [];
  const counts = { matched: 0, unmatched: 0 };

  return {
    /** Adds an order that may have an item in the period. All orders are added before any line. */
    expect(order: Order): void {
      for (const item of settlementItemsOf(order)) {
        const { at, gateId, reference, kind, money, isOptional } = item;
        if (gateId !== options.gateId || !isNear(at, options.period)) continue;
        const isOwn = at >= options.period.from && at < options.period.until;
        const edge = edgeOf(at, options.period);
        const own = { kind, money, isOptional, isOwn, edge };
        put(expected, reference, own);
        if (isOwn && !isOptional) count(kind, money, "here");
      }
    },

    /** Adds a line of the day's own file, after all orders. */
    take(line: SettlementLine): void {
      count(line.kind, line.money, "there");
      const item = take(expected, line);
      if (item !== undefined) {
        counts.matched += 1;
        if (item.edge !== undefined) put(matchedAtEdge, line.reference, item);
        return;
      }
      counts.unmatched += 1;
      if (counts.unmatched > unmatchedMax) throw new TooManyUnmatched();
      put(unmatched, line.reference, line);
    },

    /** Adds a line of a neighbouring day's file. It can only match items near that edge. */
    takeNeighbour(line: SettlementLine, neighbour: Neighbour): void {
      if (take(expected, line, neighbour) !== undefined) return;
      if (take(matchedAtEdge, line, neighbour) !== undefined) inBoth.push(line);
    },

    /** Returns the totals of the day itself, for hosts that compare sums. */
    totals: () => sortTotals(totals),

    finish: () =>
      finish({ ...options, expected, unmatched, inBoth, totals, matched: counts.matched }),
  };

  function count(kind: SettlementKind, { minor, currency }: Money, side: "here" | "there"): void {
    const key = `${currency.code} ${kind}`;
    const none = () => ({ count: 0, minor: 0n });
    const total = totals.get(key) ?? { currency: currency.code, kind, here: none(), there: none() };
    totals.set(key, total);
    const sums = total[side];
    total[side] = { count: sums.count + 1, minor: sums.minor + minor };
  }
}

function put<Each>(lists: Map<string, Each[]>, reference: string, each: Each): void {
  const same = lists.get(reference);
  if (same === undefined) lists.set(reference, [each]);
  else same.push(each);
}

/** Removes the item of a line. With `edge`, only an item near that edge. */
function take(
  lists: Map<string, Expected[]>,
  { reference, kind, money }: SettlementLine,
  edge?: Neighbour,
): Expected | undefined {
  const items = lists.get(reference) ?? [];
  const at = items.findIndex(
    (item) =>
      settlementKinds[item.kind] === settlementKinds[kind] &&
      isSameMoney(item.money, money) &&
      (edge === undefined || item.edge === edge),
  );
  if (at < 0) return undefined;
  const [item] = items.splice(at, 1);
  if (items.length === 0) lists.delete(reference);
  return item;
}

function isNear(at: Instant, { from, until, windowMs }: Period): boolean {
  return at >= from - windowMs && at < until + windowMs;
}

function edgeOf(at: Instant, { from, until, windowMs }: Period): Edge {
  if (at < from + windowMs) return "previous";
  return at >= until - windowMs ? "next" : undefined;
}

type Remains = Options & {
  readonly expected: ReadonlyMap<string, readonly Expected[]>;
  readonly unmatched: ReadonlyMap<string, readonly SettlementLine[]>;
  readonly inBoth: readonly SettlementLine[];
  readonly totals: ReadonlyMap<string, Total>;
  readonly matched: number;
};

async function finish(remains: Remains): Promise<Result> {
  const differences: Difference[] = [];
  let [awaited, offset] = [0, 0];
  for (const reference of new Set([...remains.unmatched.keys(), ...remains.expected.keys()])) {
    const lines = remains.unmatched.get(reference) ?? [];
    const items = remains.expected.get(reference) ?? [];
    const open = items.filter((item) => isAwaited(item, remains.neighbours));
    const required = items.filter((item) => isRequired(item, remains.neighbours));
    awaited += open.length;
    if (lines.length === 0 && required.length === 0) continue;
    const order = await remains.findOrder(reference);
    const own = order && isKnown(order, reference) ? order : undefined;
    if (sumsAgree(lines, required) && own !== undefined) {
      offset += lines.length + required.length;
    } else {
      const rest = { ...remains, reference, items, required, order: own };
      differences.push(...compare(lines, rest));
    }
  }
  for (const { reference, kind: what, money: there } of remains.inBoth) {
    const order = await remains.findOrder(reference);
    const nothing = { here: undefined, line: undefined };
    differences.push({ kind: "duplicate", reference, what, there, ...nothing, order });
  }
  const totals = sortTotals(remains.totals);
  return { matched: remains.matched, awaited, offset, differences, totals };
}

function sortTotals(totals: ReadonlyMap<string, Total>): readonly Total[] {
  return [...totals.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf({ currency, kind }: Total): string {
  return `${currency} ${kind}`;
}

function isKnown(order: Order, reference: string): boolean {
  return referencesOf(order).includes(reference);
}

/** Returns whether all files that may contain the item were read, so that it is missing in them. */
function isRequired({ isOptional, isOwn, edge }: Expected, read: readonly Neighbour[]): boolean {
  if (isOptional) return false;
  return edge === undefined ? isOwn : read.includes(edge);
}

function isAwaited({ isOptional, isOwn, edge }: Expected, read: readonly Neighbour[]): boolean {
  return !isOptional && isOwn && edge !== undefined && !read.includes(edge);
}

type Moved = Pick<SettlementLine, "kind" | "money">;

function sumsAgree(lines: readonly Moved[], items: readonly Moved[]): boolean {
  const currencies = new Set([...lines, ...items].map(({ money }) => money.currency.code));
  return currencies.size === 1 && sumOf(lines) === sumOf(items);
}

function sumOf(moved: readonly Moved[]): bigint {
  return moved.reduce((sum, { kind, money }) => {
    return settlementKinds[kind] === "debit" ? sum + money.minor : sum - money.minor;
  }, 0n);
}

type Rest = Pick<Options, "gateId" | "period"> & {
  readonly reference: string;
  readonly items: readonly Expected[];
  readonly required: readonly Expected[];
  readonly order: Order | undefined;
};

function compare(lines: readonly SettlementLine[], rest: Rest): readonly Difference[] {
  const { order, reference, required } = rest;
  const others = rest.items.filter((item) => !required.includes(item));
  const left = [...required, ...others];
  const differences = lines.map((line): Difference => {
    const { kind: what, money: there } = line;
    const at = left.findIndex((item) => settlementKinds[item.kind] === settlementKinds[what]);
    const [item] = at < 0 ? [] : left.splice(at, 1);
    const kind = item === undefined ? strayKind(line, rest) : differenceIn(item.money, there);
    return { kind, reference, what, here: item?.money, there, line: line.line, order };
  });
  const missing = required.filter((item) => left.includes(item));
  const nothing = { there: undefined, line: undefined };
  return [
    ...differences,
    ...missing.map(({ kind: what, money: here }): Difference => {
      return { kind: "missing there", reference, what, here, ...nothing, order };
    }),
  ];
}

function differenceIn(here: Money, there: Money): DifferenceKind {
  return here.currency.code === there.currency.code ? "different amount" : "different currency";
}

/** Describes a line without an item: a duplicate, or a line of another day or of no order. */
function strayKind(line: SettlementLine, { order, gateId, period }: Rest): DifferenceKind {
  const same = (order === undefined ? [] : settlementItemsOf(order)).filter(
    (item) =>
      item.reference === line.reference &&
      item.gateId === gateId &&
      settlementKinds[item.kind] === settlementKinds[line.kind] &&
      isSameMoney(item.money, line.money),
  );
  if (same.length === 0) return "missing here";
  return same.some(({ at }) => isNear(at, period)) ? "duplicate" : "other day";
}

/**
 * Makes the totals of exactly one day of a gate as a host compares them: per currency, sales and
 * captures, their reversals, and refunds. Neither holds nor chargebacks are in them, nor charges
 * that were reversed because their answer was lost.
 */
export function makeDayTotals(gateId: GateId, { from, until }: Omit<Period, "windowMs">) {
  const period = { from, until, windowMs: 0 };
  const findOrder = async () => undefined;
  const { expect, totals } = makeReconciliation({ gateId, period, neighbours: [], findOrder });
  return { expect, totals: (others?: readonly string[]) => dayTotalsOf(totals(), others) };
}

/** `others` are currencies for which the host is asked even if nothing has moved in them. */
export function dayTotalsOf(
  totals: readonly Total[],
  others: readonly string[] = [],
): readonly DayTotals[] {
  const codes = new Set([...totals.map(({ currency }) => currency), ...others]);
  return [...codes].sort().map((code) => {
    const of = (...kinds: readonly SettlementKind[]) =>
      sum(totals.filter(({ currency, kind }) => currency === code && kinds.includes(kind)));
    return {
      currency: getCurrency(code),
      credits: of("refund", "payout"),
      debits: of("sale", "capture"),
      debitReversals: of("reversal"),
    };
  });
}

function sum(totals: readonly Total[]): Sums {
  return totals.reduce<Sums>(
    ({ count, minor }, { here }) => ({ count: count + here.count, minor: minor + here.minor }),
    { count: 0, minor: 0n },
  );
}
