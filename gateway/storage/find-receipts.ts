/** Reading an order by the id of its receipt, within one merchant: migration 0011 has the index. */
import type { Order } from "../orders/order.ts";
import type { MerchantId, ReceiptId } from "../values/ids.ts";
import type { Query } from "./database.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

export function makeFindByReceipt(query: Query) {
  return async (merchant: MerchantId, receipt: ReceiptId): Promise<Order | undefined> => {
    const [row] = await query<OrderRow>(statement, [merchant, receipt], "order_by_receipt");
    return row === undefined ? undefined : unpackOrder(row);
  };
}

/** Condition and key word for word as in the index, or the planner does not use it. */
const statement = `
select ${orderColumns} from orders
where merchant_id = $1
  and (stage = 'approved' or kind in ('capture', 'reversal', 'cancel'))
  and (case when kind in ('capture', 'reversal', 'cancel')
         then progress #>> '{earlier,0,receiptId}'
         else progress #>> '{transaction,receiptId}' end) = $2
limit 1`;
