/**
 * Shows what rules would have done to past orders. The orders are judged by the function that
 * judges live payments, in the order in which they came, with counters in memory. An earlier order
 * that had not ended when the judged one came counts as open.
 */
import { createHash } from "node:crypto";
import type { Finding, Order } from "../orders/order.ts";
import { isFinal } from "../orders/stages.ts";
import { initialOf } from "../orders/transactions.ts";
import type { OrderId } from "../values/ids.ts";
import { asInstant, type Instant } from "../values/time.ts";
import { type CountedPayment, makeJudgePayment, type TallyStore } from "./judge.ts";
import type { Lists } from "./lists.ts";
import type { PaymentResult, Seen, Tally } from "./rule.ts";
import type { FindRuleSet } from "./rule-set.ts";
import { canAuthenticate, settle } from "./screen.ts";

/** How many payments a counter keeps. Counters in the database keep as many. */
const recordsMax = 128;

export type Replayed = {
  readonly did: "blocked" | "forced" | "marked" | "passed";
  /** If a list allows the payment, all findings of rules only mark it, as for a live payment. */
  readonly findings: readonly Finding[];
};

type Sources = {
  readonly findRuleSet: FindRuleSet;
  readonly lists: Pick<Lists, "find" | "size">;
  readonly findIpCountry: (address: string) => string | undefined;
};

type Ended = { readonly at: Instant; readonly result: PaymentResult };

/** Orders must be of one cell and passed in the sequence of their acceptance. */
export function makeReplay(sources: Sources): (order: Order) => Promise<Replayed> {
  const ended = new Map<OrderId, Ended>();
  let now = asInstant(0);
  const judge = makeJudgePayment({
    ...sources,
    store: makeMemoryTallies((id) => {
      const known = ended.get(id);
      return known === undefined || known.at <= now ? known?.result : "open";
    }),
    digestSubject: (text) => createHash("sha256").update(text).digest(),
    onUndoFailed: () => undefined,
  });

  return async (order) => {
    now = order.acceptedAt;
    const asked = asAccepted(order);
    const card = order.card.hashId === "" ? undefined : `${order.merchantId}/${order.card.hashId}`;
    const request = Buffer.from(order.id.padStart(16, "0"), "latin1").subarray(-8);
    const judged = await judge(asked, () => ({ card, request }));
    const { reason, isForced, kept } = settle(judged?.findings ?? [], {
      isAuthenticable: canAuthenticate(asked),
    });
    ended.set(order.id, reason === undefined ? endOf(order) : { at: now, result: "other" });
    const { findings = [] } = kept;
    const isMarked = findings.some((each) => "action" in each);
    const did = reason ? "blocked" : isForced ? "forced" : isMarked ? "marked" : "passed";
    return { did, findings };
  };
}

function asAccepted(order: Order): Order {
  const initial = initialOf(order);
  const amount = initial.kind === "account-verification" ? initial.amount : order.purchase.amount;
  return {
    ...order,
    transaction: { ...initial, amount, authentication: undefined, stage: "filtering" },
    earlier: [],
  };
}

function endOf(order: Order): Ended {
  const { stage, finishedAt = asInstant(Number.POSITIVE_INFINITY) } = initialOf(order);
  if (stage === "approved" || stage === "declined") return { at: finishedAt, result: stage };
  return { at: finishedAt, result: isFinal(stage) ? "other" : "open" };
}

type Row = { readonly firstAt: Instant; readonly keepUntil: Instant; readonly seen: Seen[] };

function makeMemoryTallies(findResult: (order: OrderId) => PaymentResult | undefined): TallyStore {
  const rows = new Map<string, Row>();
  return {
    async add({ seen, rows: wanted }: CountedPayment): Promise<readonly Tally[]> {
      return wanted.map(({ owner, key, keepUntil }) => {
        const name = `${owner}/${key}`;
        const known = rows.get(name);
        const isOver = known === undefined || known.keepUntil < seen.at;
        const row = isOver ? { firstAt: seen.at, keepUntil, seen: [] } : known;
        const tally = {
          firstAt: row.firstAt,
          before: row.seen.toReversed(),
          isFull: row.seen.length >= recordsMax,
        };
        row.seen.push(seen);
        if (row.seen.length > recordsMax) row.seen.shift();
        rows.set(name, { ...row, keepUntil });
        return tally;
      });
    },
    remove: async () => undefined,
    async findResults(_, orders) {
      const known = orders.map((id) => [id, findResult(id)] as const);
      return new Map(known.flatMap(([id, result]) => (result === undefined ? [] : [[id, result]])));
    },
  };
}
