/**
 * A merchant's last orders. Requests are kept by serial number, which grows with time on every
 * node; order ids do not, because each node takes them out of a block of its own.
 */
import type { Order } from "../orders/order.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Query } from "./database.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

/** Refused and repeated requests stand among those that began an order. */
const requestsPerOrder = 10;

/** The latest first. */
export function makeFindLatest(query: Query) {
  return async (merchant: MerchantId, most: number): Promise<readonly Order[]> => {
    const rows = await query<OrderRow>(statement, [merchant, most * requestsPerOrder, most]);
    return rows.map(unpackOrder);
  };
}

const statement = `
select ${orderColumns} from orders
where merchant_id = $1 and id in (
  select order_id from (
    select order_id from requests where merchant_id = $1 order by serial desc limit $2
  ) as latest
)
order by accepted_at desc, id desc limit $3`;
