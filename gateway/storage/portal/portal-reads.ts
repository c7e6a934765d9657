/**
 * The portal's queries of orders and callbacks, in the merchant's cell or in all cells together.
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
import type { Cells } from "../cells/cells.ts";
import { countInDoubt, findById, findHistory } from "../orders/find-orders.ts";
import {
  countFailingCallbacks,
  findFigures,
  findOrderLines,
  scanOrderLines,
  sumFigures,
} from "./portal-orders.ts";

type Options = {
  readonly countAllInDoubt: () => Promise<number>;
  /** How many rows of a cell a page of a filtered list examines. */
  readonly lookedThrough: number;
};

export type PortalReads = ReturnType<typeof makePortalReads>;

export function makePortalReads(cells: Cells, { countAllInDoubt, lookedThrough }: Options) {
  const stores = cells.stores(({ node }) => node.aside);
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

    /**
     * Finds the next `limit` orders that match. Each window costs the same, however rare matches
     * are.
     */
    async scanOrders(query: OrderListQuery): Promise<OrderWindow> {
      const windows = await gather<OrderWindow>(query.merchantId, async (at) => [
        await scanOrderLines(at, query),
      ]);
      return joinWindows(windows, ({ at, orderId }) => ({ at, orderId }), byAge);
    },

    /** Returns undefined for an order of another merchant. */
    async findOrder(id: string, merchantId: MerchantId | undefined): Promise<Order | undefined> {
      if (!isNumericId(id) || id.length <= 6) return undefined;
      const order = await stores.search((query) => findById(query, asOrderId(id)));
      const isOwn = merchantId === undefined || order?.merchantId === merchantId;
      return isOwn ? order : undefined;
    },
    findHistory: (order: Order) =>
      stores.call(order.merchantId, (query) => findHistory(query, order)),

    /** Returns at most `limit` rows, with an end only if there are fewer. */
    async listCallbacks(query: CallbackQuery): Promise<CallbackWindow> {
      const windows = await gather<CallbackWindow>(query.merchantId, async (at) => [
        await findCallbackPage(at, query, lookedThrough),
      ]);
      return joinPages(windows, query.limit, keyOf, byMaking);
    },
    /** Counts the filtered callbacks by receiver, up to a limit. */
    countReceivers: (filter: DeliveryFilter, most: number) =>
      gather(filter.merchantId, (query) => countReceivers(query, filter, most)),
    /** Counts the results of callbacks that were sent again at a certain moment. */
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

/** Sorts the latest first. */
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

/** Sorts as the pages of one cell are sorted. */
function byMaking(one: DeliveryKey, other: DeliveryKey): number {
  return byAge(one, other) || other.sequence - one.sequence;
}

/** Joins pages. A full page has no end, because the next page begins after its last row. */
export function joinPages<Row, Key>(
  windows: readonly Window<Row, Key>[],
  limit: number,
  ...order: Parameters<typeof joinWindows<Row, Key>> extends [unknown, ...infer Rest] ? Rest : never
): Window<Row, Key> {
  const { rows, end } = joinWindows(windows, ...order);
  return rows.length < limit ? { rows, end } : { rows: rows.slice(0, limit), end: undefined };
}

/** Joins the windows of all cells. Nothing is known of a cell beyond the end of its window. */
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
