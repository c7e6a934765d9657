/**
 * Reading orders. Look-ups of the same moment become one statement; each names the merchant, so
 * that no merchant reads another's order.
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
  type ReceiptId,
  type SerialNumber,
} from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { RequestDigest } from "../vault/request-digests.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeFindRow, makeGather, plainArray, textArray } from "./gather.ts";
import { type OrderRow, orderColumns, unpackOrder } from "./order-row.ts";

type ClientOrderKey = { readonly merchantId: MerchantId; readonly clientOrderId: string };

export function makeFindOrders(query: Query, options: GatherOptions = {}) {
  const byIdOptions = { ...options, statement: byIdStatement, name: "orders_by_id" };
  const findRow = makeFindRow<OrderRow, OrderId>(query, byIdOptions);
  const findAll = makeGather(async (keys: readonly ClientOrderKey[]) => {
    const merchants = plainArray(keys.map((key) => key.merchantId));
    const clientOrderIds = textArray(keys.map((key) => key.clientOrderId));
    const rows = await query<OrderRow & DigestColumns>(
      byClientOrderIdStatement,
      [merchants, clientOrderIds],
      "orders_by_client_orderid",
    );
    const found = Map.groupBy(rows, (row) => `${row.merchant_id}/${row.client_orderid}`);
    return keys.map(({ merchantId, clientOrderId }): readonly ExistingOrder[] => {
      const same = found.get(`${merchantId}/${clientOrderId}`) ?? [];
      return same.map((row) => ({ order: unpackOrder(row), digest: unpackDigest(row) }));
    });
  }, options);

  return {
    async byId({ merchantId, orderId }: { merchantId: MerchantId; orderId: OrderId }) {
      const row = await findRow(merchantId, orderId);
      return row && unpackOrder(row);
    },
    /** All orders with the client order id, the latest last. */
    findExisting: (merchantId: MerchantId, clientOrderId: string) =>
      findAll({ merchantId, clientOrderId }),
    /** Resolves when the queue of reads moves. */
    probe: findRow.probe,
  };
}

type DigestColumns = {
  readonly digest: Buffer;
  readonly digest_key: number | null;
  readonly cvv_digest: Buffer | null;
};

function unpackDigest({ digest, digest_key, cvv_digest }: DigestColumns): RequestDigest {
  return { digest, keyId: digest_key ?? undefined, cvv: cvv_digest ?? undefined };
}

const byIdStatement = `
select ${prefixed("orders")} from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
join orders on orders.merchant_id = wanted.merchant_id and orders.id = wanted.id`;

const byClientOrderIdStatement = `
select ${prefixed("orders")}, orders.digest, orders.digest_key, orders.cvv_digest
from (
  -- Several callers may ask for one order: it must come back once.
  select distinct * from unnest($1::bigint[], $2::text[]) as asked(merchant_id, client_orderid)
) as wanted
join orders on orders.merchant_id = wanted.merchant_id
  and orders.client_orderid = wanted.client_orderid
order by orders.attempt`;

function prefixed(table: string): string {
  return orderColumns.replace(/\w+/g, (column) => `${table}.${column}`);
}

export async function findBySerial(
  query: Query,
  merchant: MerchantId,
  serial: SerialNumber,
): Promise<NamedBySerial | undefined> {
  const [row] = await query<{ order_id: string | null; describes: string | null }>(
    `select order_id, answer ->> 'describes' as describes from requests
       where merchant_id = $1 and serial = $2`,
    [merchant, serial],
    "request_by_serial",
  );
  if (typeof row?.order_id !== "string") return undefined;
  const describes = row.describes === null ? serial : asSerialNumber(row.describes);
  return { orderId: asOrderId(row.order_id), describes };
}

/** For answers of a host that name only our reference. */
export async function findBySequence(query: Query, sequence: bigint): Promise<Order | undefined> {
  const { first, last } = orderIdsOf(sequence);
  // A host may name a number that is no id at all.
  if (!isNumericId(last)) return undefined;
  const [order] = await select(query, "id between $1 and $2 limit 1", [first, last]);
  return order;
}

/** The receipts of a public page: one look-up at a time, so that they use one connection. */
export function makeFindByReceipt(query: Query) {
  const find = makeGather(
    // Planned each time: a plan from when the table was small would read all of it.
    ([wanted = []]: readonly (readonly string[])[]) => select(query, byReceipt, wanted),
    { batchMax: 1 },
  );
  return (merchant: MerchantId, receipt: ReceiptId): Promise<Order | undefined> =>
    find([merchant, receipt]);
}

/** Word for word as in the index of migration 0014, or the planner does not use it. */
const byReceipt = `
merchant_id = $1
  and (stage = 'approved' or kind in ('capture', 'refund', 'reversal', 'cancel'))
  and (case when kind in ('capture', 'refund', 'reversal', 'cancel')
         then progress #>> '{earlier,0,receiptId}'
         else progress #>> '{transaction,receiptId}' end) = $2
limit 1`;

/** The orders that are due, the longest first. */
export function makeFindDue(query: Query) {
  const due = "due_at <= to_timestamp($1::float8 / 1000) order by due_at limit $2";
  return (now: Instant, most: number) => select(query, due, [now, most], "orders_due");
}

/** The orders that a node of this name had in flight when it ended. */
export function makeFindOwned(query: Query) {
  return (node: string) => select(query, "due_at is not null and carrier = $1", [node]);
}

const doubtfulStages = stagesInDoubt.map((stage) => `'${stage}'`).join(", ");
const inDoubt = `due_at is not null
  and (owes in ('reverse', 'reverse_prior') or stage in (${doubtfulStages}))`;

export async function countInDoubt(query: Query): Promise<number> {
  const [row] = await query<{ count: string }>(`select count(*) from orders where ${inDoubt}`);
  return Number(row?.count ?? 0);
}

/** The longest in doubt first. */
export function findInDoubt(query: Query, most: number) {
  const sentAt = (word: string) => `progress #>> '{transaction,${word},transmittedAt}'`;
  const longest = `coalesce(${sentAt("identifiers")}, ${sentAt("charge")})::float8`;
  return select(query, `${inDoubt} order by ${longest} limit $1`, [most]);
}

async function select(
  query: Query,
  condition: string,
  values: readonly unknown[],
  name?: string,
): Promise<readonly Order[]> {
  const statement = `select ${orderColumns} from orders where ${condition}`;
  return (await query<OrderRow>(statement, values, name)).map(unpackOrder);
}

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
