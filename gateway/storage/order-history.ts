/** Orders as operators look at them: the events of one, and the latest of a merchant. */
import type { Order } from "../orders/order.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Query } from "./database.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

type CommitRow = {
  /** The order's version after the commit. */
  readonly version: number;
  readonly at: string;
  readonly node: string;
  readonly events: readonly ({ readonly kind: string } & Readonly<Record<string, unknown>>)[];
};

/** Event by event. */
export async function findHistory(query: Query, { merchantId, id }: Order) {
  const rows = await query<CommitRow>(
    `select version, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as at, node, events
     from order_history where merchant_id = $1 and order_id = $2 order by version`,
    [merchantId, id],
  );
  return rows.flatMap(({ events, ...commit }) =>
    events.map(({ kind, ...detail }) => ({ ...commit, kind, detail })),
  );
}

/** Refused and repeated requests are among those that began an order. */
const requestsPerOrder = 10;

/**
 * The latest first. Requests are stored by serial number, which grows with time on every node;
 * order ids do not, because each node takes them from its own block.
 */
export async function findLatestOrders(query: Query, merchant: MerchantId, most: number) {
  const rows = await query<OrderRow>(
    `select ${orderColumns} from orders
     where merchant_id = $1 and id in (
       select order_id from (
         select order_id from requests where merchant_id = $1 order by serial desc limit $2
       ) as latest
     )
     order by accepted_at desc, id desc limit $3`,
    [merchant, most * requestsPerOrder, most],
  );
  return rows.map(unpackOrder);
}
