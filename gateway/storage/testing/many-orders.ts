/**
 * Many finished orders, made by the database itself from an order that is there: the same documents
 * with other ids, so that rows are as large as a gateway's. Their ids have sixteen digits, which is
 * between the short and the long ones of gateways (decision 0055).
 */
import type { Query } from "../database.ts";

export type Portion = {
  /** The order that is copied, and its merchant. */
  readonly template: string;
  readonly merchant: string;
  readonly from: number;
  readonly count: number;
  /** Over how many days until now they were accepted. */
  readonly days: number;
  /** How many orders there will be in all. */
  readonly total: number;
};

/** A condition: the order was not made here. */
export const isOfGateway = "id not between 1000000000000000 and 9999999999999999";

const ids = "1000000000000000 + number * 1000000 + number * 7919 % 1000000";

const numbered = `
with numbered as materialized (
  select number, ${ids} as id,
    now() - make_interval(secs => $4::float8 * 86400 * ($5::float8 - number) / $5::float8) as at
  from generate_series($2::bigint, $2::bigint + $3::bigint - 1) as number
)`;

/** In the order of their ids, as gateways write them. */
export async function addOrders(query: Query, portion: Portion): Promise<void> {
  const { template, merchant, from, count, days, total } = portion;
  for (const statement of [copyOrders, copyHistory, copyCards]) {
    await query(statement, [template, from, count, days, total, merchant]);
  }
}

const withIds = (column: string) =>
  `replace(${column}::text, template.id::text, numbered.id::text)::json`;

const copyOrders = `${numbered}
insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest, version, kind,
  stage, amount, currency, accepted_at, finished_at, facts, progress)
select merchant_id, numbered.id, endpoint_id, md5(number::text), 1, digest, version, kind,
  stage, amount, currency, at, at, ${withIds("facts")}, ${withIds("progress")}
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
