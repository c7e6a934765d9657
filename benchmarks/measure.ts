/**
 * Makes one round of measurements with processes that are already running. Orders count as
 * completed when another connection to the database finds none open any more.
 */
import { type CpuTime, readCpuTime, timeBetween } from "./cpu-time.ts";
import { grownBetween, type Means, meansBetween, readMetrics } from "./figures.ts";
import type { Load } from "./load.ts";
import { mintTokens, type OrderName } from "./requests.ts";
import {
  countApproved,
  rateOf,
  run,
  type Setup,
  spanOf,
  takeAcknowledged,
  untilNoneOpen,
} from "./setup.ts";

const memoryEveryMs = 200;
const pollsPrepared = 20_000;
/** The number of orders that end within a few seconds, and that the gateway keeps in memory. */
const polledLately = 2_000;
const cardsRegistered = 1_000;
const walletSales = 1_000;
const routeRequests = 1_000;
/** The number of slices of other measurements, which are made in turn with their baselines. */
const otherSlices = 2;

/** Warms up the bare route, because the gateway's just-in-time compiler is warm by then too. */
export async function warmRoute(setup: Setup): Promise<void> {
  await measureRoute(setup, 1);
}

function measureInserts({ plan, gateway, inserts }: Setup, seconds: number) {
  const { databaseUrl } = gateway;
  return inserts.ask("insert", { databaseUrl, connections: plan.insertConnections, seconds });
}

async function measureRoute(setup: Setup, seconds: number): Promise<Load> {
  const target = { ...setup.gateway.target, port: setup.routePort };
  const batch = { kind: "sale", prefix: "route", count: routeRequests } as const;
  const load = await run(setup, batch, { target, seconds });
  rateOf(load);
  return load;
}

export type Turns = {
  readonly insertsPerSecond: number;
  /** The result of each slice, whose differences show how quiet the machine was. */
  readonly insertSlices: readonly number[];
  readonly routePerSecond: number;
  readonly sales: Sales;
  readonly costs: Costs;
  /** The highest memory of the gateway. */
  readonly memoryBytes: number;
};

/** Microseconds of processor time. */
export type Costs = {
  readonly sale: CpuTime;
  /** The processor time of the bare route's process for a request. */
  readonly routeRequest: number;
  /** The processor time of PostgreSQL for a single-row insert. */
  readonly insert: number;
};

/**
 * Measures inserts, the bare route and sales in short slices in turn, so that a busy machine slows
 * all three.
 */
export async function measureByTurns(setup: Setup, prefix: string, count: number): Promise<Turns> {
  const { slices, insertSeconds, routeSeconds } = setup.plan;
  const inserted: { count: number; tookMs: number; time: CpuTime }[] = [];
  const asked: (Load & { time: CpuTime })[] = [];
  const sold: Sold[] = [];
  const before = await readMetrics(setup.gateway.target.port);
  const each = Math.ceil(count / slices);
  let memoryBytes = 0;
  using _watch = every(memoryEveryMs, () => {
    memoryBytes = Math.max(memoryBytes, setup.gateway.readMemoryBytes());
  });
  for (let slice = 1; slice <= slices; slice += 1) {
    inserted.push(await metered(setup, () => measureInserts(setup, insertSeconds / slices)));
    asked.push(await metered(setup, () => measureRoute(setup, routeSeconds / slices)));
    sold.push(await sell(setup, { prefix: `${prefix}.${slice}`, count: each }));
  }
  const after = await readMetrics(setup.gateway.target.port);
  const inserts = sum(inserted, (each) => each.count);
  const requests = sum(asked, ({ sent }) => sent);
  return {
    insertsPerSecond: (inserts * 1000) / sum(inserted, ({ tookMs }) => tookMs),
    insertSlices: inserted.map(({ count: rows, tookMs }) => (rows * 1000) / tookMs),
    routePerSecond: perSecondOf(asked),
    sales: salesOf(sold, meansBetween(before, after)),
    costs: {
      sale: perOne(sold),
      routeRequest: sum(asked, ({ time }) => time.route) / requests,
      insert: sum(inserted, ({ time }) => time.database) / inserts,
    },
    memoryBytes,
  };
}

export type Sales = {
  readonly orders: number;
  /**
   * Sales that were refused because too many orders were in flight; neither accepted nor completed.
   */
  readonly refused: number;
  readonly acceptedPerSecond: number;
  readonly completedPerSecond: number;
  readonly means: Means;
};

export async function measureSales(setup: Setup, prefix: string, count: number): Promise<Sales> {
  const { port } = setup.gateway.target;
  const before = await readMetrics(port);
  const sold = await sell(setup, { prefix, count });
  return salesOf([sold], meansBetween(before, await readMetrics(port)));
}

type Sold = {
  readonly orders: number;
  readonly accepted: number;
  readonly refused: number;
  readonly acceptedMs: number;
  readonly completedMs: number;
  readonly time: CpuTime;
};

type PlainSales = {
  readonly prefix: string;
  readonly count: number;
  readonly callbackUrl?: string;
};

/** Sells until all orders are final, and their callbacks delivered. */
async function sell(setup: Setup, batch: PlainSales): Promise<Sold> {
  const { prefix } = batch;
  const { load, completedAtMs, time } = await metered(setup, async () => {
    const sent = await run(setup, { kind: "sale", ...batch });
    await untilNoneOpen(setup);
    return { load: sent, completedAtMs: await untilNoneOpen(setup, "callbacks") };
  });
  await takeAcknowledged(setup, prefix);
  return {
    orders: await countApproved(setup, prefix),
    accepted: load.sent - load.refused,
    refused: load.refused,
    acceptedMs: spanOf(load),
    completedMs: completedAtMs - load.startedAtMs,
    time,
  };
}

function salesOf(sold: readonly Sold[], means: Means): Sales {
  const orders = sum(sold, (each) => each.orders);
  const accepted = sum(sold, (each) => each.accepted);
  return {
    orders,
    means,
    refused: sum(sold, ({ refused }) => refused),
    acceptedPerSecond: (accepted * 1000) / sum(sold, ({ acceptedMs }) => acceptedMs),
    completedPerSecond: (orders * 1000) / sum(sold, ({ completedMs }) => completedMs),
  };
}

function every(gapMs: number, work: () => void): Disposable {
  const timer = setInterval(work, gapMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Returns the result, and the processor time that each part spent on it. */
export async function metered<Result extends object>(
  { processes }: Setup,
  work: () => Promise<Result>,
) {
  const before = readCpuTime(processes);
  const result = await work();
  return { ...result, time: timeBetween(before, readCpuTime(processes)) };
}

export function perOne(sold: readonly Pick<Sold, "orders" | "time">[]): CpuTime {
  const orders = sum(sold, (each) => each.orders);
  const of = (part: keyof CpuTime) => sum(sold, ({ time }) => time[part]) / orders;
  return {
    gateway: of("gateway"),
    database: of("database"),
    bank: of("bank"),
    load: of("load"),
    route: of("route"),
  };
}

/** The work per second, and the processor time of each part for one unit. */
export type Rate = { readonly perSecond: number; readonly cost: CpuTime };

export type Callbacks = Rate & { readonly without: Rate };

/**
 * Measures sales with delivered callbacks, and the same sales without, in turn. Slices are long,
 * because a thread of low priority delivers the last callbacks of each after its last sale.
 */
export async function measureCallbacks(
  setup: Setup,
  prefix: string,
  count: number,
): Promise<Callbacks> {
  const callbackUrl = `http://127.0.0.1:${setup.receiverPort}/callback`;
  const without: Sold[] = [];
  const sold: Sold[] = [];
  for (let slice = 1; slice <= otherSlices; slice += 1) {
    without.push(await sell(setup, { prefix: `plain${prefix}.${slice}`, count }));
    sold.push(await sell(setup, { prefix: `${prefix}.${slice}`, count, callbackUrl }));
  }
  return { ...rateOfSold(sold), without: rateOfSold(without) };
}

function rateOfSold(sold: readonly Sold[]): Rate {
  const spentMs = sum(sold, ({ completedMs }) => completedMs);
  return { perSecond: (sum(sold, ({ orders }) => orders) * 1000) / spentMs, cost: perOne(sold) };
}

/**
 * Measures orders per second that were held and captured, each from the first request to the last
 * commit.
 */
export async function measureCaptures(
  setup: Setup,
  prefix: string,
  count: number,
): Promise<number> {
  const held = await run(setup, { kind: "preauth", prefix, count });
  const heldMs = (await untilNoneOpen(setup)) - held.startedAtMs;
  const orders = await takeAcknowledged(setup, prefix);
  const captured = await run(setup, { kind: "capture", orders });
  const capturedMs = (await untilNoneOpen(setup)) - captured.startedAtMs;
  rateOf(captured);
  return ((await countApproved(setup, prefix)) * 1000) / (heldMs + capturedMs);
}

/**
 * Measures orders per second that were authenticated without a challenge and charged: the sale, the
 * status with the method's id, the upload of its result, until the last commit.
 */
export async function measureFrictionless(
  setup: Setup,
  prefix: string,
  count: number,
): Promise<number> {
  const { load, authenticated, gateway } = setup;
  const to = { target: gateway.secure };
  const sold = await run(setup, { kind: "sale", prefix, count }, to);
  rateOf(sold);
  const orders = await takeAcknowledged(setup, prefix, { into: authenticated });
  const asked = await run(setup, { kind: "method_id", orders }, to);
  rateOf(asked);
  const transactionIds = await load.ask("found", undefined);
  const uploaded = await run(setup, { kind: "method_upload", orders, transactionIds }, to);
  const uploadedMs = (await untilNoneOpen(setup)) - uploaded.startedAtMs;
  rateOf(uploaded);
  const spentMs = spanOf(sold) + spanOf(asked) + uploadedMs;
  return ((await countApproved(setup, prefix)) * 1000) / spentMs;
}

export type Cards = {
  /** The rate of completed orders. */
  readonly rebillsPerSecond: number;
  readonly cardInfoPerSecond: number;
};

/** Measures payments with registered cards, and requests for their information. */
export async function measureCards(setup: Setup, prefix: string, count: number): Promise<Cards> {
  const orders = setup.acknowledged.slice(0, cardsRegistered);
  await run(setup, { kind: "card_reference", orders });
  const references = await setup.load.ask("found", undefined);
  const paid = await run(setup, { kind: "rebill", prefix, count, references });
  const completedMs = (await untilNoneOpen(setup)) - paid.startedAtMs;
  rateOf(paid);
  await takeAcknowledged(setup, prefix);
  const rebillsPerSecond = ((await countApproved(setup, prefix)) * 1000) / completedMs;
  const seconds = setup.plan.pollSeconds;
  const asked = await run(setup, { kind: "card_info", references }, { seconds });
  return { rebillsPerSecond, cardInfoPerSecond: rateOf(asked) };
}

export type Polls = Rate & { readonly routePerSecond: number };

/**
 * Measures polls of orders that ended lately, as merchants poll them, or of all orders, in turn
 * with the bare route.
 */
export async function measurePolls(setup: Setup, which: "lately" | "all"): Promise<Polls> {
  const { acknowledged, plan } = setup;
  const polled = which === "all" ? acknowledged : acknowledged.slice(-polledLately);
  const orders = Array.from({ length: pollsPrepared }, () => pick(polled));
  // The gateway keeps an ended order from its second poll on.
  const twice = { kind: "poll", orders: [...polled, ...polled] } as const;
  if (which === "lately") await run(setup, twice);
  const seconds = plan.pollSeconds / otherSlices;
  const asked: Load[] = [];
  const polls: (Load & { time: CpuTime })[] = [];
  for (let slice = 1; slice <= otherSlices; slice += 1) {
    asked.push(await measureRoute(setup, seconds));
    polls.push(await metered(setup, () => run(setup, { kind: "poll", orders }, { seconds })));
  }
  return {
    perSecond: perSecondOf(polls),
    routePerSecond: perSecondOf(asked),
    cost: perOne(polls.map(({ sent, time }) => ({ orders: sent, time }))),
  };
}

/** Returns the rate of the loads, of which no request may be refused. */
function perSecondOf(loads: readonly Load[]): number {
  for (const load of loads) rateOf(load);
  return (sum(loads, ({ sent }) => sent) * 1000) / sum(loads, spanOf);
}

export type Wallets = {
  /** The rate of completed orders. */
  readonly perSecond: number;
  /** The time in the wallet worker, which does nothing else. */
  readonly openingMs: number;
  readonly openingShare: number;
};

/** Measures wallet sales per second, and the cost of decrypting their tokens. */
export async function measureWallets(setup: Setup, prefix: string): Promise<Wallets> {
  const { target, bankUrl } = setup.gateway;
  const tokens = await mintTokens(bankUrl, walletSales);
  const before = await readMetrics(target.port);
  const sold = await run(setup, { kind: "wallet_sale", prefix, tokens });
  rateOf(sold);
  const spentMs = (await untilNoneOpen(setup)) - sold.startedAtMs;
  const after = await readMetrics(target.port);
  await takeAcknowledged(setup, prefix);
  const openedMs = grownBetween(before, after, "tollgate_wallet_opening_ms_sum");
  const opened = grownBetween(before, after, "tollgate_wallet_opening_ms_count");
  return {
    perSecond: ((await countApproved(setup, prefix)) * 1000) / spentMs,
    openingMs: openedMs / opened,
    openingShare: openedMs / spentMs,
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function pick(orders: readonly OrderName[]): OrderName {
  const order = orders[Math.floor(Math.random() * orders.length)];
  if (order === undefined) throw new Error("there are no orders to ask for");
  return order;
}
