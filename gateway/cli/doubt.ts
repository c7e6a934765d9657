/**
 * `gw doubt`: orders in doubt. An operator lists them, has the gateway ask the bank again at once,
 * or settles one with what the bank has said. Each decision is an event of the order, with the
 * operator's name and reason.
 */
import { type Command, Option } from "commander";
import type { OperatorEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { inDoubtOf } from "../orders/prior-attempts.ts";
import { findInDoubt } from "../storage/find-orders.ts";
import { formatAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { type Instant, makePrintDate } from "../values/time.ts";
import { wireStageOf } from "../views/status.ts";
import { decideDoubt, makeReport } from "../wiring/operator-events.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { openVault } from "./installation.ts";
import { findOrder } from "./order.ts";

const listedMax = 1_000;

export function addDoubtCommands(doubt: Command): void {
  const outcome = new Option("--as <outcome>", "done (the bank did it) or not-done (it did not)");
  const reason = new Option("--reason <text>", "why; stored with the order").makeOptionMandatory();
  const by = new Option("--by <name>", "who (default: the user of this command)");
  const settle = [outcome.makeOptionMandatory(), reason, by];
  // biome-ignore format: a table
  addCommands(doubt, [
    ["list",             "list the orders in doubt, the oldest first",          listDoubt],
    ["ask <orderid>",    "have the gateway ask the bank again at once",         askAgain, [reason, by]],
    ["settle <orderid>", "settle an order with what the bank has told you",     settleByHand, settle],
  ]);
}

async function listDoubt({ cells, config, json }: Session): Promise<Output> {
  const stores = cells.stores(({ node }) => node.query);
  const found = await stores.each((query) => findInDoubt(query, listedMax));
  const sentAt = (order: Order) => inDoubtOf(order).identifiers?.transmittedAt ?? 0;
  const oldestFirst = found.flat().toSorted((one, other) => sentAt(one) - sentAt(other));
  const orders = oldestFirst.slice(0, listedMax);
  if (orders.length === 0 && !json) return "Nothing is in doubt.";
  if (orders.length === listedMax && !json) {
    process.stderr.write(`These are the oldest ${listedMax}; there may be more.\n`);
  }
  const printDate = makePrintDate(config.zone);
  return orders.map((order) => describe(order, printDate));
}

function describe(order: Order, printDate: (instant: Instant) => string) {
  const { kind, stage } = order.transaction;
  const { amount, identifiers, tries, reversal } = inDoubtOf(order);
  return {
    order: order.id,
    "merchant-order": order.clientOrderId,
    stage: wireStageOf(kind, stage),
    amount: `${formatAmount(amount)} ${amount.currency.code}`,
    gate: identifiers?.gate.id ?? "",
    reference: identifiers?.reference ?? "",
    trace: identifiers?.traceNumber ?? "",
    sent: identifiers === undefined ? "" : printDate(identifiers.transmittedAt),
    tries,
    refused: reversal?.refusedWith ?? "",
    "next try": order.owed?.resting === true ? printDate(order.owed.claimableAt) : "now",
  };
}

type Why = { readonly reason: string; readonly by?: string };

async function askAgain(session: Session, id: string, { reason, by = session.actor.who }: Why) {
  return decide(session, id, () => ({ kind: "asked_again", by, why: reason }));
}

async function settleByHand(
  session: Session,
  id: string,
  { as, reason, by = session.actor.who }: Why & { readonly as: string },
): Promise<Output> {
  const why = { by, why: reason };
  if (as === "not-done") {
    return decide(session, id, () => ({ kind: "settled_as_not_done", ...why }));
  }
  if (as !== "done") return new Problem("Settle it --as done or --as not-done.");
  const { receiptIdOf } = await openVault(session);
  return decide(session, id, ({ merchantId, id: orderId }) => ({
    ...{ kind: "settled_as_done", ...why },
    receiptId: receiptIdOf({ merchantId, orderId }),
  }));
}

async function decide(
  session: Session,
  id: string,
  eventFor: (order: Order) => OperatorEvent,
): Promise<Output> {
  const order = await findOrder(session, id);
  if (order instanceof Problem) return order;
  const decided = await decideDoubt(makeReport(session), order, eventFor(order));
  if (decided instanceof Problem) return decided;
  const { kind, stage } = decided.transaction;
  return { order: decided.id, stage: wireStageOf(kind, stage) };
}
