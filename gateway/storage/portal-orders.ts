/**
 * What the portal reads of one cell: pages of orders by filters, figures, callbacks. Pages go on
 * after a key, never by a count. A filter first looks through the latest orders in their order; if
 * those have too few of it, the index of words has few enough to sort.
 */
import type { Figure } from "../portal-api/order-index.ts";
import type {
  CallbackQuery,
  OrderLineRow,
  OrderListQuery,
  Point,
  StoredCallback,
} from "../portal-api/reads.ts";
import type { Instant } from "../values/time.ts";
import { isHere } from "./cells.ts";
import type { Query } from "./database.ts";
import type { Grain } from "./order-index.ts";

/** So many are filtered one by one before the index of words is asked. */
const scannedMax = 10_000;

const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const columns = `merchant_id as "merchantId", order_id as "orderId", ${milliseconds("at")} as at,
  endpoint_id as "endpointId", client_orderid as "clientOrderId", kind, stage, status, reason,
  threeds, amount::float8 as amount, currency, network, last_four as "lastFour", email, gate,
  reference`;

/** The latest first. */
export async function findOrderLines(
  query: Query,
  asked: OrderListQuery,
): Promise<readonly OrderLineRow[]> {
  const { merchantId, from, until, after, limit } = asked;
  const groups = asked.words.filter((group) => group.length > 0);
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const moment = (value: number) => `to_timestamp(${place(value)}::float8 / 1000)`;
  const range = [
    ...(merchantId === undefined ? [isHere] : [`merchant_id = ${place(merchantId)}`]),
    ...(from === undefined ? [] : [`at >= ${moment(from)}`]),
    ...(until === undefined ? [] : [`at < ${moment(until)}`]),
    ...(after === undefined
      ? []
      : [`(at, order_id) < (${moment(after.at)}, ${place(after.orderId)}::bigint)`]),
  ].join(" and ");
  const latest = "order by at desc, order_id desc";
  if (groups.length === 0) {
    // Inside, `at` is the column of the index; outside, it is the result's.
    const page = `select * from order_index where ${range} ${latest} limit ${limit}`;
    const plain = `select ${columns} from (${page}) as page order by page.at desc, order_id desc`;
    return query<OrderLineRow>(plain, values);
  }
  const matches = groups.map((group) => `words && ${place(group)}::text[]`).join(" and ");
  // Rows that were looked at are counted, so that few found among few are all there are.
  const recent = await query<OrderLineRow & { readonly scanned: number }>(
    `with recent as materialized (
       select * from order_index where ${range} ${latest} limit ${scannedMax}
     ), found as (select * from recent where ${matches} ${latest} limit ${limit})
     select ${columns}, (select count(*)::int from recent) as scanned from found
     union all
     select ${nothing}, (select count(*)::int from recent) where not exists (select from found)
     order by at desc, "orderId" desc`,
    values,
  );
  const found = recent.filter(({ orderId }) => orderId !== null);
  const isAll = (recent[0]?.scanned ?? 0) < scannedMax;
  if (found.length >= limit || isAll) return found.map(({ scanned: _, ...row }) => row);
  return query<OrderLineRow>(
    `with matching as materialized (select * from order_index where ${matches} and ${range})
     select ${columns} from matching ${latest} limit ${limit}`,
    values,
  );
}

const nothing = `null::bigint, null::bigint, null::float8, null::bigint, null, null, null, null,
  null, null, null::float8, null, null, null, null, null, null`;

type FigureQuery = { readonly merchantId: string; readonly grain: Grain; readonly since: Instant };

export function findFigures(query: Query, { merchantId, grain, since }: FigureQuery) {
  return query<Point & Figure>(
    `select ${milliseconds("at")} as at, name, key, count::float8 as count from order_figures
     where merchant_id = $1 and grain = $2 and at >= to_timestamp($3::float8 / 1000)
       and name in ('outcome', 'amount')
     order by at`,
    [merchantId, grain, since],
  );
}

/** Sums over the range; those of a merchant that has moved here may be below zero. */
export function sumFigures(query: Query, { merchantId, grain, since }: FigureQuery) {
  return query<Figure>(
    `select name, key, sum(count)::float8 as count from order_figures
     where merchant_id = $1 and grain = $2 and at >= to_timestamp($3::float8 / 1000)
     group by name, key`,
    [merchantId, grain, since],
  );
}

/** Callbacks that were refused or unanswered and are tried again. */
export async function countFailingCallbacks(query: Query, merchantId: string | undefined) {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from callbacks
     where due_at is not null and tries > 0 and ($1::bigint is null or merchant_id = $1)
       and ${isHere}`,
    [merchantId ?? null],
  );
  return row?.count ?? 0;
}

export function findCallbackPage(query: Query, asked: CallbackQuery) {
  const { merchantId, orderId, state, after, limit } = asked;
  return query<StoredCallback>(
    `select merchant_id as "merchantId", order_id as "orderId", sequence, url,
       coalesce(ended, 'due') as state, tries, ${milliseconds("made_at")} as "madeAt",
       ${milliseconds("due_at")} as "nextAt", ${milliseconds("ended_at")} as "endedAt"
     from callbacks
     where ($1::bigint is null or merchant_id = $1)
       and ($2::text is null or coalesce(ended, 'due') = $2)
       and ($3::float8 is null
         or (made_at, order_id, sequence) < (to_timestamp($3::float8 / 1000), $4::bigint, $5::int))
       and ($7::bigint is null or order_id = $7) and ${isHere}
     order by made_at desc, order_id desc, sequence desc limit $6`,
    [
      ...[merchantId ?? null, state ?? null, after?.at ?? null, after?.orderId ?? null],
      ...[after?.sequence ?? null, limit, orderId ?? null],
    ],
  );
}
