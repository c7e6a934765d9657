/**
 * The data for comparing orders with an acquirer's books: earlier results, the orders that a
 * comparison reads, and chargebacks by date.
 */
import type { Chargeback, Order } from "../../orders/order.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell, isHere } from "../cells/cells.ts";
import { openIds } from "../orders/find-orders.ts";
import { type OrderRow, orderColumns, unpackOrder } from "../orders/order-row.ts";
import type { Database, Query } from "../server/database.ts";

const time = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;

const differencesMax = 1_000;

type Result = {
  readonly gate: string;
  readonly day: string;
  readonly agrees: boolean;
  readonly matched?: number;
  readonly differences?: readonly object[];
  readonly totals: readonly object[];
};

type ReconciliationRow = {
  readonly gate: string;
  readonly day: string;
  readonly way: "file" | "totals";
  readonly at: number;
  readonly by: string;
  readonly agrees: boolean;
  readonly matched: number;
  readonly differences: number;
};

type WithResult = ReconciliationRow & {
  readonly result: { readonly differences: readonly KeptDifference[] };
};
type KeptDifference = Readonly<Record<"kind" | "reference", string>> & {
  readonly here?: string;
  readonly there?: string;
};

/** Replaces the earlier comparison of the gate and day. */
export async function putReconciliation(
  query: Query,
  way: ReconciliationRow["way"],
  by: string,
  { gate, day, agrees, matched = 0, differences = [], totals }: Result,
): Promise<void> {
  const kept = { totals, differences: differences.slice(0, differencesMax) };
  await query(
    `insert into reconciliations (day, gate, way, by, agrees, matched, differences, result)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (day, gate, way) do update set at = now(), by = excluded.by,
       agrees = excluded.agrees, matched = excluded.matched, differences = excluded.differences,
       result = excluded.result`,
    [day, gate, way, by, agrees, matched, differences.length, JSON.stringify(kept)],
  );
}

const selected = `select to_char(day, 'YYYY-MM-DD') as day, gate, way, by, agrees, matched,
  differences, (extract(epoch from at) * 1000)::float8 as at`;

export type ReconciliationReads = ReturnType<typeof makeReconciliationReads>;

export function makeReconciliationReads(query: Query) {
  return {
    list: (filter: ReconciliationFilter) => listReconciliations(query, filter),
    find: (day: Parameters<typeof findReconciliation>[1]) => findReconciliation(query, day),
  };
}

type ReconciliationFilter = {
  readonly gate: string | undefined;
  readonly after: Pick<ReconciliationRow, "day" | "gate" | "way"> | undefined;
  readonly limit: number;
};

function listReconciliations(
  query: Query,
  { gate, after, limit }: ReconciliationFilter,
): Promise<readonly ReconciliationRow[]> {
  return query<ReconciliationRow>(
    `${selected} from reconciliations
     where ($1::text is null or gate = $1)
       and ($2::date is null or (day, gate, way) < ($2::date, $3::text, $4::text))
     order by day desc, gate desc, way desc limit $5`,
    [gate ?? null, after?.day ?? null, after?.gate ?? null, after?.way ?? null, limit],
  );
}

export async function findReconciliation(
  query: Query,
  { gate, day, way }: { readonly gate: string; readonly day: string; readonly way: string | null },
): Promise<WithResult | undefined> {
  const [row] = await query<WithResult>(
    `${selected}, result from reconciliations
     where gate = $1 and day = $2::date and ($3::text is null or way = $3)
     order by at desc limit 1`,
    [gate, day, way],
  );
  return row;
}

const pageRows = 500;

/** May be called twice for the same stage: the second call inserts nothing. */
export async function indexChargeback(
  query: Query,
  { merchantId, id }: Order,
  { caseId, stage, amount, reason, at }: Chargeback,
  recordedAt: Instant,
): Promise<void> {
  await query(
    `insert into chargebacks (merchant_id, order_id, case_id, stage, amount, currency, reason,
       at, recorded_at)
     select $1, $2, $3, $4, $5, $6, $7, to_timestamp($8::float8 / 1000),
       to_timestamp($9::float8 / 1000) where ${assertHomeCell("= $1")}
     on conflict do nothing`,
    [
      ...[merchantId, id, caseId, stage, String(amount.minor), amount.currency.code, reason],
      ...[at, recordedAt],
    ],
  );
}

/** Lists stages of disputes, the latest first, each with its order. */
export async function listChargebacks(query: Query, since: Instant, most: number) {
  const rows = await query<OrderRow & { readonly case_id: string; readonly found_stage: string }>(
    `select ${orderColumns}, case_id, found_stage from orders join (
       select order_id, case_id, stage as found_stage, at as found_at, recorded_at from chargebacks
       where ${isHere} and at >= to_timestamp($1::float8 / 1000)
       order by at desc, order_id, recorded_at desc limit $2) as found on id = order_id
     order by found_at desc, id, recorded_at desc`,
    [since, most],
  );
  return rows.flatMap((row) => {
    const order = unpackOrder(row);
    const { chargebacks = [] } = order;
    const { case_id: caseId, found_stage: stage } = row;
    const dispute = chargebacks.find((each) => each.caseId === caseId && each.stage === stage);
    return dispute === undefined ? [] : [{ order, dispute }];
  });
}

type EarlierPayments = {
  readonly from: Instant;
  readonly until: Instant;
  /** The words to search for in the index of orders. An order must have all of them. */
  readonly words: readonly string[];
};

/**
 * Finds earlier orders of the merchant with the same card, by words, the latest first. The
 * statement searches the words before it looks at times, because PostgreSQL would read all orders
 * of the period otherwise.
 */
export async function findEarlierPayments(
  query: Query,
  { merchantId, card }: Pick<Order, "merchantId" | "card">,
  { from, until, words }: EarlierPayments,
  most: number,
): Promise<readonly Order[]> {
  const rows = await query<OrderRow>(
    `with named as materialized (
       select merchant_id, order_id, at from order_index where words @> $4::text[]
     )
     select ${orderColumns} from orders where ${isHere} and id in (
       select order_id from named
       where merchant_id = $1 and at >= ${time("$2")} and at <= ${time("$3")})
       and progress #>> '{card,hashId}' = $6
     order by accepted_at desc limit $5`,
    [merchantId, from, until, words, most, card.hashId],
  );
  return rows.map(unpackOrder);
}

/** Reads every order that moved money in the period, and some others, which the caller skips. */
export function readOrdersSettled(
  { transaction }: Pick<Database, "transaction">,
  { from, until }: { readonly from: Instant; readonly until: Instant },
  take: (order: Order) => void,
): Promise<void> {
  return transaction(async (query) => {
    await query("set transaction isolation level repeatable read, read only");
    for (const setting of settledPlanner) await query(`set local ${setting}`);
    await query(`declare settled no scroll cursor for ${settledStatement}`, [from, until]);
    for (let count = pageRows; count === pageRows; ) {
      const rows = await query<OrderRow>(`fetch ${pageRows} from settled`);
      for (const row of rows) take(unpackOrder(row));
      count = rows.length;
    }
  });
}

/** Makes PostgreSQL look up the orders of a day one by one, and never read the whole table. */
export const settledPlanner = [
  ...["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off", "enable_material=off"],
];

/**
 * Finds the orders that may have moved money in the period: those with a step since its beginning,
 * open ones, whose earlier transactions may have moved money, and disputed ones, because a dispute
 * comes months after the payment.
 */
export const settledStatement = `
select ${orderColumns} from orders
where ${isHere} and accepted_at < ${time("$2")} and id in (
  select order_id from order_history where at >= ${time("$1")}
  union select order_id from chargebacks where at >= ${time("$1")} and at < ${time("$2")}
  union ${openIds})`;
