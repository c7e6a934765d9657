/**
 * Brings transactions into doubt, in a world whose line to the bank the test can hold up and cut.
 * The bank has then carried out the request and could not say so, or never received it.
 */
import { randomUUID } from "node:crypto";
import type { StatusReply } from "@tollgate/client";
import { bankMessage, startTrapProxy, type TrapProxy } from "./bank/trap-proxy.ts";
import { atEnd, type Test } from "./clean-up.ts";
import type { Acknowledged } from "./merchant.ts";
import { type Ran, readGw, runGw } from "./programs.ts";
import { startWorld, type World } from "./world.ts";

export type Place = {
  readonly world: World;
  readonly line: TrapProxy;
  readonly merchant: Merchant;
};

type Merchant = ReturnType<World["merchant"]>;
type Ask = () => Promise<Acknowledged>;

/** A transaction that may come into doubt. */
export type Doubtful = {
  readonly name: "sale" | "capture" | "return";
  readonly mti: string;
  /** Prepares the transaction, and returns a function that requests it. */
  readonly prepare: (merchant: Merchant) => Promise<Ask>;
  readonly amount: string;
  readonly stage: string;
  /** The result if the gateway settles the doubt by itself. */
  readonly settled: string;
  /** The ledger entries if the bank has booked it, and if the rest was refunded afterwards. */
  readonly done: string;
  readonly returned: string;
};

// biome-ignore format: a table
export const doubtful: readonly Doubtful[] = [
  { name: "capture", mti: "0220", prepare: prepareCapture, amount: "7.00",  stage: "capture",  settled: "capture_approved",  done: "authorisation 1015, capture 700", returned: "authorisation 1015, capture 700, reversal 700" },
  { name: "return",  mti: "0400", prepare: prepareReturn,  amount: "4.00",  stage: "reversal", settled: "reversal_approved", done: "sale 1015, reversal 400",         returned: "sale 1015, reversal 400, reversal 615" },
  { name: "sale",    mti: "0200", prepare: prepareSale,    amount: "10.15", stage: "sale",     settled: "sale_error",        done: "sale 1015",                       returned: "sale 1015, reversal 1015" },
];

async function prepareCapture(merchant: Merchant): Promise<Ask> {
  const order = await merchant.preauth();
  return () => merchant.capture(order, { amount: "7.00" });
}

async function prepareReturn(merchant: Merchant): Promise<Ask> {
  const order = await merchant.sale();
  return () => merchant.return(order, { amount: "4.00" });
}

/** Prepares a sale that is a new attempt with the same client order id at each call. */
async function prepareSale(merchant: Merchant): Promise<Ask> {
  const client_orderid = randomUUID();
  return () => merchant.sale({ client_orderid, order_desc: randomUUID() });
}

/**
 * Starts the world. An operator's command uses the database's time: in a world that is `behindMs`
 * behind, every answer is overdue for it.
 */
export async function startDoubtPlace(t: Test, behindMs = 0): Promise<Place> {
  // The clock jumps by hours, and an echo whose answer is still on its way would count as
  // unanswered.
  const world = await startWorld(t, { GW_ACQUIRER_ECHO_AFTER_S: "864000" }, { behindMs });
  const line = await startTrapProxy({ host: "127.0.0.1", port: world.bank.hostPort });
  atEnd(t, () => line.close());
  await world.changeGate("sandbox", { port: line.port });
  return { world, line, merchant: world.merchant() };
}

/** Lets the bank book all of them, and loses its answers with the line. */
export async function leaveUnanswered(
  { world, line, merchant }: Place,
  those: readonly Doubtful[],
): Promise<readonly Acknowledged[]> {
  const asks: Ask[] = [];
  for (const { prepare } of those) {
    asks.push(await prepare(merchant));
    await world.pass(1_000);
  }
  line.hold();
  const orders: Acknowledged[] = [];
  for (const ask of asks) {
    orders.push(await ask());
    world.clock.advance(1_000);
  }
  for (const [at, { mti }] of those.entries()) {
    const { "processor-rrn": reference = "" } = await merchant.status(orders[at] ?? noOrder);
    await world.bank.waitForMessage({ mti, reference });
  }
  line.shut();
  await world.linksDown("sandbox");
  await world.settle();
  return orders;
}

const noOrder = { "merchant-order-id": "" };

/** Loses the message with the line, before it reaches the bank. */
export async function loseOnTheWay({ world, line, merchant }: Place, { prepare, mti }: Doubtful) {
  const ask = await prepare(merchant);
  await world.settle();
  line.set({ ...bankMessage(mti, "before", 1), spring: () => undefined });
  const order = await ask();
  await world.linksDown("sandbox");
  await world.settle();
  return { order, ask };
}

export async function comeBack({ world, line }: Place): Promise<void> {
  line.reset();
  await world.linksUp();
}

/** Settles the doubt as an operator who knows from the bank what happened. */
export function settleByHand(
  world: World,
  order: Acknowledged,
  as: string,
  why: readonly string[] = ["--why", "ticket 4711"],
): Promise<Ran> {
  return runGw(world, "doubt", "settle", order["gw-order-id"], "--as", as, ...why);
}

/** Counts the messages about the order in both directions. */
export function messagesAbout(
  { bank }: World,
  { "processor-rrn": reference }: StatusReply,
): number {
  return bank.messages(reference).length;
}

type Detail = Readonly<Record<string, unknown>>;

/** Returns the details that `gw order show` prints of every event of a kind. */
export async function detailsOf(
  world: World,
  order: Acknowledged,
  wanted: string,
): Promise<readonly Detail[]> {
  const shown = await readGw(world, "order", "show", order["gw-order-id"]);
  const { history } = shown as { history: { kind: string; detail: Detail }[] };
  return history.filter(({ kind }) => kind === wanted).map(({ detail }) => detail);
}
