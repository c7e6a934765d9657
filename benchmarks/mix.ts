/**
 * `npm run bench -- --mix`: measures a realistic mix of orders, each polled twice and called back,
 * with ten screening rules on and an active portal user. Each part is also measured alone, compared
 * with plain sales of the same run, so that the report shows what it adds.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { CpuTime } from "./cpu-time.ts";
import { type Percentiles, percentilesOf } from "./figures.ts";
import * as measure from "./measure.ts";
import { type Mixed, type MixKind, type MixRequest, mixKinds, type Shares } from "./mix-load.ts";
import { type Pauses, readPauses } from "./pauses.ts";
import type { MixPlan } from "./plan.ts";
import { signIn } from "./portal.ts";
import { mintTokens, type OrderName } from "./requests.ts";
import { run, type Setup, screenSales, takeAcknowledged, untilNoneOpen } from "./setup.ts";

type Say = (text: string) => void;

/** The measurements beside the orders. */
type Extras = { readonly polls?: true; readonly callbacks?: true; readonly portal?: true };

type Slice = Extras & { readonly shares: Shares; readonly seconds: number };

type Measured = Mixed & {
  readonly cost: CpuTime;
  readonly looksMs: readonly number[];
};

/** A part of the mix that is measured alone. */
export type Part = {
  readonly name: string;
  /** The share of all orders. */
  readonly share: number;
  /** The cost of one order of the part. */
  readonly cost: CpuTime;
};

export type Mix = {
  readonly perSecond: number;
  readonly orders: number;
  readonly plain: CpuTime;
  readonly cost: CpuTime;
  readonly parts: readonly Part[];
  readonly latency: Readonly<Record<string, Percentiles & { readonly count: number }>>;
  readonly refused: number;
  readonly refusal: string;
  readonly pauses: Pauses;
  /** The gateway's memory at the end or after every minute. */
  readonly memoryBytes: readonly number[];
};

const mixShares = {
  "sale": 60,
  "preauth": 10,
  "3-D Secure": 10,
  "wallet": 10,
  "recurrent": 5,
  "refund": 5,
} satisfies Shares;
const plainShares: Shares = { sale: 100 };
const everything = { polls: true, callbacks: true, portal: true } as const;

const kindNames: Readonly<Record<Exclude<MixKind, "sale">, string>> = {
  "preauth": "preauthorised, polled once, captured",
  "3-D Secure": "3-D Secure, frictionless",
  "wallet": "wallet sale",
  "recurrent": "recurrent sale",
  "refund": "refund",
};

const partsPerRun = 10;
const partSecondsMin = 4;
const minuteSeconds = 60;
const warmUpEach = 1_000;
const cardsRegistered = 1_000;
/** The portal's index is written within this time of an order's end. */
const indexMs = 1_000;
const lookEveryMs = 1_000;

export async function measureMix(
  setup: Setup,
  plan: MixPlan,
  { folder, say }: { readonly folder: string; readonly say: Say },
): Promise<Mix> {
  const { gateway } = setup;
  const bench = await prepare(setup, plan.perSecond, { folder, say });
  const partSeconds = Math.max(partSecondsMin, plan.seconds / partsPerRun);
  const plain: CpuTime[] = [];
  const parts: Part[] = [];
  const measurePlain = async () => {
    const { cost } = await bench.measure({ shares: plainShares, seconds: partSeconds });
    plain.push(cost);
    say(`plain sales: ${printCost(cost)}`);
  };
  const measurePart = async (name: string, share: number, slice: Omit<Slice, "seconds">) => {
    const { cost } = await bench.measure({ seconds: partSeconds, ...slice });
    parts.push({ name, share, cost });
    say(`${name}: ${printCost(cost)}`);
  };

  await measurePlain();
  if (plan.minutes === 0) {
    const shares = plainShares;
    await measurePart("two polls", 1, { shares, polls: true });
    await measurePart("a callback", 1, { shares, callbacks: true });
    await measurePart("a portal user", 1, { shares, portal: true });
    await measurePlain();
    for (const kind of mixKinds) {
      if (kind === "sale") continue;
      await measurePart(kindNames[kind], mixShares[kind] / 100, { shares: { [kind]: 100 } });
    }
    await measurePlain();
  }
  await screenSales(setup);
  if (plan.minutes === 0) await measurePart("ten screening rules", 1, { shares: plainShares });

  const mixed: Measured[] = [];
  const memoryBytes: number[] = [];
  const outputBefore = gateway.readOutput().length;
  for (let minute = 1; minute <= Math.max(1, plan.minutes); minute += 1) {
    const seconds = plan.minutes === 0 ? plan.seconds : minuteSeconds;
    const measured = await bench.measure({ ...everything, shares: mixShares, seconds });
    mixed.push(measured);
    memoryBytes.push(gateway.readMemoryBytes());
    const memory = Math.round((memoryBytes.at(-1) ?? 0) / 1e6);
    const { longestMs } = readPauses(gateway, outputBefore);
    const state = `memory ${memory} MB, longest pause so far ${longestMs.toFixed(1)} ms`;
    say(`the mix: ${printCost(measured.cost)}; ${state}`);
  }
  return {
    perSecond: plan.perSecond,
    parts,
    memoryBytes,
    orders: mixed.reduce((sum, { orders }) => sum + orders.length, 0),
    plain: meanOf(plain),
    cost: meanOf(mixed.map(({ cost }) => cost)),
    latency: latencyOf(mixed),
    refused: mixed.reduce((sum, { refused }) => sum + refused, 0),
    refusal: mixed.find(({ refused }) => refused > 0)?.refusal ?? "",
    pauses: readPauses(gateway, outputBefore),
  };
}

/** Runs the code of all parts, and makes the data that they need. */
async function prepare(
  setup: Setup,
  perSecond: number,
  { folder, say }: { readonly folder: string; readonly say: Say },
) {
  const { load, gateway, acknowledged, authenticated, plan } = setup;
  const { target, secure, bankUrl } = gateway;
  const receiver = `http://127.0.0.1:${setup.receiverPort}/callback`;
  say(`Warming up with ${warmUpEach} orders of each kind …`);
  await measure.measureCallbacks(setup, "warmcallback", warmUpEach);
  await measure.measureCaptures(setup, "warmheld", warmUpEach);
  await measure.measureFrictionless(setup, "warmsecure", warmUpEach);
  await measure.measureCards(setup, "warmagain", warmUpEach);
  await measure.measureWallets(setup, "warmwallet");
  await run(setup, { kind: "card_reference", orders: acknowledged.slice(0, cardsRegistered) });
  const references = (await load.ask("found", undefined)).filter((reference) => reference !== "");
  const ask = await signIn(folder, "operator");
  const refundable: OrderName[] = [];
  let slices = 0;

  return {
    async measure({ shares, seconds, polls, callbacks, portal }: Slice): Promise<Measured> {
      slices += 1;
      const prefix = `mix${slices}`;
      const count = Math.round(perSecond * seconds);
      const countOf = (kind: MixKind) => Math.ceil((count * (shares[kind] ?? 0)) / 100) + 1;
      const notifyUrl = callbacks && receiver;
      const refunds = shares.refund === undefined ? 0 : countOf("refund");
      const missing = refunds - refundable.length;
      if (missing > 0) refundable.push(...(await sellFor(missing, `${prefix}sold`, notifyUrl)));
      const tokens =
        shares.wallet === undefined ? [] : await mintTokens(bankUrl, countOf("wallet"));
      const job = {
        target,
        secure,
        connections: plan.connections,
        prefix,
        count,
        perSecond,
        shares,
        polls: polls === true,
        notifyUrl,
        tokens,
        references,
        refundable: refundable.splice(0, refunds),
      };
      const user = portal && startLooking(ask);
      const { time, ...mixed } = await measure.metered(setup, async () => {
        const done = await load.ask("mix", job);
        await untilNoneOpen(setup);
        await untilNoneOpen(setup, "callbacks");
        await pause(indexMs);
        return done;
      });
      const looksMs = (await user?.stop()) ?? [];
      for (const order of mixed.orders) {
        if (order.kind === "refund") continue;
        (order.kind === "3-D Secure" ? authenticated : acknowledged).push(order);
        if (order.kind === "sale" && callbacks) refundable.push(order);
      }
      return { ...mixed, looksMs, cost: measure.perOne([{ time, orders: mixed.orders.length }]) };
    },
  };

  /** Makes plain sales, so that there is something to refund. */
  async function sellFor(count: number, prefix: string, notifyUrl: string | undefined) {
    await run(setup, { kind: "sale", prefix, count, notifyUrl });
    await untilNoneOpen(setup);
    await untilNoneOpen(setup, "callbacks");
    return takeAcknowledged(setup, prefix);
  }
}

/** Reads the portal's home screen and orders once a second until it is stopped. */
function startLooking(ask: Awaited<ReturnType<typeof signIn>>) {
  const looksMs: number[] = [];
  let isOver = false;
  const looking = look();
  return {
    async stop(): Promise<readonly number[]> {
      isOver = true;
      await looking;
      return looksMs;
    },
  };

  async function look(): Promise<void> {
    while (!isOver) {
      const startedAt = performance.now();
      await Promise.all([ask("home?range=hour"), ask("orders")]);
      looksMs.push(performance.now() - startedAt);
      await pause(Math.max(0, startedAt + lookEveryMs - performance.now()));
    }
  }
}

function latencyOf(mixed: readonly Measured[]): Mix["latency"] {
  const asked = [...new Set(mixed.flatMap(({ delaysMs }) => Object.keys(delaysMs)))];
  const all = asked.map(
    // The keys are those of the delays.
    (what) => [what, mixed.flatMap((each) => each.delaysMs[what as MixRequest] ?? [])] as const,
  );
  const looks = ["portal, home and orders", mixed.flatMap(({ looksMs }) => looksMs)] as const;
  return Object.fromEntries(
    [...all, looks].map(([what, ms]) => [what, { count: ms.length, ...percentilesOf(ms) }]),
  );
}

export function meanOf(costs: readonly CpuTime[]): CpuTime {
  const of = (part: keyof CpuTime) =>
    costs.reduce((sum, cost) => sum + cost[part], 0) / costs.length;
  return {
    gateway: of("gateway"),
    database: of("database"),
    bank: of("bank"),
    load: of("load"),
    route: of("route"),
  };
}

function printCost({ gateway, database, bank }: CpuTime): string {
  const [own, stored, banks] = [gateway, database, bank].map((us) => Math.round(us));
  return `gateway ${own} µs an order, PostgreSQL ${stored}, the bank ${banks}`;
}
