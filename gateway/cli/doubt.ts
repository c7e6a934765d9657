/**
 * `gw doubt`: orders that the bank may have done something for or not. An operator sees them all,
 * has the gateway ask again at once, or settles one by what the bank told him. Either is an event
 * of the order, with his name and reason.
 */
import { userInfo } from "node:os";
import { makeAdvance } from "../orders/advance.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { stagesInDoubt } from "../orders/stages.ts";
import { makeCommit } from "../storage/commit.ts";
import { makeFindInDoubt } from "../storage/find-orders.ts";
import { Failure } from "../values/failure.ts";
import { formatAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { type Instant, makePrintDate, systemClock } from "../values/time.ts";
import { newReceiptId } from "../vault/receipt-ids.ts";
import { wireStageOf } from "../views/status.ts";
import { deadlinesOf } from "../wiring/engine.ts";
import { findOrder } from "./find-order.ts";
import { complain, type Installation, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

type Why = { readonly reason: string; readonly by?: string; readonly json?: boolean };

const listedMax = 1_000;

export function listDoubt({ json = false }: { readonly json?: boolean }): Promise<void> {
  return withInstallation(async ({ database, config }) => {
    const orders = await makeFindInDoubt(database.query)(listedMax);
    const printDate = makePrintDate(config.zone);
    const lines = orders.map((order) => lineOf(order, printDate));
    if (json) return print(lines, true);
    if (lines.length === 0) return void process.stdout.write("Nothing is in doubt.\n");
    print(lines);
    if (lines.length === listedMax) {
      process.stderr.write(`These are the oldest ${listedMax}; there may be more.\n`);
    }
  });
}

function lineOf(order: Order, printDate: (instant: Instant) => string) {
  const { kind, stage, amount, identifiers, tries } = order.transaction;
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
    "next try": order.owed?.resting === true ? printDate(order.owed.claimableAt) : "now",
  };
}

export function askAgain(text: string, { reason, by = me(), json }: Why): Promise<void> {
  return settle(text, { kind: "asked_again", by, why: reason }, json);
}

export function settleByHand(
  text: string,
  { as, reason, by = me(), json }: Why & { readonly as: string },
): Promise<void> {
  const why = { by, why: reason };
  switch (as) {
    case "done":
      return settle(text, { kind: "settled_as_done", ...why, receiptId: newReceiptId() }, json);
    case "not-done":
      return settle(text, { kind: "settled_as_not_done", ...why }, json);
    default:
      complain(new Problem("Settle it --as done or --as not-done."));
      return Promise.resolve();
  }
}

/** What an operator tells: always with his name and reason. */
type Word = Extract<OrderEvent, { readonly by: string; readonly why: string }>;

function settle(text: string, event: Word, json = false): Promise<void> {
  return withInstallation(async (installation) => {
    if (event.why.trim() === "" || event.by.trim() === "") {
      return complain(new Problem("Neither --reason nor --by can be empty."));
    }
    const order = await findOrder(installation, text);
    if (order instanceof Problem) return complain(order);
    if (!isInDoubt(order)) return complain(new Problem(`Order ${text} is not in doubt.`));

    const told = await tell(installation, order, event);
    if (told instanceof Problem) return complain(told);
    const { kind, stage } = told.transaction;
    print({ order: told.id, stage: wireStageOf(kind, stage) }, json);
  });
}

function isInDoubt({ owed, transaction }: Order): boolean {
  return owed?.effect === "reverse" || stagesInDoubt.includes(transaction.stage);
}

/**
 * About the order as the operator has seen it: when it has moved on meanwhile, he looks again. What
 * he tells leads to no effect that is done at once, so no doers are needed.
 */
async function tell(
  { config, database }: Installation,
  order: Order,
  event: Word,
): Promise<Order | Problem> {
  if (event.kind !== "asked_again" && order.owed?.resting !== true) {
    return new Problem(
      `The bank is being asked about order ${order.id} at this moment. Settle it while it rests ` +
        "between two tries: `gw doubt list` shows when the next one is.",
    );
  }
  const advance = makeAdvance(deadlinesOf(config), { screen: nobody, look_up_3ds: nobody });
  const step = advance(order, event, systemClock.now());
  if (step instanceof Failure) {
    const { kind, stage } = order.transaction;
    return new Problem(`Order ${order.id} cannot be settled so in ${wireStageOf(kind, stage)}.`);
  }
  // Nobody here sends what the merchant is owed: the first node that looks does.
  const limits = { batchMax: 1, inFlightMax: 1, beginTriesMs: 0, callbackLeaseMs: 0 };
  const commit = makeCommit(database.query, `gw-${me()}`, limits);
  if ((await commit(step)) === "done") return step.order;
  return new Problem(`Order ${order.id} has just moved on: look at it again.`);
}

function nobody(): never {
  throw new Error("an operator's event was not expected to need this");
}

function me(): string {
  return userInfo().username;
}
