/**
 * A place where transactions come into doubt: a world whose line to the bank the test can hold up
 * and cut. The bank has then done what it was asked and could not say so, or was never asked.
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
  /** Does what must come before, and answers how to ask for it. */
  readonly prepare: (merchant: Merchant) => Promise<Ask>;
  readonly amount: string;
  readonly stage: string;
  /** How it ends when the gateway settles it by itself. */
  readonly settled: string;
  /** In the books when the bank has done it, and when the rest was refunded afterwards. */
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

/** Every time another attempt with the same client order id. */
async function prepareSale(merchant: Merchant): Promise<Ask> {
  const client_orderid = randomUUID();
  return () => merchant.sale({ client_orderid, order_desc: randomUUID() });
}

/**
 * An operator's command goes by the database's time: in a world that is `behindMs` behind, it finds
 * the answer to every message overdue.
 */
export async function startDoubtPlace(t: Test, behindMs = 0): Promise<Place> {
  // The clock jumps by hours: an echo whose answer is still on its way would count as unanswered.
  const world = await startWorld(t, { GW_ACQUIRER_ECHO_AFTER_S: "864000" }, { behindMs });
  const line = await startTrapProxy({ host: "127.0.0.1", port: world.bank.hostPort });
  atEnd(t, () => line.close());
  await world.changeGate("sandbox", { port: line.port });
  return { world, line, merchant: world.merchant() };
}

/** The bank does them all, and its answers are lost with the line. */
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

/** The message is lost with the line, and the bank never hears of it. */
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

/** As an operator who knows from the bank what it has done. */
export function settleByHand(
  world: World,
  order: Acknowledged,
  as: string,
  why: readonly string[] = ["--why", "ticket 4711"],
): Promise<Ran> {
  return runGw(world, "doubt", "settle", order["gw-order-id"], "--as", as, ...why);
}

/** How many messages about the order have gone to and fro. */
export function messagesAbout(
  { bank }: World,
  { "processor-rrn": reference }: StatusReply,
): number {
  return bank.messages(reference).length;
}

type Detail = Readonly<Record<string, unknown>>;

/** What the order's history tells of every event of a kind, by `gw order show`. */
export async function detailsOf(
  world: World,
  order: Acknowledged,
  wanted: string,
): Promise<readonly Detail[]> {
  const shown = await readGw(world, "order", "show", order["gw-order-id"]);
  const { history } = shown as { history: { kind: string; detail: Detail }[] };
  return history.filter(({ kind }) => kind === wanted).map(({ detail }) => detail);
}
