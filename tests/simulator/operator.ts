/** An operator who settles an order in doubt by what the host's books have. */
import type { OperatorEvent } from "../../gateway/orders/events.ts";
import type { Order } from "../../gateway/orders/order.ts";
import {
  findOwingAttempt,
  inDoubtOf,
  orderOfAttempt,
} from "../../gateway/orders/prior-attempts.ts";
import { initialOf } from "../../gateway/orders/transactions.ts";
import { makeCells } from "../../gateway/storage/cells.ts";
import { asReceiptId } from "../../gateway/values/ids.ts";
import { decideDoubt, makeReport } from "../../gateway/wiring/operator-events.ts";
import { readSettings } from "./configuration.ts";
import type { OrderRecord } from "./database-model.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Host } from "./host.ts";
import { orderOf } from "./laws.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

type World = {
  readonly time: VirtualTime;
  readonly server: DatabaseServer;
  readonly story: Story;
  readonly host: Host;
  readonly random: Random;
};

const config = readSettings();
const stages = new Set(["reversing", "repeating", "inquiring"]);
const isDoubtful = ({ stage, owes }: OrderRecord) =>
  stages.has(stage) || owes === "reverse" || owes === "reverse_prior";

export function makeOperator({ time, server, story, host, random }: World) {
  const database = server.connect();
  const databases = { node: database, vault: database };
  const cells = makeCells({
    ...{ main: databases, open: () => databases, waitMs: config.acceptRetryMs },
    onFailed: () => undefined,
  });
  const report = makeReport({ config, cells, database });

  return { work, settleLost, settleRepeats };

  /** A host that refuses every repeat of a capture or return is asked by telephone about it. */
  async function settleRepeats(): Promise<void> {
    const repeating = server.tables.orders.values().filter(({ stage }) => stage === "repeating");
    for (const order of repeating.map(orderOf)) await settle(order, verdictOn(order));
  }

  /** A reversal whose card a standby lacks cannot be sent: the host is told by telephone. */
  async function settleLost(isLost: (orderId: string) => boolean): Promise<void> {
    const { orders, cards } = server.tables;
    for (const order of orders.values().filter(isDoubtful).map(orderOf)) {
      const prior = order.owed?.effect === "reverse_prior" ? findOwingAttempt(order) : undefined;
      const { card } = prior === undefined ? order : orderOfAttempt(order, prior);
      const isHeld = cards.values().some(({ id }) => id === card.cardId);
      if (isHeld || !isLost(order.id)) continue;
      const reference = inDoubtOf(order).identifiers?.reference;
      const booking = host.books.findLast((each) => each.reference === reference);
      if (booking !== undefined) booking.isReversed = true;
      await settle(order, { kind: "settled_as_not_done", ...signed });
    }
  }

  /** A thorough operator goes through all orders in doubt, another takes one of them. */
  function work(forMs: number, isThorough: boolean): void {
    if (forMs <= 0) return;
    const doubtful = server.tables.orders.values().filter(isDoubtful);
    const taken = isThorough || doubtful.length === 0 ? doubtful : [random.pick(doubtful)];
    for (const record of taken) void decide(orderOf(record));
    const pauseMs = random.between(1_000, 20_000);
    time.after(pauseMs, time.world, () => work(forMs - pauseMs, isThorough));
  }

  /** One that a node asks the host about is left alone. */
  async function decide(order: Order): Promise<void> {
    await settle(order, random.chance(0.4) ? askAgain : verdictOn(order));
  }

  async function settle(order: Order, event: OperatorEvent): Promise<void> {
    const decided = await decideDoubt(report, order, event).catch(() => undefined);
    const isTaken = decided !== undefined && "id" in decided;
    story.tell(`the operator decides ${event.kind}${isTaken ? "" : ", in vain"}`, order.id);
  }

  /** The operator settles only what the books say clearly. */
  function verdictOn(order: Order): OperatorEvent {
    const { kind } = order.owed?.effect === "reverse_prior" ? initialOf(order) : order.transaction;
    const { amount, identifiers } = inDoubtOf(order);
    const { reference = "", traceNumber = "" } = identifiers ?? {};
    const done = host.amountDone(reference, traceNumber, kind);
    if (done === undefined) return { kind: "settled_as_not_done", ...signed };
    const receiptId = asReceiptId("1");
    return BigInt(done) === amount.minor
      ? { kind: "settled_as_done", ...signed, receiptId }
      : askAgain;
  }
}

const signed = { by: "jo", why: "as the host's books have it" };
const askAgain: OperatorEvent = { kind: "asked_again", ...signed };
