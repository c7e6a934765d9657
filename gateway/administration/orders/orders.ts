/**
 * Orders: list and export, show one as merchants see it with its history, and move its money: a
 * capture or a return goes through the engine of a node, as the merchant's own request does.
 */
import { describeRefusal, isLargerThan, mostOf, readMovedAmount } from "../../orders/movable.ts";
import type { FollowUpTerms, Order } from "../../orders/order.ts";
import { noCard } from "../../orders/payment-page.ts";
import { initialOf, transactionsOf } from "../../orders/transactions.ts";
import { findHistory } from "../../storage/orders/find-orders.ts";
import { Failure } from "../../values/failure.ts";
import { formatAmount } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { type Instant, makePrintDate } from "../../values/time.ts";
import { printStatus, wireStageOf } from "../../views/status.ts";
import { type Action, action } from "../action.ts";
import { option, word } from "../field.ts";
import { findOrder, ownerByOrder } from "../find.ts";
import { type Output, Report, type Session } from "../session.ts";
import { orderListActions } from "./order-list.ts";

const order = word("text", "orderid", ["the id of the order", "die Nummer der Zahlung"]);
const amount = option("amount", "amount", [
  "a part; without an amount, all of it",
  "ein Teil; ohne Betrag alles",
]);

export const orderActions: readonly Action[] = [
  ...orderListActions,
  action({
    name: "order show",
    does: [
      "show an order with its whole history",
      "eine Zahlung mit ihrer ganzen Geschichte zeigen",
    ],
    right: "see_orders",
    mode: "look",
    commandLineOnly: "the portal shows an order on a screen of its own",
    fields: { order },
    perform: showOrder,
  }),
  action({
    name: "order capture",
    does: [
      "capture what is held, all or a part",
      "einziehen, was reserviert ist, ganz oder zum Teil",
    ],
    right: "move_money",
    mode: "record",
    needsNode: true,
    findOwner: ownerByOrder,
    fields: { order, amount },
    perform: makeMove("capture"),
  }),
  action({
    name: "order return",
    does: [
      "refund, all or a part, or cancel what is held",
      "ganz oder zum Teil erstatten, oder aufheben, was reserviert ist",
    ],
    right: "move_money",
    mode: "record",
    needsNode: true,
    findOwner: ownerByOrder,
    needsSecondPerson: isLargeReturn,
    fields: { order, amount },
    perform: makeMove("return"),
  }),
];

type Named = { readonly order: string };
type Moved = Named & { readonly amount?: string | undefined };

function makeMove(operation: FollowUpTerms["operation"]) {
  return async (session: Session, { order: id, amount: text }: Moved): Promise<Output> => {
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
  };
}

/** What is refused anyway needs no approval. */
async function isLargeReturn(session: Session, { order: id, amount: text }: Moved) {
  const found = await findOrder(session, id);
  if (found instanceof Problem || readMovedAmount(found, text) instanceof Problem) return false;
  return isLargerThan(session.config.secondPersonAbove, found);
}

async function showOrder(session: Session, { order: id }: Named): Promise<Output> {
  const found = await findOrder(session, id);
  if (found instanceof Problem) return found;
  const { merchantId, transaction } = found;
  const printDate = makePrintDate(session.config.zone);
  const fields = printStatus(
    { order: found, transaction },
    { bySerialNumber: undefined, printDate, tellsChargebacks: true },
  );
  const own = [...fields, ["link", found.page?.linkId] as const];
  const seen = Object.fromEntries(own.filter(([, value]) => value !== undefined && value !== ""));
  const transactions = transactionsOf(found).map(describeTransaction);
  const tries = triesOf(found, printDate);
  const stores = session.cells.stores(({ node }) => node.query);
  const history = await stores.call(merchantId, (query) => findHistory(query, found));
  const lines = history.map(({ version, at, node, kind, detail }) => ({
    version,
    at,
    node,
    event: kind,
    // The portal shows the messages: they are too long for a line.
    detail: JSON.stringify({ ...detail, messages: undefined }),
  }));
  const ids = { "gw-order-id": found.id, "merchant-order-id": found.clientOrderId };
  return new Report(
    { order: seen, transactions, ...(tries && { tries }), history },
    { ...ids, ...seen },
    transactions,
    ...(tries !== undefined && tries.length > 0 ? [tries] : []),
    lines,
  );
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
