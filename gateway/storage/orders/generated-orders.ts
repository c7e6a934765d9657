/**
 * Makes many finished orders inside the database, for benchmarks and for `gw generate orders`:
 * copies of an existing order with other ids, times, amounts, cards and emails, as large and as
 * different as real ones. Their ids have sixteen digits, which no order of a gateway has (decision
 * 0055).
 */
import type { Query } from "../server/database.ts";

type Portion = {
  readonly template: string;
  readonly merchant: string;
  readonly from: number;
  readonly count: number;
  /** The length of the period in days, until now, over which the orders are spread. */
  readonly days: number;
  /** The number of orders of all portions together. */
  readonly total: number;
  /** Makes only orders whose number, divided by `of`, has one of the remainders `among`. */
  readonly rests?: { readonly of: number; readonly among: readonly number[] };
};

/** A condition for orders that were not generated. */
export const isOfGateway = "id not between 1000000000000000 and 9999999999999999";

const ids = "1000000000000000 + number * 1000000 + number * 7919 % 1000000";

/** Times are whole milliseconds, as in orders of gateways. */
const numbered = `
with numbered as materialized (
  select number, ${ids} as id, to_timestamp(ms / 1000.0) as at, ms,
    (100 + number * 7919 % 90000)::text as amount
  from generate_series($2::bigint, $2::bigint + $3::bigint - 1) as number,
    lateral (
      select floor(extract(epoch from now() - make_interval(
        secs => $4::float8 * 86400 * ($5::float8 - number) / $5::float8)) * 1000)::bigint as ms
    ) as time
  where number % $7::bigint = any($8::bigint[])
)`;

/** Adds a portion of orders. Their ids grow, as the ids of real orders do. */
export async function addOrders(query: Query, portion: Portion): Promise<void> {
  const { template, merchant, from, count, days, total, rests } = portion;
  const { of, among } = rests ?? { of: 1, among: [0] };
  for (const statement of [copyOrders, copyHistory, copyCards]) {
    await query(statement, [template, from, count, days, total, merchant, of, among]);
  }
}

/** Returns the latest approved and the latest declined real order, and the next unused number. */
export async function findTemplates(query: Query) {
  const templates = await query<{ template: string; merchant: string; stage: string }>(
    `select distinct on (stage) id as template, merchant_id as merchant, stage from orders
     where stage in ('approved', 'declined') and kind = 'sale' and ${isOfGateway}
     order by stage, id desc`,
  );
  const [row] = await query<{ next: string }>(
    `select coalesce(max((id - 1000000000000000) / 1000000), 0) + 1 as next from orders
     where not (${isOfGateway})`,
  );
  return { templates, next: Number(row?.next ?? 1) };
}

/** Makes the nodes index generated orders for the portal, from the order of this number on. */
export async function indexFrom(query: Query, number: number): Promise<void> {
  const before = 1_000_000_000_000_000n + BigInt(number) * 1_000_000n - 1n;
  // If a node is still indexing orders with lower ids, it continues where it is.
  await query("update order_index_progress set walked_id = least(walked_id, $1::bigint)", [before]);
}

const withIds = (column: string) =>
  `replace(${column}::text, template.id::text, numbered.id::text)::jsonb`;

const set = (document: string, changes: readonly (readonly [path: string, value: string])[]) =>
  changes.reduce(
    (text, [path, value]) => `jsonb_set(${text}, '{${path}}', ${value}, false)`,
    document,
  );

const money = "jsonb_build_array(numbered.amount, currency)";
const facts = set(withIds("facts"), [
  ["acceptedAt", "to_jsonb(ms)"],
  ["purchase,amount", money],
  ["purchase,customer,email", "to_jsonb('customer-' || number % 200000 || '@example.com')"],
]);
const progress = set(withIds("progress"), [
  ["card,lastFour", "to_jsonb(lpad((number * 31 % 10000)::text, 4, '0'))"],
  ["transaction,amount", money],
  ["transaction,finishedAt", "to_jsonb(ms + 40)"],
  ["transaction,identifiers,transmittedAt", "to_jsonb(ms + number % 7)"],
  ["transaction,identifiers,reference", "to_jsonb(lpad(number::text, 12, '0'))"],
  ["transaction,answer,processedAt", "to_jsonb(ms + 39)"],
]);

const copyOrders = `${numbered}
insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
  digest_key, changed_at, version, kind, stage, amount, currency, accepted_at, finished_at, facts,
  progress)
select merchant_id, numbered.id, endpoint_id, md5(number::text), 1, digest, digest_key, changed_at,
  version, kind, stage, numbered.amount::bigint, currency, at, at, (${facts})::json,
  (${progress})::json
from numbered, orders as template where template.id = $1 and merchant_id = $6 order by number`;

const copyHistory = `${numbered}
insert into order_history (merchant_id, order_id, version, at, node, events)
select merchant_id, numbered.id, template.version, numbered.at, node, events
from numbered, order_history as template
where merchant_id = $6 and order_id = $1 order by number, version`;

const copyCards = `${numbered}
insert into cards (merchant_id, id, key_id, sealed, fingerprint)
select merchant_id, numbered.id, key_id, sealed, fingerprint
from numbered, cards as template where merchant_id = $6 and template.id = $1 order by number`;
