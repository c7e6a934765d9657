/**
 * One round of measurements, each against the processes that are up already. Sales count as
 * completed when another connection to the database sees none open any more.
 */
import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import type { InsertJobs } from "./baseline-inserts.ts";
import { type Means, meansBetween, readMetrics } from "./gateway-metrics.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { Load, LoadJobs } from "./load.ts";
import { delaysOf, type Overhead, type Percentiles, readOverhead } from "./overhead.ts";
import type { Part } from "./part-process.ts";
import type { Plan } from "./plan.ts";
import { clientOrderIdOf, type OrderName } from "./requests.ts";

/** All that runs while the benchmark measures, and what it has been told so far. */
export type Stage = {
  readonly plan: Plan;
  readonly gateway: GatewayProcess;
  readonly database: Client;
  readonly load: Part<LoadJobs>;
  /** A second generator, for what comes alongside. */
  readonly otherLoad: Part<LoadJobs>;
  readonly inserts: Part<InsertJobs>;
  readonly routePort: number;
  /** Where a merchant listens who answers at once. */
  readonly receiverPort: number;
  readonly acknowledged: OrderName[];
  /** The same of the endpoint that does 3-D Secure. */
  readonly authenticated: OrderName[];
};

export type Sales = {
  readonly orders: number;
  /** Turned away by a gateway that had too much in hand; neither accepted nor completed. */
  readonly refused: number;
  readonly acceptedPerSecond: number;
  readonly completedPerSecond: number;
  readonly means: Means;
};

const settleWithinMs = 60_000;
const lookEveryMs = 5;
const pollsPrepared = 20_000;
const cardsRegistered = 1_000;

export async function measureInserts({ plan, gateway, inserts }: Stage): Promise<number> {
  const { databaseUrl } = gateway;
  const { insertConnections: connections, insertSeconds: seconds } = plan;
  const { perSecond } = await inserts.ask("insert", { databaseUrl, connections, seconds });
  return perSecond;
}

export async function measureRoute(stage: Stage): Promise<number> {
  const { plan, gateway, load, routePort } = stage;
  const target = { ...gateway.target, port: routePort };
  const { connections, routeSeconds: seconds } = plan;
  return rateOf(await load.ask("route", { target, connections, prefix: "route", seconds }));
}

/** What a request costs at the rate of the open arrivals when there is no gateway behind it. */
export async function measureRouteArrivals(stage: Stage): Promise<Percentiles> {
  const { plan, gateway, load, routePort } = stage;
  const target = { ...gateway.target, port: routePort };
  const { connections, arrivalsPerSecond: perSecond, routeSeconds: seconds } = plan;
  const job = { target, connections, prefix: "route", perSecond, seconds };
  const { answeredAtMs, dueAtMs } = await load.ask("arrivals", job);
  return delaysOf(answeredAtMs, dueAtMs);
}

export async function measureSales(stage: Stage, prefix: string, count: number): Promise<Sales> {
  const { plan, gateway, load } = stage;
  const { target } = gateway;
  const before = await readMetrics(target.port);
  const { connections } = plan;
  const sold = await load.ask("sales", { target, connections, prefix, count, kind: "sale" });
  const completedAtMs = await untilNoneOpen(stage);
  const after = await readMetrics(target.port);
  await takeAcknowledged(stage, prefix);

  const orders = await countApproved(stage, prefix);
  const completedMs = completedAtMs - sold.startedAtMs;
  const { sent, refused, startedAtMs, endedAtMs } = sold;
  return {
    orders,
    refused,
    acceptedPerSecond: ((sent - refused) * 1000) / (endedAtMs - startedAtMs),
    completedPerSecond: (orders * 1000) / completedMs,
    means: meansBetween(before, after),
  };
}

/** Orders a second that were held and captured, both from the first request to the last commit. */
export async function measureCaptures(
  stage: Stage,
  prefix: string,
  count: number,
): Promise<number> {
  const { plan, gateway, load } = stage;
  const { target } = gateway;
  const { connections } = plan;
  const held = await load.ask("sales", { target, connections, prefix, count, kind: "preauth" });
  const heldMs = (await untilNoneOpen(stage)) - held.startedAtMs;
  const from = stage.acknowledged.length;
  await takeAcknowledged(stage, prefix);
  const orders = stage.acknowledged.slice(from);

  const captured = await load.ask("captures", { target, connections, orders });
  const capturedMs = (await untilNoneOpen(stage)) - captured.startedAtMs;
  rateOf(captured);
  return ((await countApproved(stage, prefix)) * 1000) / (heldMs + capturedMs);
}

/** Sales a second whose merchants were told as well, until the last of them has heard. */
export async function measureTold(stage: Stage, prefix: string, count: number): Promise<number> {
  const { plan, gateway, load, receiverPort } = stage;
  const { target } = gateway;
  const { connections } = plan;
  const callbackUrl = `http://127.0.0.1:${receiverPort}/told`;
  const job = { target, connections, prefix, count, callbackUrl };
  const sold = await load.ask("sales", { ...job, kind: "sale" });
  await untilNoneOpen(stage);
  const toldMs = (await untilNoneOpen(stage, "callbacks")) - sold.startedAtMs;
  rateOf(sold);
  await takeAcknowledged(stage, prefix);
  return ((await countApproved(stage, prefix)) * 1000) / toldMs;
}

/**
 * Orders a second that were authenticated without a challenge and charged: the sale, the status
 * that tells of the method, the upload of its result, until the last commit.
 */
export async function measureFrictionless(
  stage: Stage,
  prefix: string,
  count: number,
): Promise<number> {
  const { plan, gateway, load } = stage;
  const { secure: target } = gateway;
  const { connections } = plan;
  const sold = await load.ask("sales", { target, connections, prefix, count, kind: "sale" });
  rateOf(sold);
  const from = stage.authenticated.length;
  await takeAcknowledged(stage, prefix, { into: stage.authenticated });
  const orders = stage.authenticated.slice(from);

  const { ids, ...asked } = await load.ask("methods", { target, connections, orders });
  rateOf(asked);
  const named = orders.map((order, index) => ({ ...order, transactionId: ids[index] ?? "" }));
  const uploaded = await load.ask("uploads", { target, connections, orders: named });
  const uploadedMs = (await untilNoneOpen(stage)) - uploaded.startedAtMs;
  rateOf(uploaded);
  const spentMs = spanOf(sold) + spanOf(asked) + uploadedMs;
  return ((await countApproved(stage, prefix)) * 1000) / spentMs;
}

export type Cards = {
  /** Completed, as sales are. */
  readonly rebillsPerSecond: number;
  readonly cardInfoPerSecond: number;
};

/** Payments with registered cards, and questions about these. */
export async function measureCards(stage: Stage, prefix: string, count: number): Promise<Cards> {
  const { plan, gateway, load, acknowledged } = stage;
  const { target } = gateway;
  const { connections, pollSeconds: seconds } = plan;
  const orders = acknowledged.slice(0, cardsRegistered);
  const references = await load.ask("register", { target, connections, orders });
  const job = { target, connections, prefix, count, references };
  const paid = await load.ask("rebills", job);
  const completedMs = (await untilNoneOpen(stage)) - paid.startedAtMs;
  rateOf(paid);
  await takeAcknowledged(stage, prefix);
  const rebillsPerSecond = ((await countApproved(stage, prefix)) * 1000) / completedMs;
  const asked = await load.ask("cardInfo", { target, connections, references, seconds });
  return { rebillsPerSecond, cardInfoPerSecond: rateOf(asked) };
}

export async function measurePolls({ plan, gateway, load, acknowledged }: Stage): Promise<number> {
  const { target } = gateway;
  const { connections, pollSeconds: seconds } = plan;
  const orders = Array.from({ length: pollsPrepared }, () => pick(acknowledged));
  return rateOf(await load.ask("polls", { target, connections, orders, seconds }));
}

/** `bankAnswerMs` is told beside the overhead and not taken off it. */
export async function measureArrivals(
  stage: Stage,
  prefix: string,
): Promise<Overhead & { readonly bankAnswerMs: number }> {
  const { plan, gateway, load } = stage;
  const { target, logFile: file } = gateway;
  const { connections, arrivalsPerSecond: perSecond, arrivalSeconds: seconds } = plan;
  const before = await readMetrics(target.port);
  const fromByte = statSync(file).size;
  const job = { target, connections, prefix, perSecond, seconds };
  const arrivals = await load.ask("arrivals", job);
  await untilNoneOpen(stage);
  const after = await readMetrics(target.port);
  const orderIds = await takeAcknowledged(stage, prefix);
  const overhead = await readOverhead({ file, fromByte }, { ...arrivals, orderIds });
  return { ...overhead, bankAnswerMs: meansBetween(before, after).bankAnswerMs };
}

/** The moment at which every order was seen to be final. */
export async function untilNoneOpen(
  { database }: Stage,
  table: "orders" | "callbacks" = "orders",
): Promise<number> {
  const giveUpAt = Date.now() + settleWithinMs;
  for (;;) {
    const { rowCount } = await database.query({
      name: `open ${table}`,
      text: `select 1 from ${table} where due_at is not null limit 1`,
    });
    // What is still open after so long will be found by the audit.
    if (rowCount === 0 || Date.now() > giveUpAt) return Date.now();
    await pause(lookEveryMs);
  }
}

export async function countApproved({ database }: Stage, prefix: string): Promise<number> {
  const { rows } = await database.query(
    "select count(*) from orders where stage = 'approved' and client_orderid like $1",
    [`${prefix}-%`],
  );
  return Number(rows[0]?.count);
}

export async function takeAcknowledged(
  stage: Stage,
  prefix: string,
  { into = stage.acknowledged, load = stage.load } = {},
): Promise<readonly string[]> {
  const orderIds = await load.ask("acknowledged", undefined);
  for (const [index, orderId] of orderIds.entries()) {
    if (orderId === "") continue;
    into.push({ clientOrderId: clientOrderIdOf(prefix, index), orderId });
  }
  return orderIds;
}

/** Replies a second, from the first request to the last reply. */
function rateOf(load: Load): number {
  const { sent, refused, refusal, startedAtMs, endedAtMs } = load;
  // A rate of refusals is no figure: nothing that is counted so may be refused.
  if (refused > 0) throw new Error(`${refused} of ${sent} were refused, first: ${refusal}`);
  return (sent * 1000) / (endedAtMs - startedAtMs);
}

function spanOf({ startedAtMs, endedAtMs }: Load): number {
  return endedAtMs - startedAtMs;
}

function pick(orders: readonly OrderName[]): OrderName {
  const order = orders[Math.floor(Math.random() * orders.length)];
  if (order === undefined) throw new Error("there are no orders to ask for");
  return order;
}
