/** Orders that messages name without their merchant: by a number, or by a host's reference. */
import type { Order } from "../../orders/order.ts";
import { asOrderId, isNumericId, type OrderId } from "../../values/ids.ts";
import { isHere, MerchantMoving } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import type { OrderPlace } from "./order-ids.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

/**
 * For messages that name an order and no merchant, in one cell. An order whose merchant is fenced
 * there is a copy, which may be stale: that it was found says only that it is elsewhere.
 */
export async function findByNumber(query: Query, number: number): Promise<Order | undefined> {
  const id = asOrderId(String(number));
  // A host may name a number that is no id at all.
  return isNumericId(id) ? findById(query, id) : undefined;
}

/** Also an order whose merchant is not known. */
export async function findById(query: Query, id: OrderId): Promise<Order | undefined> {
  const row = await findFirst(query, id, id);
  if (row?.is_here === false) throw new MerchantMoving(`order ${row.id} is in another cell`);
  return row && unpackOrder(row);
}

/** Like `findByNumber`. */
export async function findAtPlace(query: Query, place: OrderPlace): Promise<Order | undefined> {
  if ("id" in place) return findById(query, place.id);
  const order = await findInGap(query, place.sequence, place);
  return order && findById(query, order.id);
}

/** Ids and sequence numbers grow together, also over several cells. */
async function findInGap(
  query: Query,
  sequence: number,
  gap: { readonly low: number; readonly high: number },
): Promise<Order | undefined> {
  let { low, high } = gap;
  while (low <= high) {
    const middle = low + Math.floor((high - low) / 2);
    const order = await findCharged(query, middle, high);
    if (order?.sequence === sequence) return order;
    if (order === undefined || order.sequence > sequence) high = middle - 1;
    else low = Number(order.id) + 1;
  }
  return undefined;
}

/** The first one in the range: an order that was never charged has no sequence number. */
async function findCharged(query: Query, low: number, high: number): Promise<Order | undefined> {
  for (let from = low; from <= high; ) {
    const row = await findFirst(query, String(from), String(high));
    const order = row && unpackOrder(row);
    if (order === undefined || order.sequence > 0) return order;
    from = Number(order.id) + 1;
  }
  return undefined;
}

async function findFirst(query: Query, first: string, last: string) {
  const [row] = await query<OrderRow & { is_here: boolean }>(
    `select ${orderColumns}, ${isHere} as is_here from orders
     where id between $1 and $2 order by id limit 1`,
    [first, last],
  );
  return row;
}
