/**
 * Orders: list and export them, show one with its history, and move its money. A capture, a return
 * or a void goes through the engine of a node, as the merchant's own request does. Lists are read
 * in pages by id, so that a long export holds neither a lock nor much memory.
 */

import { describeRefusal, isLargerThan, mostOf, readMovedAmount } from "../../orders/movable.ts";
import type { FollowUpTerms, Order } from "../../orders/order.ts";
import { noCard } from "../../orders/payment-page.ts";
import { initialOf, transactionsOf } from "../../orders/transactions.ts";
import { findHistory, listOrdersBefore } from "../../storage/orders/find-orders.ts";
import type { Query } from "../../storage/server/database.ts";
import { Failure } from "../../values/failure.ts";
import { asGateId, asOrderId } from "../../values/ids.ts";
import { printMoney } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import type { Instant } from "../../values/time.ts";
import { printOrderLine, printStatus, statusOf, wireStageOf } from "../../views/status.ts";
import { type Action, action } from "../action.ts";
import { type Given, option } from "../field.ts";
import {
  findLimitFault,
  findMerchant,
  findOrder,
  limit,
  loginsOf,
  ofEndpoint,
  ofMerchant,
  order,
  ownerByOrder,
  queriesOf,
} from "../find.ts";
import { printHistory } from "../moments.ts";
import { readInstant } from "../readers.ts";
import {
  type Opened,
  type Output,
  Report,
  Rows,
  readConfiguration,
  type Session,
} from "../session.ts";

const amount = option("amount", "amount", [
  "a part; without an amount, all of it",
  "ein Teil; ohne Betrag alles",
]);

const pageSize = 1_000;
/**
 * The largest difference between the acceptance times of two orders whose ids are in the wrong
 * sequence: a node with few orders may use low ids of its own block long after other nodes have
 * used higher ones.
 */
const blockLifeMs = 90 * 86_400_000;

const filters = {
  merchant: ofMerchant,
  endpoint: ofEndpoint,
  status: option("text", "status", ["processing, approved, declined, error or filtered"]),
  currency: option("currency", "code", ["only in this currency"]),
  clientOrder: option("text", "id", ["only with the merchant's own id"]),
  link: option("text", "id", ["only of one payment link"]),
  since: option("moment", "moment", ["only accepted from then on, like 2030-01-31T09:30:00Z"]),
  until: option("moment", "moment", ["only accepted before then"]),
  before: option("text", "orderid", ["only those before this order: the next page"]),
};

type Filters = Given<typeof filters>;

export const orderActions: readonly Action[] = [
  action("look", "see_orders", {
    name: "order list",
    does: ["list orders, the latest first"],
    commandLineOnly: "the portal shows orders on a screen of its own",
    fields: { ...filters, limit },
    async perform(session, given) {
      const most = Number(given.limit);
      const chosen = findLimitFault(given.limit) ?? (await readOrderFilter(session, given));
      if (chosen instanceof Problem) return chosen;
      const found: Order[] = [];
      for await (const order of walk(session, chosen)) {
        found.push(order);
        if (found.length >= most) break;
      }
      // A list longer than a page of the portal is recorded in the audit, as an export is.
      if (most > pageSize) await session.audit.write(readBy("order list", given));
      return found.map(await makeDescribeOrder(session));
    },
  }),
  action("look", "see_orders", {
    name: "order export",
    does: ["write all orders of a filter to standard output, as CSV or JSON lines"],
    duration: "minutes",
    commandLineOnly: "the portal exports orders from its screen of orders",
    fields: filters,
    async perform(session, given) {
      const chosen = await readOrderFilter(session, given);
      if (chosen instanceof Problem) return chosen;
      const describe = await makeDescribeOrder(session);
      const progress = session.progress("orders");
      return new Rows(rows(chosen));

      async function* rows(wanted: Chosen) {
        let count = 0;
        for await (const order of walk(session, wanted)) {
          // The audit entry comes before the first row, so that an interrupted export has one too.
          if (count === 0) await session.audit.write(readBy("order export", given));
          yield describe(order);
          progress(++count);
        }
        session.report(`${count} orders`);
      }
    },
  }),
  action("look", "see_orders", {
    name: "order show",
    does: ["show an order with its whole history"],
    commandLineOnly: "the portal shows an order on a screen of its own",
    fields: { order },
    async perform(session, { order: id }) {
      const found = await findOrder(session, id);
      if (found instanceof Problem) return found;
      const { merchantId, transaction } = found;
      const { printDate } = session;
      const fields = printStatus(
        { order: found, transaction },
        { bySerialNumber: undefined, printDate, settings: { tellsChargebacks: true } },
      );
      const own = [...fields, ["link", found.page?.linkId] as const];
      const seen = Object.fromEntries(
        own.filter(([, value]) => value !== undefined && value !== ""),
      );
      const transactions = transactionsOf(found).map(describeTransaction);
      const tries = triesOf(found, printDate);
      const history = await queriesOf(session).call(merchantId, (query) =>
        findHistory(query, found),
      );
      const { gates } = await readConfiguration(session);
      const named = transactions.map((each) => ({
        ...each,
        gate: gates.get(asGateId(each.gate))?.name ?? each.gate,
      }));
      const ids = { "gw-order-id": found.id, "merchant-order-id": found.clientOrderId };
      return new Report(
        { order: seen, transactions, ...(tries && { tries }), history },
        { ...ids, ...seen },
        named,
        ...(tries !== undefined && tries.length > 0 ? [tries] : []),
        printHistory(history, printDate),
      );
    },
  }),
  action("record", "move_money", {
    ...makeMove("capture"),
    name: "order capture",
    does: [
      "capture what is held, all or a part",
      "einziehen, was vorgemerkt ist, ganz oder teilweise",
    ],
  }),
  action("record", "move_money", {
    ...makeMove("return"),
    name: "order return",
    does: [
      "refund, all or a part, or cancel what is held",
      "ganz oder teilweise erstatten, oder freigeben, was vorgemerkt ist",
    ],
    needsSecondPerson: isLargeReturn,
  }),
  action("record", "move_money", {
    ...makeMove("void"),
    name: "order void",
    does: [
      "take a charge back whole, before it is cleared",
      "eine Belastung vor der Abrechnung ganz zurücknehmen",
    ],
    needsSecondPerson: isLargeReturn,
  }),
];

type Moved = { readonly order: string; readonly amount?: string | undefined };

function makeMove(operation: FollowUpTerms["operation"]) {
  return {
    needsNode: true,
    findOwner: ownerByOrder,
    fields: { order, amount },
    async perform(session: Session, { order: id, amount: text }: Moved): Promise<Output> {
      const { node, actor, reason: comment, once } = session;
      if (node === undefined) throw new Error(`a ${operation} needs a running node`);
      const found = await findOrder(session, id);
      if (found instanceof Problem) return found;
      const money = readMovedAmount(found, text);
      if (money instanceof Problem) return money;
      const terms = { operation, amount: money, comment, by: actor.who, ...(once && { once }) };
      const moved = await node.followUp(found, terms);
      if (moved instanceof Failure) {
        return new Problem(describeRefusal(moved, mostOf(found, operation)), moved.code);
      }
      const { stage, serialNumber } = moved.transaction;
      return { stage, serialNumber, repeated: moved.repeated };
    },
  } as const;
}

/** A large return needs an approval. A return that will be refused needs no approval. */
async function isLargeReturn(session: Session, { order: id, amount: text }: Moved) {
  const found = await findOrder(session, id);
  if (found instanceof Problem || readMovedAmount(found, text) instanceof Problem) return false;
  return isLargerThan(session.config.secondPersonAbove, found);
}

function describeTransaction({ kind, stage, amount, serialNumber, identifiers }: Transaction) {
  return {
    stage: wireStageOf(kind, stage),
    amount: printMoney(amount),
    "serial-number": serialNumber,
    gate: identifiers?.gate.id ?? "",
    chosen: identifiers?.gate.choice ?? "",
  };
}

type Transaction = Order["transaction"];

/** Lists the tries of a payment page: the refused cards, and last the card that is charged. */
function triesOf(order: Order, printDate: (at: Instant) => string) {
  const { page, card } = order;
  const refused = page?.refused.map((each) => ({
    card: maskOf(each.card),
    reference: each.attempts.at(-1)?.identifiers.reference ?? "",
    gate: each.attempts.at(-1)?.identifiers.gate.id ?? "",
    result: new Failure(each.reason.code, each.reason.detail).message,
    ended: printDate(each.at),
  }));
  if (refused === undefined || card.cardId === noCard.cardId) return refused;
  const { identifiers, stage, finishedAt } = initialOf(order);
  const ended = finishedAt === undefined ? "" : printDate(finishedAt);
  const { reference = "", gate } = identifiers ?? {};
  const last = { card: maskOf(card), reference, gate: gate?.id ?? "", result: stage, ended };
  return [...refused, last];
}

function maskOf({ bin, lastFour, cardId }: Order["card"]): string {
  return cardId === noCard.cardId ? "none" : `${bin}****${lastFour}`;
}

function readBy(action: "order list" | "order export", after: Filters) {
  return { action, subject: "orders", after };
}

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
  if (since instanceof Problem) return since;
  if (until instanceof Problem) return until;
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

async function makeDescribeOrder(session: Session) {
  const logins = loginsOf(await readConfiguration(session));
  return (order: Order) => {
    const { merchantId, endpointId: endpoint, page } = order;
    return {
      ...printOrderLine(order, session.printDate),
      merchant: logins.get(merchantId) ?? "",
      endpoint,
      link: page?.linkId ?? "",
    };
  };
}
