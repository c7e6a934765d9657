/**
 * Orders in doubt: the gateway does not know whether the acquirer processed the transaction. An
 * operator lists them, has the gateway ask the acquirer at once, or settles one with the acquirer's
 * statement. Each decision is an event of the order with the operator's name and reason.
 */
import type { OperatorEvent } from "../../orders/events.ts";
import type { Order } from "../../orders/order.ts";
import { inDoubtOf } from "../../orders/prior-attempts.ts";
import { findInDoubt } from "../../storage/orders/find-orders.ts";
import { printMoney } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import type { Instant } from "../../values/time.ts";
import { wireStageOf } from "../../views/status.ts";
import { type Action, action } from "../action.ts";
import { onlyOnCommandLine, option, required } from "../field.ts";
import { findOrder, order, queriesOf } from "../find.ts";
import { decideDoubt, makeReport } from "../installation/operator-events.ts";
import { type Output, openVault, Report, readConfiguration, type Session } from "../session.ts";

const listedMax = 1_000;

const by = onlyOnCommandLine(option("text", "name", ["who (default: the user of this command)"]));

export const doubtActions: readonly Action[] = [
  action("look", "see_orders", {
    name: "doubt list",
    does: ["list the orders in doubt, the oldest first"],
    commandLineOnly: "the portal shows orders in doubt on its screen of orders",
    async perform(session) {
      const found = await queriesOf(session).each((query) => findInDoubt(query, listedMax));
      const sentAt = (each: Order) => inDoubtOf(each).identifiers?.transmittedAt ?? 0;
      const oldestFirst = found.flat().toSorted((one, other) => sentAt(one) - sentAt(other));
      const orders = oldestFirst.slice(0, listedMax);
      if (orders.length === listedMax) {
        session.warn(`These are the oldest ${listedMax}; there may be more.`);
      }
      const lines = orders.map((each) => describe(each, session.printDate));
      return lines.length > 0 ? lines : new Report(lines, "Nothing is in doubt.");
    },
  }),
  action("record", "move_money", {
    name: "doubt ask",
    does: [
      "have the gateway ask the acquirer again at once",
      "den Acquirer sofort noch einmal fragen",
    ],
    needsReason: true,
    fields: { order, by },
    perform(session, given) {
      return decide(session, given, () => ({ kind: "asked_again", ...whyOf(session, given) }));
    },
  }),
  action("record", "move_money", {
    name: "doubt settle",
    does: [
      "settle an order with what the acquirer says",
      "eine Zahlung nach der Auskunft des Acquirers klären",
    ],
    needsReason: true,
    needsSecondPerson: true,
    fields: {
      order,
      as: required(["done", "not-done"], "outcome", [
        "done (the acquirer did it) or not-done (it did not)",
        "done (der Acquirer hat es ausgeführt) oder not-done (er hat es nicht)",
      ]),
      by,
    },
    async perform(session, given) {
      const why = whyOf(session, given);
      if (given.as === "not-done") {
        return decide(session, given, () => ({ kind: "settled_as_not_done", ...why }));
      }
      const { receiptIdOf } = await openVault(session);
      return decide(session, given, ({ merchantId, id: orderId }) => ({
        kind: "settled_as_done",
        ...why,
        receiptId: receiptIdOf({ merchantId, orderId }),
      }));
    },
  }),
];

function describe(order: Order, printDate: (instant: Instant) => string) {
  const { kind, stage } = order.transaction;
  const { amount, identifiers, tries, reversal } = inDoubtOf(order);
  return {
    order: order.id,
    "merchant-order": order.clientOrderId,
    stage: wireStageOf(kind, stage),
    amount: printMoney(amount),
    gate: identifiers?.gate.id ?? "",
    reference: identifiers?.reference ?? "",
    trace: identifiers?.traceNumber ?? "",
    sent: identifiers === undefined ? "" : printDate(identifiers.transmittedAt),
    tries,
    refused: reversal?.refusedWith ?? "",
    "next try": order.owed?.resting === true ? printDate(order.owed.claimableAt) : "now",
  };
}

type Decision = {
  readonly order: string;
  readonly by?: string | undefined;
};

function whyOf({ actor, reason: why = "" }: Session, { by: name = actor.who }: Decision) {
  return { by: name, why };
}

async function decide(
  session: Session,
  { order: id }: Decision,
  eventFor: (order: Order) => OperatorEvent,
): Promise<Output> {
  const found = await findOrder(session, id);
  if (found instanceof Problem) return found;
  if (session.seen !== undefined && session.seen !== found.version) {
    return new Problem("The order has moved on. Look at it again.", "moved_on");
  }
  const { endpoints } = await readConfiguration(session);
  const report = makeReport(session, (endpoint) => endpoints.get(endpoint));
  const decided = await decideDoubt(report, found, eventFor(found));
  if (decided instanceof Problem) return decided;
  session.node?.noteStep(decided);
  const { kind, stage } = decided.transaction;
  return { order: decided.id, stage: wireStageOf(kind, stage) };
}
