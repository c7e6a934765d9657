/**
 * An operator who settles an order in doubt by the hosts' books, and who gives a gate another host
 * although orders need the present one.
 */
import { countHostChange } from "../../gateway/administration/gates/gates.ts";
import {
  decideDoubt,
  makeReport,
} from "../../gateway/administration/installation/operator-events.ts";
import type { OperatorEvent } from "../../gateway/orders/events.ts";
import type { Order } from "../../gateway/orders/order.ts";
import {
  findOwingAttempt,
  inDoubtOf,
  orderOfAttempt,
} from "../../gateway/orders/prior-attempts.ts";
import { initialOf } from "../../gateway/orders/transactions.ts";
import { makeCells } from "../../gateway/storage/cells/cells.ts";
import { readDatabaseTime } from "../../gateway/storage/server/database-clock.ts";
import { asReceiptId, type GateId } from "../../gateway/values/ids.ts";
import { Problem } from "../../gateway/values/problem.ts";
import { type Configurations, readSettings } from "./configuration.ts";
import type { OrderRecord } from "./database-model.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Booking, Host } from "./host.ts";
import { orderOf } from "./laws.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

type World = {
  readonly time: VirtualTime;
  readonly server: DatabaseServer;
  readonly story: Story;
  readonly hosts: readonly Host[];
  /** The bookings of all hosts. */
  readonly books: readonly Booking[];
  readonly configurations: Configurations;
  readonly random: Random;
};

const config = readSettings();
const stages = new Set(["reversing", "repeating", "inquiring"]);
const isDoubtful = ({ stage, owes }: OrderRecord) =>
  stages.has(stage) || owes === "reverse" || owes === "reverse_prior";

export function makeOperator(world: World) {
  const { time, server, story, hosts, books, configurations, random } = world;
  const database = server.connect();
  const databases = { node: database, vault: database };
  const cells = makeCells({
    main: databases,
    open: () => databases,
    waitMs: config.acceptRetryMs,
    onFailed: () => undefined,
  });
  const now = () => readDatabaseTime(database.query);
  const report = makeReport({ config, cells, now }, (id) =>
    configurations.newest().endpoints.get(id),
  );

  return { work, settleStuck, settleRepeats, giveHost };

  /** Changes the host as `gw gate set --force` does. */
  async function giveHost(id: GateId, port: number): Promise<void> {
    const gate = configurations.gateOf(id);
    if (gate === undefined || gate.settings.port === port) return;
    const place = { cells, reason: "the acquirer moves", isTrial: false };
    const wanted = { kind: gate.kind, settings: { ...gate.settings, port } };
    const changed = await countHostChange(place, gate, wanted, { force: true });
    if (changed instanceof Problem) throw new Error(changed.sentence);
    configurations.put({ ...gate, ...changed });
    story.tell(`the operator leads ${gate.name} to port ${port}`);
  }

  /** Asks a host by telephone that refuses every repeat of a capture or return. */
  async function settleRepeats(): Promise<void> {
    const repeating = server.tables.orders.values().filter(({ stage }) => stage === "repeating");
    for (const order of repeating.map(orderOf)) await settle(order, verdictOn(order));
  }

  /**
   * Asks the host by telephone to reverse what no node can: a charge whose card a standby lacks, or
   * one of a host to which the gate no longer connects.
   */
  async function settleStuck(isLost: (orderId: string) => boolean): Promise<void> {
    const { orders, cards } = server.tables;
    for (const order of orders.values().filter(isDoubtful).map(orderOf)) {
      const prior = order.owed?.effect === "reverse_prior" ? findOwingAttempt(order) : undefined;
      const { card } = prior === undefined ? order : orderOfAttempt(order, prior);
      const isHeld = cards.values().some(({ id }) => id === card.cardId);
      if (!isOfOtherHost(order) && (isHeld || !isLost(order.id))) continue;
      const reference = inDoubtOf(order).identifiers?.reference;
      const booking = books.findLast((each) => each.reference === reference);
      if (booking !== undefined) booking.isReversed = true;
      await settle(order, { kind: "settled_as_not_done", ...signed });
    }
  }

  /** Whether its charge is to be reversed, and was made before the gate got its present host. */
  function isOfOtherHost(order: Order): boolean {
    const { effect } = order.owed ?? {};
    const { gate } = inDoubtOf(order).identifiers ?? {};
    if (gate === undefined || (effect !== "reverse" && effect !== "reverse_prior")) return false;
    const { hostChanges = 0 } = configurations.gateOf(gate.id)?.settings ?? {};
    return hostChanges !== (gate.hostChanges ?? 0);
  }

  /**
   * Settles orders: a thorough operator goes through all orders in doubt, another takes one of
   * them.
   */
  function work(forMs: number, isThorough: boolean): void {
    if (forMs <= 0) return;
    const doubtful = server.tables.orders.values().filter(isDoubtful);
    const taken = isThorough || doubtful.length === 0 ? doubtful : [random.pick(doubtful)];
    for (const record of taken) void decide(orderOf(record));
    const pauseMs = random.between(1_000, 20_000);
    time.after(pauseMs, time.world, () => work(forMs - pauseMs, isThorough));
  }

  /** Leaves out an order about which a node asks the host. */
  async function decide(order: Order): Promise<void> {
    await settle(order, random.chance(0.4) ? askAgain : verdictOn(order));
  }

  async function settle(order: Order, event: OperatorEvent): Promise<void> {
    const decided = await decideDoubt(report, order, event).catch(() => undefined);
    const isTaken = decided !== undefined && "id" in decided;
    story.tell(`the operator decides ${event.kind}${isTaken ? "" : ", in vain"}`, order.id);
  }

  /** Returns the decision. The operator settles only what the books show clearly. */
  function verdictOn(order: Order): OperatorEvent {
    const { kind } = order.owed?.effect === "reverse_prior" ? initialOf(order) : order.transaction;
    const { amount, identifiers } = inDoubtOf(order);
    const { reference = "", traceNumber = "" } = identifiers ?? {};
    const told = hosts.map((host) => host.amountDone(reference, traceNumber, kind));
    const done = told.find((amount) => amount !== undefined);
    if (done === undefined) return { kind: "settled_as_not_done", ...signed };
    const receiptId = asReceiptId("1");
    return BigInt(done) === amount.minor
      ? { kind: "settled_as_done", ...signed, receiptId }
      : askAgain;
  }
}

const signed = { by: "jo", why: "as the hosts' books have it" };
const askAgain: OperatorEvent = { kind: "asked_again", ...signed };
