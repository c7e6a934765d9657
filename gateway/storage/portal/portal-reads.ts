/**
 * The portal's queries of orders and callbacks, in the merchant's cell or in all cells. A page of a
 * list continues after the key of the previous page's last row. A filtered list examines the latest
 * orders one by one, and if few match, sorts the matches that the index of words finds. Ids are
 * always searched in the index of words.
 */
import type { Order } from "../../orders/order.ts";
import type { Figure } from "../../portal-api/order-index.ts";
import type {
  CallbackQuery,
  CallbackWindow,
  DeliveryFilter,
  DeliveryKey,
  FigureRange,
  OrderLineRow,
  OrderListQuery,
  OrderWindow,
  Point,
  StoredCallback,
  Window,
} from "../../portal-api/reads.ts";
import { asOrderId, isNumericId, type MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import {
  countReceivers,
  countResent,
  findAttempts,
  findCallbackPage,
} from "../callbacks/callback-journal.ts";
import { type Cells, isHere } from "../cells/cells.ts";
import { countInDoubt, findById, findHistory } from "../orders/find-orders.ts";
import type { Query } from "../server/database.ts";
import type { Grain } from "./order-index.ts";

type Options = {
  readonly countAllInDoubt: () => Promise<number>;
  /** How many rows of a cell are examined for one page of a filtered list. */
  readonly lookedThrough: number;
};

export type PortalReads = ReturnType<typeof makePortalReads>;

export function makePortalReads(cells: Cells, { countAllInDoubt, lookedThrough }: Options) {
  const stores = cells.stores(({ node }) => node.forScreens);
  type Ask<Result> = Parameters<typeof stores.each<readonly Result[]>>[0];
  const gather = async <Result>(
    merchantId: MerchantId | undefined,
    ask: Ask<Result>,
  ): Promise<readonly Result[]> =>
    merchantId === undefined
      ? (await stores.each(ask)).flat()
      : stores.call(merchantId, (query) => ask(query, ""));
  const count = async (merchantId: MerchantId | undefined, ask: Ask<number>) =>
    (await gather(merchantId, ask)).reduce((sum, each) => sum + each, 0);

  return {
    async listOrders(query: OrderListQuery): Promise<readonly OrderLineRow[]> {
      const found = await gather<OrderLineRow>(query.merchantId, (at) => findOrderLines(at, query));
      return found.toSorted(byAge).slice(0, query.limit);
    },

    /** Examines the next `limit` orders and returns those that match the filter. */
    async scanOrders(query: OrderListQuery): Promise<OrderWindow> {
      const windows = await gather<OrderWindow>(query.merchantId, async (at) => [
        await scanOrderLines(at, query),
      ]);
      return joinWindows(windows, ({ at, orderId }) => ({ at, orderId }), byAge);
    },

    /** Returns undefined if the order belongs to another merchant. */
    async findOrder(id: string, merchantId: MerchantId | undefined): Promise<Order | undefined> {
      if (!isNumericId(id) || id.length <= 6) return undefined;
      const order = await stores.search((query) => findById(query, asOrderId(id)));
      const isOwn = merchantId === undefined || order?.merchantId === merchantId;
      return isOwn ? order : undefined;
    },
    findHistory: (order: Order) =>
      stores.call(order.merchantId, (query) => findHistory(query, order)),

    /** `end` is the key up to which rows were examined. A full page has no `end`. */
    async listCallbacks(query: CallbackQuery): Promise<CallbackWindow> {
      const windows = await gather<CallbackWindow>(query.merchantId, async (at) => [
        await findCallbackPage(at, query, lookedThrough),
      ]);
      return joinPages(windows, query.limit, keyOf, byMaking);
    },
    countReceivers: (filter: DeliveryFilter, most: number) =>
      gather(filter.merchantId, (query) => countReceivers(query, filter, most)),
    countResent: (filter: DeliveryFilter, at: Instant) =>
      gather(filter.merchantId, (query) => countResent(query, filter, at)),
    findAttempts: ({ merchantId, id: orderId }: Order, sequence?: number) =>
      stores.call(merchantId, (query) => findAttempts(query, { merchantId, orderId, sequence })),

    listFigures: ({ merchantId, ...range }: FigureRange) =>
      gather(merchantId, (query) =>
        findFigures(query, { ...range, merchantId: merchantId ?? allMerchants }),
      ),
    async sumFigures({ merchantId, ...range }: FigureRange): Promise<readonly Figure[]> {
      const found = await gather(merchantId, (query) =>
        sumFigures(query, { ...range, merchantId: merchantId ?? allMerchants }),
      );
      const sums = Map.groupBy(found, ({ name, key }) => `${name}/${key}`);
      return [...sums.values()].flatMap((same) => {
        const total = same.reduce((sum, { count: each }) => sum + each, 0);
        return total > 0 ? same.slice(0, 1).map((first) => ({ ...first, count: total })) : [];
      });
    },

    async countInDoubt(merchantId: MerchantId | undefined): Promise<number> {
      if (merchantId === undefined) return countAllInDoubt();
      return stores.call(merchantId, (query) => countInDoubt(query, merchantId));
    },
    countFailingCallbacks: (merchantId: MerchantId | undefined) =>
      count(merchantId, async (query) => [await countFailingCallbacks(query, merchantId)]),
  };
}

const allMerchants = "0";

type Aged = Pick<OrderLineRow, "orderId" | "at">;

function byAge(one: Aged, other: Aged): number {
  return other.at - one.at || byId(one, other);
}

type Identified = Pick<OrderLineRow, "orderId">;

function byId(one: Identified, other: Identified): number {
  return Number(BigInt(other.orderId) - BigInt(one.orderId));
}

function keyOf({ madeAt: at, orderId, sequence }: StoredCallback): DeliveryKey {
  return { at, orderId, sequence };
}

/** Compares two callbacks: the latest comes first, as in the pages of each cell. */
function byMaking(one: DeliveryKey, other: DeliveryKey): number {
  return byAge(one, other) || other.sequence - one.sequence;
}

/** A full page has no `end`, because the next page begins after its last row. */
export function joinPages<Row, Key>(
  windows: readonly Window<Row, Key>[],
  limit: number,
  ...order: Parameters<typeof joinWindows<Row, Key>> extends [unknown, ...infer Rest] ? Rest : never
): Window<Row, Key> {
  const { rows, end } = joinWindows(windows, ...order);
  return rows.length < limit ? { rows, end } : { rows: rows.slice(0, limit), end: undefined };
}

/**
 * Joins the ranges that were examined in all cells. The joined range ends where the shortest range
 * does, because its cell was not examined further.
 */
function joinWindows<Row, Key>(
  windows: readonly Window<Row, Key>[],
  keyOfRow: (row: Row) => Key,
  compare: (one: Key, other: Key) => number,
): Window<Row, Key> {
  const all = windows.flatMap(({ rows }) => rows.map((row) => ({ row, key: keyOfRow(row) })));
  const [end] = windows
    .flatMap((window) => (window.end === undefined ? [] : [window.end]))
    .toSorted(compare);
  const seen = all.filter(({ key }) => end === undefined || compare(key, end) <= 0);
  return {
    rows: seen.toSorted((one, other) => compare(one.key, other.key)).map(({ row }) => row),
    end,
  };
}

/** How many of the latest orders are examined one by one before the index of words is searched. */
const scannedMax = 5_000;
const fewMax = 2_000;
const allMax = 2_147_483_647;

const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const columns = `merchant_id as "merchantId", order_id as "orderId", ${milliseconds("at")} as at,
  endpoint_id as "endpointId", client_orderid as "clientOrderId", kind, stage, status, reason,
  threeds, amount::float8 as amount, currency, network, last_four as "lastFour", email, name, gate,
  reference`;

type Asked = Pick<OrderListQuery, "merchantId"> & {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
};
/** The last row of the previous page: its time and key, and the key's column and type. */
type LastRow = readonly [at: number, key: string, column: string, type: string];

export function rangeOf({ merchantId, from, until }: Asked, after: LastRow | undefined) {
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const moment = (value: number) => `to_timestamp(${place(value)}::float8 / 1000)`;
  const before = ([at, key, column, type]: LastRow) =>
    `(at, ${column}) < (${moment(at)}, ${place(key)}::${type})`;
  const range = [
    merchantId === undefined ? isHere : `merchant_id = ${place(merchantId)}`,
    ...(from === undefined ? [] : [`at >= ${moment(from)}`]),
    ...(until === undefined ? [] : [`at < ${moment(until)}`]),
    ...(after === undefined ? [] : [before(after)]),
  ].join(" and ");
  return { range, values, place };
}

function conditionsOf({ after, words, search, ...asked }: OrderListQuery) {
  const groups = words.filter((group) => group.length > 0);
  const last = after && ([after.at, after.orderId, "order_id", "bigint"] as const);
  const { range, values, place } = rangeOf(asked, last);
  const hasOne = (group: readonly string[]) => `words && ${place(group)}::text[]`;
  const isPerson = search?.person
    ? [`array_to_tsvector(people) @@ ${place(search.person)}::tsquery`]
    : [];
  const isFound = search && `(${[hasOne(search.words), ...isPerson].join(" or ")})`;
  const matches = [...groups.map(hasOne), ...(isFound ? [isFound] : [])].join(" and ");
  return { range, matches, values };
}

const latest = "order by at desc, order_id desc";

/** Finds the next orders for an export. A statement examines a limited number of orders. */
async function scanOrderLines(query: Query, asked: OrderListQuery): Promise<OrderWindow> {
  const { range, matches, values } = conditionsOf(asked);
  const found = await query<OrderLineRow & { readonly isMatch: boolean; readonly isEnd: boolean }>(
    `with seen as materialized (
       select *, row_number() over (${latest}) = ${asked.limit} as is_end
       from (select * from order_index where ${range} ${latest} limit ${asked.limit}) as page
     ), judged as (select *, ${matches || "true"} as is_match from seen)
     select ${columns}, is_match as "isMatch", is_end as "isEnd" from judged
     where is_match or is_end order by judged.at desc, order_id desc`,
    values,
  );
  const rows = found.flatMap(({ isMatch, isEnd: _, ...row }) => (isMatch ? [row] : []));
  const last = found.find(({ isEnd }) => isEnd);
  return { rows, end: last && { at: last.at, orderId: last.orderId } };
}

export async function findOrderLines(
  query: Query,
  asked: OrderListQuery,
): Promise<readonly OrderLineRow[]> {
  const { limit } = asked;
  const { range, matches, values } = conditionsOf(asked);
  if (matches === "") {
    // Sorts by the table's column `page.at`: `at` alone would be a computed column.
    const page = `select * from order_index where ${range} ${latest} limit ${limit}`;
    const plain = `select ${columns} from (${page}) as page order by page.at desc, order_id desc`;
    return query<OrderLineRow>(plain, values);
  }
  const scan = () =>
    query<OrderLineRow>(
      `select ${columns} from (
         select * from order_index where ${range} ${latest} limit ${scannedMax}
       ) as recent where ${matches} order by recent.at desc, order_id desc limit ${limit}`,
      values,
    );
  const look = (most: number) =>
    query<OrderLineRow & { readonly count: number }>(
      `with matching as materialized (
         select merchant_id, at, order_id from order_index where ${matches} and ${range}
         limit ${most}
       ), page as (select * from matching ${latest} limit ${limit})
       select ${columns}, (select count(*)::int from matching) as count
       from page join order_index as line using (merchant_id, at, order_id)
       order by line.at desc, order_id desc`,
      values,
    );
  const withoutCount = ({ count: _, ...row }: OrderLineRow & { readonly count: number }) => row;
  const groups = [...asked.words, asked.search?.words ?? []];
  const isId = groups.some((group) => group.length > 0 && group.every(isOfOne));
  const found = isId ? await look(fewMax) : [];
  if (isId && (found[0]?.count ?? 0) < fewMax) return found.map(withoutCount);
  const recent = await scan();
  return recent.length >= limit ? recent : (await look(allMax)).map(withoutCount);
}

/** Returns whether the word is an id, an email address or a reference, which few orders share. */
function isOfOne(word: string): boolean {
  return /^[ocer]:/.test(word);
}

type FigureQuery = Omit<FigureRange, "merchantId"> & {
  readonly merchantId: string;
  readonly grain: Grain;
};

function findFigures(query: Query, { merchantId, grain, since }: FigureQuery) {
  return query<Point & Figure>(
    `select ${milliseconds("at")} as at, name, key, count::float8 as count from order_figures
     where merchant_id = $1 and grain = $2 and at >= to_timestamp($3::float8 / 1000)
       and name in ('outcome', 'amount')
     order by at`,
    [merchantId, grain, since],
  );
}

/** A sum may be negative, if an order that another cell counted has moved here and changed. */
function sumFigures(query: Query, { merchantId, grain, since, until }: FigureQuery) {
  return query<Figure>(
    `select name, key, sum(count)::float8 as count from order_figures
     where merchant_id = $1 and grain = $2 and at >= to_timestamp($3::float8 / 1000)
       and ($4::float8 is null or at < to_timestamp($4::float8 / 1000))
     group by name, key`,
    [merchantId, grain, since, until ?? null],
  );
}

/** Counts callbacks that a receiver has refused or not answered, and that will be sent again. */
export async function countFailingCallbacks(query: Query, merchantId: string | undefined) {
  const [row] = await query<{ count: number }>(
    `select count(*)::int as count from callbacks
     where due_at is not null and tries > 0 and ($1::bigint is null or merchant_id = $1)
       and ${isHere}`,
    [merchantId ?? null],
  );
  return row?.count ?? 0;
}
