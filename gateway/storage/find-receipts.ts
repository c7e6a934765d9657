/** Reading an order by the id of its receipt, within one merchant: migration 0014 has the index. */
import type { Order } from "../orders/order.ts";
import type { MerchantId, ReceiptId } from "../values/ids.ts";
import type { Query } from "./database.ts";
import { makeGather } from "./gather.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

type Wanted = { readonly merchant: MerchantId; readonly receipt: ReceiptId };

/** Anybody may ask: one after the other, so that however many do, they hold one connection. */
const oneByOne = { batchMax: 1, inFlightMax: 1 };

export function makeFindByReceipt(query: Query) {
  const find = makeGather(async (wanted: readonly Wanted[]) => {
    return await Promise.all(wanted.map(look));
  }, oneByOne);
  return (merchant: MerchantId, receipt: ReceiptId): Promise<Order | undefined> =>
    find({ merchant, receipt });

  /** Planned each time: a plan from when the table was young would read all of it. */
  async function look({ merchant, receipt }: Wanted): Promise<Order | undefined> {
    const [row] = await query<OrderRow>(statement, [merchant, receipt]);
    return row === undefined ? undefined : unpackOrder(row);
  }
}

/** Condition and key word for word as in the index, or the planner does not use it. */
const statement = `
select ${orderColumns} from orders
where merchant_id = $1
  and (stage = 'approved' or kind in ('capture', 'refund', 'reversal', 'cancel'))
  and (case when kind in ('capture', 'refund', 'reversal', 'cancel')
         then progress #>> '{earlier,0,receiptId}'
         else progress #>> '{transaction,receiptId}' end) = $2
limit 1`;
