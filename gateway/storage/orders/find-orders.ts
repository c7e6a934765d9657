/**
 * Reads orders. Look-ups of the same moment are gathered into one statement. Each look-up names the
 * merchant, so that no merchant reads another's order, except those at the end of the file, for
 * messages that name an order by a number or a host's reference.
 */
import type { ExistingOrder, NamedBySerial } from "../../engine/find.ts";
import type { Order } from "../../orders/order.ts";
import { stagesInDoubt } from "../../orders/stages.ts";
import {
  asOrderId,
  asSerialNumber,
  isNumericId,
  type MerchantId,
  type OrderId,
  type SerialNumber,
} from "../../values/ids.ts";
import { type Instant, monthStart } from "../../values/time.ts";
import type { RequestDigest } from "../../vault/request-digests.ts";
import { assertHomeCell, isHere, MerchantMoving } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import {
  type GatherOptions,
  makeFindRow,
  makeGather,
  plainArray,
  textArray,
} from "../server/gather.ts";
import type { OrderPosition } from "./order-ids.ts";
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

  const isCurrent = makeGather(async (orders: readonly Order[]) => {
    const rows = await query<{ id: string; version: number }>(
      currentStatement,
      [
        plainArray(orders.map((order) => order.merchantId)),
        plainArray(orders.map(({ id }) => id)),
        plainArray(orders.map(({ version }) => version)),
        plainArray(orders.map(({ changedAt }) => changedAt ?? null)),
      ],
      "orders_current",
    );
    // A batch may ask for several versions of an order, so each is compared with the stored one.
    const current = new Map(rows.map(({ id, version }) => [id, version]));
    return orders.map(({ id, version }) => current.get(id) === version);
  }, options);

  return {
    /** Returns whether an ended order is stored in the version that the node has in memory. */
    isCurrent,
    async byId({ merchantId, orderId }: { merchantId: MerchantId; orderId: OrderId }) {
      const row = await findRow(merchantId, orderId);
      return row && unpackOrder(row);
    },
    /** Finds all orders with the client order id. The latest order is the last. */
    findExisting: (merchantId: MerchantId, clientOrderId: string) =>
      findAll({ merchantId, clientOrderId }),
    probe: findRow.probe,
  };
}

type DigestColumns = {
  readonly digest: Buffer;
  readonly digest_key: number;
  readonly cvv_digest: Buffer | null;
};

function unpackDigest({ digest, digest_key, cvv_digest }: DigestColumns): RequestDigest {
  return { digest, keyId: digest_key, cvv: cvv_digest ?? undefined };
}

const byIdStatement = `
select ${prefixed("orders")} from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
join orders on orders.merchant_id = wanted.merchant_id and orders.id = wanted.id
where ${assertHomeCell("= any($1::bigint[])")}`;

// The time of the last step is compared too: after a failover, another step may have the version.
const currentStatement = `
select orders.id, orders.version from unnest($1::bigint[], $2::bigint[], $3::int[], $4::float8[])
  as wanted(merchant_id, id, version, changed_at)
join orders on orders.merchant_id = wanted.merchant_id and orders.id = wanted.id
where orders.version = wanted.version
  and orders.changed_at = wanted.changed_at and orders.finished_at is not null
  and ${assertHomeCell("= any($1::bigint[])")}`;

const byClientOrderIdStatement = `
select ${prefixed("orders")}, orders.digest, orders.digest_key, orders.cvv_digest
from (
  -- Several callers may ask for one order, which must be returned once.
  select distinct * from unnest($1::bigint[], $2::text[]) as asked(merchant_id, client_orderid)
) as wanted
join orders on orders.merchant_id = wanted.merchant_id
  and orders.client_orderid = wanted.client_orderid
where ${assertHomeCell("= any($1::bigint[])")}
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
       where merchant_id = $1 and serial = $2 and ${assertHomeCell("= $1")}`,
    [merchant, serial],
    "request_by_serial",
  );
  if (typeof row?.order_id !== "string") return undefined;
  const describes = row.describes === null ? serial : asSerialNumber(row.describes);
  return { orderId: asOrderId(row.order_id), describes };
}

/** Runs one statement at a time, so that public receipts never use more than one connection. */
export function makeFindOfReceipt(query: Query) {
  const find = makeGather(
    ([wanted = []]: readonly (readonly string[])[]) =>
      select(query, ofReceipt, wanted, "order_of_receipt"),
    { batchMax: 1 },
  );
  return (merchant: MerchantId, orderId: OrderId): Promise<Order | undefined> =>
    find([merchant, orderId]);
}

const ofReceipt = `merchant_id = $1 and id = $2 and ${assertHomeCell("= $1")}`;

/**
 * Finds due orders, the longest overdue first. A row of `due` for another version than the order
 * has can never be valid again, and is deleted.
 */
export function makeFindDue(query: Query) {
  return async (now: Instant, most: number): Promise<readonly Order[]> => {
    for (;;) {
      const rows = await query<OrderRow & { due_version: number }>(due, [now, most], "orders_due");
      const current = rows.filter(({ version, due_version }) => version === due_version);
      if (current.length > 0 || rows.length === 0) return current.map(unpackOrder);
    }
  };
}

export const due = `
with found as materialized (
  select ${prefixed("orders")}, due.due_at, due.order_id, due.version as due_version
  from due left join orders on orders.id = due.order_id
  where due.due_at <= to_timestamp($1::float8 / 1000) and coalesce(orders.${isHere}, true)
  order by due.due_at limit $2
), stale as (
  delete from due using found
  where due.due_at = found.due_at and due.order_id = found.order_id
    and due.version = found.due_version and found.version is distinct from found.due_version
)
select ${orderColumns}, due_version from found`;

/** The ids of the few orders that may be open. `isOpen` checks each of them. */
export const openIds = "(select order_id from due)";
export const isOpen = `(id in ${openIds} and (owes is not null or finished_at is null))`;

/** Finds the open orders of a node by its configured name, which it keeps after a restart. */
export function makeFindOwned(query: Query) {
  return (node: string) => select(query, `${isOpen} and ${isHere} and carrier = $1`, [node]);
}

const doubtfulStages = stagesInDoubt.map((stage) => `'${stage}'`).join(", ");
const inDoubt = `${isOpen} and ${isHere}
  and (owes in ('reverse', 'reverse_prior') or stage in (${doubtfulStages}))`;

export async function countInDoubt(query: Query, merchant?: MerchantId): Promise<number> {
  const [row] = await query<{ count: string }>(
    `select count(*) from orders
     where ${inDoubt} and ($1::bigint is null or merchant_id = $1)`,
    [merchant ?? null],
  );
  return Number(row?.count ?? 0);
}

/** Finds orders in doubt. Those that have been in doubt the longest come first. */
export function findInDoubt(query: Query, most: number) {
  const sentAt = (word: string) => `progress #>> '{transaction,${word},transmittedAt}'`;
  const longest = `coalesce(${sentAt("identifiers")}, ${sentAt("charge")})::float8`;
  return select(query, `${inDoubt} order by ${longest} limit $1`, [most]);
}

export function findOpenPages(query: Query, after: OrderId, most: number) {
  const hasPage = "progress #> '{page}' is not null";
  const condition = `${isOpen} and ${isHere} and ${hasPage} and id > $1 order by id limit $2`;
  return select(query, condition, [after, most]);
}

/** Lists the orders of a cell, the oldest first, for jobs that read all orders page by page. */
export function listOrdersAfter(query: Query, after: OrderId, limit: number) {
  return select(query, `id > $1 and ${isHere} order by id limit $2`, [after, limit]);
}

/** Lists the latest orders, or the latest before `before`. */
export function listOrdersBefore(query: Query, before: OrderId | undefined, limit: number) {
  const values = [before ?? idMax, limit];
  return select(query, `id < $1 and ${isHere} order by id desc limit $2`, values);
}

const idMax = "9223372036854775807";

export function listOrders(query: Query, ids: readonly OrderId[]) {
  return select(query, `id = any($1::bigint[]) and ${isHere} order by accepted_at, id`, [ids]);
}

export type OrderTime = { readonly id: OrderId; readonly at: number };

/** Lists the ids and times of the latest accepted orders, or of the latest before `before`. */
export async function listOrderTimes(
  query: Query,
  before: OrderId | undefined,
  limit: number,
): Promise<readonly OrderTime[]> {
  const rows = await query<{ id: OrderId; at: string }>(
    `select id, (extract(epoch from accepted_at) * 1000)::bigint as at from orders
     where id < $1 and ${isHere} order by id desc limit $2`,
    [before ?? idMax, limit],
  );
  return rows.map(({ id, at }) => ({ id, at: Number(at) }));
}

/** A part of a `from` clause: the tries that were refused on the payment page. */
export const refusedTries =
  "json_array_elements(coalesce(progress #> '{page,refused}', '[]')) as refused(tried)";

/**
 * Returns a query for open orders with this card, whose number the gateway may have to send to the
 * acquirer again.
 */
export function openWith(merchantId: string, cardId: string): string {
  return `select from orders where ${isOpen} and orders.merchant_id = ${merchantId}
    and (progress #>> '{card,cardId}' = ${cardId}::text or exists (
      select from ${refusedTries} where tried #>> '{card,cardId}' = ${cardId}::text))`;
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
  readonly version: number;
  readonly at: string;
  readonly node: string;
  readonly events: readonly ({ readonly kind: string } & Readonly<Record<string, unknown>>)[];
};

/**
 * Returns the history, one entry for each event. The partitions before the order's month are
 * skipped, because the clocks of nodes never differ by a month.
 */
export async function findHistory(query: Query, { merchantId, id, acceptedAt }: Order) {
  const since = monthStart(acceptedAt, -1);
  const rows = await query<CommitRow>(historyStatement, [merchantId, id, since]);
  return rows.flatMap(({ events, ...commit }) =>
    events.map(({ kind, ...detail }) => ({ ...commit, kind, detail })),
  );
}

const historyStatement = `
select version, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as at, node, events
from order_history
where merchant_id = $1 and order_id = $2 and at >= to_timestamp($3::float8 / 1000)
order by version`;

/**
 * Finds an order in one cell by a number that a message without a merchant names. Fails if the
 * merchant is fenced in this cell, because the order here may be an outdated copy.
 */
export async function findByNumber(query: Query, number: number): Promise<Order | undefined> {
  const id = asOrderId(String(number));
  // A host may send any number. No order has a number that is not a valid order id.
  return isNumericId(id) ? findById(query, id) : undefined;
}

export async function findById(query: Query, id: OrderId): Promise<Order | undefined> {
  const row = await findFirst(query, id, id);
  if (row?.is_here === false) throw new MerchantMoving(`order ${row.id} is in another cell`);
  return row && unpackOrder(row);
}

export async function findAtPosition(
  query: Query,
  place: OrderPosition,
): Promise<Order | undefined> {
  if ("id" in place) return findById(query, place.id);
  const order = await findInGap(query, place.sequence, place);
  return order && findById(query, order.id);
}

/**
 * Searches a range of ids for the order with a sequence number. Ids and sequence numbers grow
 * together, even across cells, so the search halves the range in each step.
 */
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

/** Returns the range's first order with a sequence number. Orders without a charge have none. */
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
