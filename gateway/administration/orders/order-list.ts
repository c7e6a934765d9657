/**
 * Orders by filters: list and export. They are read in pages by id, so that a long export holds no
 * lock and no memory. Card numbers are masked.
 */
import type { Order } from "../../orders/order.ts";
import { listOrdersBefore } from "../../storage/orders/find-orders.ts";
import type { Query } from "../../storage/server/database.ts";
import { asOrderId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { type Instant, makePrintDate, parseDate } from "../../values/time.ts";
import { printOrderLine, statusOf } from "../../views/status.ts";
import { type Action, action } from "../action.ts";
import { type Given, option, preset } from "../field.ts";
import { findMerchant } from "../find.ts";
import { type Opened, type Output, Rows, readConfiguration, type Session } from "../session.ts";

const pageSize = 1_000;
/** A node takes ids from a block of its own: a quiet one gives low ids to late orders. */
const blockLifeMs = 90 * 86_400_000;

/** What lists are filtered by. */
const orderFilters = {
  merchant: option("merchant", "login", ["only of one merchant", "nur die eines Händlers"]),
  endpoint: option("endpoint", "id", ["only of one endpoint", "nur die eines Endpunkts"]),
  status: option("text", "status", [
    "processing, approved, declined, error or filtered",
    "processing, approved, declined, error oder filtered",
  ]),
  currency: option("currency", "code", ["only in this currency", "nur die in dieser Währung"]),
};
const filters = {
  ...orderFilters,
  clientOrder: option("text", "id", [
    "only with the merchant's own id",
    "nur die mit dieser Nummer des Händlers",
  ]),
  link: option("text", "id", ["only of one payment link", "nur die eines Zahlungslinks"]),
  since: option("moment", "moment", [
    "only accepted from then on, like 2030-01-31T09:30:00Z",
    "nur die ab dann angenommenen, wie 2030-01-31T09:30:00Z",
  ]),
  until: option("moment", "moment", ["only accepted before then", "nur die davor angenommenen"]),
  before: option("text", "orderid", [
    "only those before this order: the next page",
    "nur die vor dieser Zahlung: die nächste Seite",
  ]),
};

export const orderListActions: readonly Action[] = [
  action({
    name: "order list",
    does: ["list orders, the latest first", "Zahlungen auflisten, die neuesten zuerst"],
    right: "see_orders",
    mode: "look",
    commandLineOnly: "the portal shows orders on a screen of its own",
    fields: {
      ...filters,
      limit: preset("whole", "n", "100", ["so many", "so viele"]),
    },
    perform: listOrders,
  }),
  action({
    name: "order export",
    does: [
      "write all orders of a filter to standard output, as CSV or JSON lines",
      "alle Zahlungen eines Filters ausgeben, als CSV oder als Zeilen in JSON",
    ],
    right: "see_orders",
    mode: "look",
    duration: "minutes",
    commandLineOnly: "the portal exports orders from its screen of orders",
    fields: filters,
    perform: exportOrders,
  }),
];

type Filters = Given<typeof filters>;

async function listOrders(
  session: Session,
  given: Filters & { readonly limit: string },
): Promise<Output> {
  const { limit } = given;
  if (!/^[1-9]\d{0,5}$/.test(limit)) return new Problem("limit is a number from 1.");
  const chosen = await readOrderFilter(session, given);
  if (chosen instanceof Problem) return chosen;
  const found: Order[] = [];
  for await (const order of walk(session, chosen)) {
    found.push(order);
    if (found.length >= Number(limit)) break;
  }
  // A list of this length is not read on a screen: it counts as an export.
  if (Number(limit) > pageSize) await session.audit.write({ ...exported, after: given });
  return found.map(await makeDescribeOrder(session));
}

const exported = { action: "order export", subject: "orders" };

async function exportOrders(session: Session, given: Filters): Promise<Output> {
  const chosen = await readOrderFilter(session, given);
  if (chosen instanceof Problem) return chosen;
  const describe = await makeDescribeOrder(session);
  const progress = session.progress("orders");
  return new Rows(rows(chosen));

  async function* rows(wanted: Chosen) {
    let count = 0;
    for await (const order of walk(session, wanted)) {
      // Before the first row: an export that is interrupted has left its entry.
      if (count === 0) await session.audit.write({ ...exported, after: given });
      yield describe(order);
      progress(++count);
    }
    session.report(`${count} orders`);
  }
}

/** Goes through all cells, the latest orders first. */
async function* walk({ cells }: Session, chosen: Chosen): AsyncGenerator<Order> {
  const pages = cells.names().map((name) => {
    const { query } = cells.databasesOf(name).node;
    return readPages(query, chosen);
  });
  const advance = async (page: (typeof pages)[number]): Promise<Order | undefined> => {
    const next = await page.next();
    return next.done === true ? undefined : next.value;
  };
  const heads = await Promise.all(
    pages.map(async (page) => ({ page, order: await advance(page) })),
  );
  for (;;) {
    const [latest] = heads
      .filter(({ order }) => order !== undefined)
      .sort((one, other) => compareAges(one.order, other.order));
    if (latest?.order === undefined) return;
    yield latest.order;
    latest.order = await advance(latest.page);
  }
}

/** The latest first. */
function compareAges(one: Order | undefined, other: Order | undefined): number {
  return Number(BigInt(other?.id ?? 0) - BigInt(one?.id ?? 0));
}

async function* readPages(query: Query, { matches, since, before }: Chosen) {
  let last = before === undefined ? undefined : asOrderId(before);
  for (;;) {
    const orders = await listOrdersBefore(query, last, pageSize);
    for (const order of orders) if (matches(order)) yield order;
    last = orders.at(-1)?.id;
    if (orders.every(({ acceptedAt }) => acceptedAt < since - blockLifeMs)) return;
  }
}

type Chosen = {
  readonly matches: (order: Order) => boolean;
  readonly since: number;
  readonly before: string | undefined;
};

async function readOrderFilter(
  opened: Pick<Opened, "database" | "openKnown">,
  { merchant: login, endpoint, status, currency, clientOrder, link, before, ...times }: Filters,
): Promise<Chosen | Problem> {
  const [since, until] = [readInstant(times.since), readInstant(times.until)];
  const invalid = [since, until].find((each) => each instanceof Problem);
  if (invalid instanceof Problem) return invalid;
  if (before !== undefined && !/^\d{1,18}$/.test(before)) {
    return new Problem("before is the id of an order.");
  }
  const merchant =
    login === undefined ? undefined : findMerchant(await readConfiguration(opened), login);
  if (merchant instanceof Problem) return merchant;
  const [from, to] = [Number(since ?? 0), Number(until ?? Number.POSITIVE_INFINITY)];
  const isSame = (wanted: string | undefined, is: string) => wanted === undefined || wanted === is;
  return {
    since: from,
    before,
    matches: (order) =>
      isSame(merchant?.id, order.merchantId) &&
      isSame(endpoint, order.endpointId) &&
      isSame(clientOrder, order.clientOrderId) &&
      isSame(link, order.page?.linkId ?? "") &&
      isSame(status, statusOf(order.transaction.stage)) &&
      isSame(currency, order.transaction.amount.currency.code) &&
      order.acceptedAt >= from &&
      order.acceptedAt < to,
  };
}

function readInstant(text: string | undefined): Instant | undefined | Problem {
  if (text === undefined) return undefined;
  return parseDate(text) ?? new Problem(`${text} is no moment, like 2030-01-31T09:30:00Z.`);
}

async function makeDescribeOrder(opened: Pick<Opened, "config" | "database" | "openKnown">) {
  const { merchants } = await readConfiguration(opened);
  const logins = new Map(merchants.map(({ id, login }) => [id, login]));
  const printDate = makePrintDate(opened.config.zone);
  return (order: Order) => {
    const { merchantId, endpointId: endpoint, page } = order;
    return {
      ...printOrderLine(order, printDate),
      merchant: logins.get(merchantId) ?? "",
      endpoint,
      link: page?.linkId ?? "",
    };
  };
}
