/**
 * What the portal reads, of the right cell or of all of them together, and the messages of an order
 * as it shows them.
 */
import type { Gates } from "../acquirers/gates.ts";
import {
  chargeMessagesOf,
  dumpMessage,
  nameFields,
} from "../acquirers/iso8583-host/shown-messages.ts";
import type { KeptMessage } from "../orders/kept-messages.ts";
import type { Answer, Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import {
  type CallbackWindow,
  type DeliveryKey,
  lookedThrough,
  type OrderLineRow,
  type OrderWindow,
  type PortalNames,
  type PortalReads,
  type StoredCallback,
  type Window,
} from "../portal-api/reads.ts";
import type { MessageView, TimelineOptions } from "../portal-api/timeline.ts";
import {
  countReceivers,
  countResent,
  findAttempts,
  findCallbackPage,
} from "../storage/callbacks/callback-journal.ts";
import type { Cells } from "../storage/cells/cells.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { findById } from "../storage/orders/find-by-number.ts";
import { countInDoubt, findHistory } from "../storage/orders/find-orders.ts";
import {
  countFailingCallbacks,
  findFigures,
  findOrderLines,
  scanOrderLines,
  sumFigures,
} from "../storage/portal/portal-orders.ts";
import { writeKept } from "../threeds/kept-messages.ts";
import { asOrderId, isNumericId, type MerchantId } from "../values/ids.ts";

export function makePortalReads(cells: Cells, countAllInDoubt: () => Promise<number>): PortalReads {
  const stores = cells.stores(({ node }) => node.aside);
  type Ask<Result> = Parameters<typeof stores.each<readonly Result[]>>[0];
  const gather = async <Result>(merchantId: MerchantId | undefined, ask: Ask<Result>) =>
    merchantId === undefined
      ? (await stores.each(ask)).flat()
      : stores.call(merchantId, (query) => ask(query, ""));
  const count = async (merchantId: MerchantId | undefined, ask: Ask<number>) =>
    (await gather(merchantId, ask)).reduce((sum, each) => sum + each, 0);

  return {
    async listOrders(query) {
      const found = await gather<OrderLineRow>(query.merchantId, (at) => findOrderLines(at, query));
      return found.toSorted(byAge).slice(0, query.limit);
    },

    async scanOrders(query) {
      const windows = await gather<OrderWindow>(query.merchantId, async (at) => [
        await scanOrderLines(at, query),
      ]);
      return join(windows, ({ at, orderId }) => ({ at, orderId }), byAge);
    },

    async findOrder(id, merchantId) {
      if (!isNumericId(id) || id.length <= 6) return undefined;
      const order = await stores.search((query) => findById(query, asOrderId(id)));
      const isOwn = merchantId === undefined || order?.merchantId === merchantId;
      return isOwn ? order : undefined;
    },
    findHistory: (order) => stores.call(order.merchantId, (query) => findHistory(query, order)),

    async listCallbacks(query) {
      const windows = await gather<CallbackWindow>(query.merchantId, async (at) => [
        await findCallbackPage(at, query, lookedThrough),
      ]);
      return joinPages(windows, query.limit, keyOf, byMaking);
    },
    countReceivers: (filter, most) =>
      gather(filter.merchantId, (query) => countReceivers(query, filter, most)),
    countResent: (filter, at) =>
      gather(filter.merchantId, (query) => countResent(query, filter, at)),
    findAttempts: ({ merchantId, id: orderId }, sequence) =>
      stores.call(merchantId, (query) => findAttempts(query, { merchantId, orderId, sequence })),

    listFigures: ({ merchantId, ...range }) =>
      gather(merchantId, (query) =>
        findFigures(query, { ...range, merchantId: merchantId ?? allMerchants }),
      ),
    async sumFigures({ merchantId, ...range }) {
      const found = await gather(merchantId, (query) =>
        sumFigures(query, { ...range, merchantId: merchantId ?? allMerchants }),
      );
      const sums = Map.groupBy(found, ({ name, key }) => `${name}/${key}`);
      return [...sums.values()].flatMap((same) => {
        const total = same.reduce((sum, { count: each }) => sum + each, 0);
        return total > 0 ? same.slice(0, 1).map((first) => ({ ...first, count: total })) : [];
      });
    },

    async countInDoubt(merchantId) {
      if (merchantId === undefined) return countAllInDoubt();
      return stores.call(merchantId, (query) => countInDoubt(query, merchantId));
    },
    countFailingCallbacks: (merchantId) =>
      count(merchantId, async (query) => [await countFailingCallbacks(query, merchantId)]),
  };
}

const allMerchants = "0";

type Aged = Pick<OrderLineRow, "orderId" | "at">;

/** The latest first. */
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

/** As pages of one cell are sorted. */
function byMaking(one: DeliveryKey, other: DeliveryKey): number {
  return byAge(one, other) || other.sequence - one.sequence;
}

/** A whole page has no end: its last row is where the next begins. */
export function joinPages<Row, Key>(
  windows: readonly Window<Row, Key>[],
  limit: number,
  ...order: Parameters<typeof join<Row, Key>> extends [unknown, ...infer Rest] ? Rest : never
): Window<Row, Key> {
  const { rows, end } = join(windows, ...order);
  return rows.length < limit ? { rows, end } : { rows: rows.slice(0, limit), end: undefined };
}

/** The windows of all cells as one. Of a cell nothing is known beyond the end of its window. */
function join<Row, Key>(
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

/** Made again when the configuration is another. */
export function makePortalNames({ current }: LiveConfiguration): () => PortalNames {
  let [known, names] = [current(), namesOf(current())];
  return () => {
    if (current() !== known) [known, names] = [current(), namesOf(current())];
    return names;
  };
}

function namesOf(configuration: ReturnType<LiveConfiguration["current"]>): PortalNames {
  const { merchants, endpoints, gates } = configuration;
  return {
    merchants: merchants.map(({ id, login, name }) => ({ id, login, name })),
    endpoints: [...endpoints.values()].map(({ id, name, currency, merchant }) => ({
      id,
      name,
      currency,
      merchantId: merchant.id,
    })),
    gates: [...gates.values()].map(({ id, name }) => ({ id, name })),
  };
}

type Shown = Pick<TimelineOptions, "chargeMessagesOf" | "viewMessage">;

export function makeShownMessages(gates: Pick<Gates, "list">): Shown {
  const gateOf = (order: Order) => {
    const { identifiers } = order.transaction.identifiers ? order.transaction : initialOf(order);
    return gates.list().find(({ id }) => id === identifiers?.gate.id);
  };
  return {
    chargeMessagesOf(order: Order, answer: Answer) {
      const gate = gateOf(order);
      return gate === undefined ? [] : chargeMessagesOf(gate, order, answer);
    },
    viewMessage(order: Order, message: KeptMessage): MessageView {
      const gate = /^\d{4}$/.test(message.type) ? gateOf(order) : undefined;
      const raw = gate === undefined ? writeKept(message) : dumpMessage(gate, message);
      const fields = gate === undefined ? plainFields(message) : nameFields(gate, message);
      return { fields, ...(raw === undefined ? {} : { raw }) };
    },
  };
}

function plainFields({ fields }: KeptMessage) {
  return Object.entries(fields).map(([name, value]) => ({ name, value }));
}
