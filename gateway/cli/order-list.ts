/**
 * `gw order list`, `gw order export` and `gw tail`: orders by filters, in pages by id, so that a
 * long export holds no lock and no memory. Card numbers are masked.
 */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type Command, Option } from "commander";
import type { Order } from "../orders/order.ts";
import type { Query } from "../storage/database.ts";
import { findOrderVersions, listOrders, listOrdersBefore } from "../storage/find-orders.ts";
import { asOrderId, isLongId, type OrderId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { type Instant, makePrintDate, parseDate } from "../values/time.ts";
import { printOrderLine, statusOf } from "../views/status.ts";
import { addCommands, type Output, type Session, setAction, untilStopSignal } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import { findMerchant } from "./merchant-set.ts";
import { makeProgress } from "./terminal.ts";

const pageSize = 1_000;
const tailEveryMs = 1_000;
/** A node takes ids from a block of its own: a quiet one gives low ids to late orders. */
const blockLifeMs = 90 * 86_400_000;
/** Nodes take ids from blocks of a thousand: the latest orders of five nodes are among these. */
const tailRows = 5_000;

const filters = [
  new Option("--merchant <login>", "only of one merchant"),
  new Option("--endpoint <id>", "only of one endpoint"),
  new Option("--status <status>", "processing, approved, declined, error or filtered"),
  new Option("--currency <code>", "only in this currency"),
  new Option("--client-order <id>", "only with the merchant's own id"),
  new Option("--link <id>", "only of one payment link"),
  new Option("--since <moment>", "only accepted from then on, like 2030-01-31T09:30:00Z"),
  new Option("--until <moment>", "only accepted before then"),
  new Option("--before <orderid>", "only those before this order: the next page"),
];

export function addOrderListCommands(order: Command): void {
  const limit = new Option("--limit <n>", "so many").default("100");
  // biome-ignore format: a table
  addCommands(order, [
    ["list",   "list orders, the latest first",                                       list, [...filters, limit]],
    ["export", "write all orders of a filter to standard output, as CSV or JSON lines", exportOrders, filters],
  ]);
}

export function addTail(command: Command): void {
  setAction(command, tail, filters.slice(0, 4));
}

type Given = Partial<Record<string, string>>;
type Filter = (order: Order) => boolean;

async function list(session: Session, given: Given): Promise<Output> {
  const { limit = "100" } = given;
  if (!/^[1-9]\d{0,5}$/.test(limit)) return new Problem("--limit is a number from 1.");
  const found: Order[] = [];
  const problem = await walk(session, given, (order) => {
    found.push(order);
    return found.length < Number(limit);
  });
  if (problem !== undefined) return problem;
  // A list of this length is not read on a screen: it counts as an export.
  if (Number(limit) > pageSize) await session.audit.write({ ...exported, after: given });
  const describe = await makeDescribe(session);
  return found.map(describe);
}

const exported = { action: "order export", subject: "orders" };

async function exportOrders(session: Session, given: Given): Promise<Output> {
  const describe = await makeDescribe(session);
  const progress = makeProgress("orders");
  let count = 0;
  const problem = await walk(session, given, async (order) => {
    // Before the first row: an export that is interrupted has left its entry.
    if (count === 0) await session.audit.write({ ...exported, after: given });
    const line = describe(order);
    const values = Object.values(line);
    if (count === 0 && !session.json) await write(Object.keys(line).join(","));
    await write(session.json ? JSON.stringify(line) : values.map(quote).join(","));
    progress(++count);
    return true;
  });
  if (problem !== undefined) return problem;
  process.stderr.write(`${count} orders\n`);
  return undefined;
}

/** Waits while the reader is slower: a long export is never in memory. */
async function write(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function quote(value: unknown): string {
  const text = String(value).replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Through all cells, the latest orders first; `take` answers whether it wants more. */
async function walk(
  session: Session,
  given: Given,
  take: (order: Order) => boolean | Promise<boolean>,
): Promise<Problem | undefined> {
  const chosen = await readFilter(session, given);
  if (chosen instanceof Problem) return chosen;
  const pages = session.cells.names().map((name) => {
    const { query } = session.cells.databasesOf(name).node;
    return readPages(query, given["before"], chosen);
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
    if (latest?.order === undefined || !(await take(latest.order))) return undefined;
    latest.order = await advance(latest.page);
  }
}

/** The latest first: long ids are older than short ones. */
function compareAges(one: Order | undefined, other: Order | undefined): number {
  const [left, right] = [one?.id ?? noId, other?.id ?? noId];
  const ages = Number(isLongId(left)) - Number(isLongId(right));
  return ages === 0 ? Number(BigInt(right) - BigInt(left)) : ages;
}

const noId = asOrderId("0");

async function* readPages(query: Query, before: string | undefined, { matches, since }: Chosen) {
  let last = before === undefined ? undefined : asOrderId(before);
  for (;;) {
    const orders = await listOrdersBefore(query, last, pageSize);
    for (const order of orders) if (matches(order)) yield order;
    last = orders.at(-1)?.id;
    if (orders.every(({ acceptedAt }) => acceptedAt < since - blockLifeMs)) return;
  }
}

type Chosen = { readonly matches: Filter; readonly since: number };

async function readFilter(session: Session, given: Given): Promise<Chosen | Problem> {
  const { merchant: login, endpoint, status, currency, clientOrder, link } = given;
  const [since, until] = [given["since"], given["until"]].map(readMoment);
  const invalid = [since, until].find((each) => each instanceof Problem);
  if (invalid instanceof Problem) return invalid;
  if (given["before"] !== undefined && !/^\d{1,18}$/.test(given["before"])) {
    return new Problem("--before is the id of an order.");
  }
  const merchant =
    login === undefined ? undefined : findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const [from, to] = [Number(since ?? 0), Number(until ?? Number.POSITIVE_INFINITY)];
  const isSame = (wanted: string | undefined, is: string) => wanted === undefined || wanted === is;
  return {
    since: from,
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

function readMoment(text: string | undefined): Instant | undefined | Problem {
  if (text === undefined) return undefined;
  return parseDate(text) ?? new Problem(`${text} is no moment, like 2030-01-31T09:30:00Z.`);
}

async function makeDescribe(session: Session) {
  const { merchants } = await readConfiguration(session);
  const logins = new Map(merchants.map(({ id, login }) => [id, login]));
  const printDate = makePrintDate(session.config.zone);
  return (order: Order) => {
    const { acceptedAt: _, ...line } = printOrderLine(order, printDate);
    const { merchantId, endpointId: endpoint, page } = order;
    return { ...line, merchant: logins.get(merchantId) ?? "", endpoint, link: page?.linkId ?? "" };
  };
}

/** Until Ctrl-C. Every committed step of an order that is seen is a line. */
async function tail(session: Session, given: Given): Promise<Output> {
  const chosen = await readFilter(session, given);
  if (chosen instanceof Problem) return chosen;
  const describe = await makeDescribe(session);
  /** By cell, the orders of the last look alone: none comes back among the latest. */
  const seen = new Map<string, ReadonlyMap<string, number>>();
  const stopped = untilStopSignal().then(() => true as const);
  for (;;) {
    for (const name of session.cells.names()) {
      const { query } = session.cells.databasesOf(name).node;
      const rows = await findOrderVersions(query, tailRows);
      const known = seen.get(name);
      seen.set(name, new Map(rows.map(({ id, version }) => [id, version])));
      if (known === undefined) continue;
      const fresh = rows.filter(({ id, version }) => known.get(id) !== version);
      const ids = fresh.map(({ id }) => id as OrderId);
      const orders = await listOrders(query, ids);
      for (const order of orders.filter(chosen.matches)) {
        await printStep(describe(order), session.json);
      }
    }
    if ((await Promise.race([stopped, pause(tailEveryMs, false)])) === true) return undefined;
  }
}

type Described = Readonly<Record<string, unknown>>;

function printStep(line: Described, json: boolean): Promise<void> {
  const { time, merchant, orderId, clientOrderId, amount, cardMask, stage, status } = line;
  const values = [time, merchant, orderId, clientOrderId, amount, cardMask, stage, status];
  return write(json ? JSON.stringify(line) : values.join("  "));
}
