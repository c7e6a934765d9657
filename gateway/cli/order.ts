/** `gw order show`: an order as merchants see it, its transactions and its history. */
import type { Command } from "commander";
import type { Order } from "../orders/order.ts";
import { noCard } from "../orders/payment-page.ts";
import { parseReference } from "../orders/trace.ts";
import { initialOf, transactionsOf } from "../orders/transactions.ts";
import type { Query } from "../storage/database.ts";
import { findAtPlace, findByNumber } from "../storage/find-by-number.ts";
import { findHistory } from "../storage/find-orders.ts";
import { findPlace } from "../storage/order-ids.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId, isNumericId, orderNumberOf } from "../values/ids.ts";
import { formatAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { type Instant, makePrintDate } from "../values/time.ts";
import { printStatus, wireStageOf } from "../views/status.ts";
import { addCommands, type Output, print, type Session } from "./command.ts";
import { addOrderListCommands } from "./order-list.ts";

export function addOrderCommands(order: Command): void {
  addCommands(order, [["show <orderid>", "show an order with its whole history", showOrder]]);
  addOrderListCommands(order);
}

async function showOrder(session: Session, id: string): Promise<Output> {
  const order = await findOrder(session, id);
  if (order instanceof Problem) return order;

  const { config } = session;
  const found = { order, transaction: order.transaction };
  const printDate = makePrintDate(config.zone);
  const fields = printStatus(found, {
    bySerialNumber: undefined,
    printDate,
    tellsChargebacks: true,
  });
  const own = [...fields, ["link", order.page?.linkId] as const];
  const seen = Object.fromEntries(own.filter(([, value]) => value !== undefined && value !== ""));
  const transactions = transactionsOf(order).map(describeTransaction);
  const tries = triesOf(order, printDate);
  const stores = session.cells.stores(({ node }) => node.query);
  const history = await stores.call(order.merchantId, (query) => findHistory(query, order));
  if (session.json) return { order: seen, transactions, ...(tries && { tries }), history };

  print({ "gw-order-id": order.id, "merchant-order-id": order.clientOrderId, ...seen });
  process.stdout.write("\n");
  print(transactions);
  process.stdout.write("\n");
  if (tries !== undefined && tries.length > 0) {
    print(tries);
    process.stdout.write("\n");
  }
  return history.map(({ version, at, node, kind, detail }) => ({
    ...{ version, at, node, event: kind },
    // The portal shows the messages: they are too long for a line.
    detail: JSON.stringify({ ...detail, messages: undefined }),
  }));
}

function describeTransaction({ kind, stage, amount, serialNumber, identifiers }: Transaction) {
  return {
    stage: wireStageOf(kind, stage),
    amount: `${formatAmount(amount)} ${amount.currency.code}`,
    "serial-number": serialNumber,
    gate: identifiers?.gate.id ?? "",
    // Why this gate was chosen.
    chosen: identifiers?.gate.choice ?? "",
  };
}

type Transaction = Order["transaction"];

/** On the payment page: the cards that were refused, and the one in progress or at the end. */
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

/** By the reference that the acquirer knows a charge or a refund by. */
export async function findByReference(session: Session, reference: string) {
  const named = parseReference(reference);
  if (named === undefined) return undefined;
  const place = await findPlace(session.database.query, named.sequence);
  return search(session, (query) => findAtPlace(query, place));
}

/** By the id that merchants and logs use. */
export async function findOrder(session: Session, text: string) {
  const id = asOrderId(text);
  const isId = isNumericId(text) && text.length > 6;
  const order = isId
    ? await search(session, (query) => findByNumber(query, orderNumberOf(id)))
    : undefined;
  return order?.id === id ? order : new Problem(`There is no order ${text}.`);
}

function search({ cells }: Session, find: (query: Query) => Promise<Order | undefined>) {
  return cells.stores(({ node }) => node.query).search(find);
}
