/**
 * Reading orders. Look-ups of the same moment become one statement; every one of them carries the
 * merchant, so that nobody can read another's order and a cluster knows where to look.
 */

import type { ExistingOrder, NamedBySerial } from "../engine/find.ts";
import type { Order } from "../orders/order.ts";
import { stagesInDoubt } from "../orders/stages.ts";
import {
  asOrderId,
  asSerialNumber,
  isNumericId,
  type MerchantId,
  type OrderId,
  orderIdsOf,
  type SerialNumber,
} from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import { plainArray, textArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

export type OrderKey = { readonly merchantId: MerchantId; readonly orderId: OrderId };
export type ClientOrderKey = { readonly merchantId: MerchantId; readonly clientOrderId: string };

export function makeFindOrders(query: Query, options: GatherOptions) {
  const byId = makeGather(async (keys: readonly OrderKey[]) => {
    const rows = await query<OrderRow>(
      byIdStatement,
      [plainArray(keys.map((key) => key.merchantId)), plainArray(keys.map((key) => key.orderId))],
      "orders_by_id",
    );
    const found = new Map(rows.map((row) => [`${row.merchant_id}/${row.id}`, row]));
    return keys.map(({ merchantId, orderId }) => {
      const row = found.get(`${merchantId}/${orderId}`);
      return row === undefined ? undefined : unpackOrder(row);
    });
  }, options);

  /** All orders with the client order id, the latest last. */
  const byClientOrderId = makeGather(async (keys: readonly ClientOrderKey[]) => {
    const rows = await query<OrderRow & { digest: Buffer }>(
      byClientOrderIdStatement,
      [
        plainArray(keys.map((key) => key.merchantId)),
        textArray(keys.map((key) => key.clientOrderId)),
      ],
      "orders_by_client_orderid",
    );
    const found = Map.groupBy(rows, (row) => `${row.merchant_id}/${row.client_orderid}`);
    return keys.map(({ merchantId, clientOrderId }): readonly ExistingOrder[] => {
      const same = found.get(`${merchantId}/${clientOrderId}`) ?? [];
      return same.map((row) => ({ order: unpackOrder(row), digest: row.digest }));
    });
  }, options);

  return { byId, byClientOrderId };
}

export function makeFindBySerial(query: Query) {
  return async (merchant: MerchantId, serial: SerialNumber): Promise<NamedBySerial | undefined> => {
    const [row] = await query<{ order_id: string | null; describes: string | null }>(
      `select order_id, answer ->> 'describes' as describes from requests
       where merchant_id = $1 and serial = $2`,
      [merchant, serial],
      "request_by_serial",
    );
    if (typeof row?.order_id !== "string") return undefined;
    const describes = row.describes === null ? serial : asSerialNumber(row.describes);
    return { orderId: asOrderId(row.order_id), describes };
  };
}

/** Only for answers of a host that name nothing but our reference. */
export function makeFindBySequence(query: Query) {
  return async (sequence: bigint): Promise<Order | undefined> => {
    const { first, last } = orderIdsOf(sequence);
    // What others name may be no number of ours at all.
    if (!isNumericId(last)) return undefined;
    const [row] = await query<OrderRow>(
      `select ${orderColumns} from orders where id between $1 and $2 limit 1`,
      [first, last],
    );
    return row === undefined ? undefined : unpackOrder(row);
  };
}

/** Orders that somebody must look at, the longest due first. */
export function makeFindDue(query: Query) {
  return async (now: Instant, most: number): Promise<readonly Order[]> => {
    const rows = await query<OrderRow>(
      `select ${orderColumns} from orders where due_at <= to_timestamp($1::float8 / 1000)
       order by due_at limit $2`,
      [now, most],
      "orders_due",
    );
    return rows.map(unpackOrder);
  };
}

/** What a node of this name had in hand when it ended. */
export function makeFindOwned(query: Query) {
  return async (node: string): Promise<readonly Order[]> => {
    const rows = await query<OrderRow>(
      `select ${orderColumns} from orders where due_at is not null and carrier = $1`,
      [node],
    );
    return rows.map(unpackOrder);
  };
}

const byIdStatement = `
select ${prefixed("orders")} from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
join orders on orders.merchant_id = wanted.merchant_id and orders.id = wanted.id`;

const byClientOrderIdStatement = `
select ${prefixed("orders")}, orders.digest
from (
  -- Several callers may ask for the same at once; each order must come back once.
  select distinct * from unnest($1::bigint[], $2::text[]) as asked(merchant_id, client_orderid)
) as wanted
join orders on orders.merchant_id = wanted.merchant_id
  and orders.client_orderid = wanted.client_orderid
order by orders.attempt`;

function prefixed(table: string): string {
  return orderColumns
    .split(", ")
    .map((column) => `${table}.${column}`)
    .join(", ");
}

/** Orders that the bank may have done something for or not: the operator's first number. */
export function makeCountInDoubt(query: Query) {
  return async (): Promise<number> => {
    const [row] = await query<{ count: string }>(`select count(*) from orders where ${inDoubt}`);
    return Number(row?.count ?? 0);
  };
}

/** The longest in doubt first. */
export function makeFindInDoubt(query: Query) {
  return async (most: number): Promise<readonly Order[]> => {
    const rows = await query<OrderRow>(
      `select ${orderColumns} from orders where ${inDoubt}
       order by coalesce(progress #>> '{transaction,identifiers,transmittedAt}',
         progress #>> '{transaction,charge,transmittedAt}')::float8 limit $1`,
      [most],
    );
    return rows.map(unpackOrder);
  };
}

const inDoubt = `due_at is not null
  and (owes = 'reverse' or stage in (${stagesInDoubt.map((stage) => `'${stage}'`).join(", ")}))`;
