/**
 * `npm run bench -- --latency`: how long a merchant waits at fixed rates of arrivals, beside a
 * durable single-row insert into the same PostgreSQL. Inserts and the kinds of requests are
 * measured by turns, in short slices; with `--burn` at one rate only, beside busy cores.
 */
import type { BaselineJobs } from "./baselines.ts";
import {
  type Means,
  meansBetween,
  type Percentiles,
  percentilesOf,
  readMetrics,
} from "./figures.ts";
import { type ArrivalTimes, timerGrainMs } from "./http-load.ts";
import { measureSales } from "./measure.ts";
import { startPart } from "./parts.ts";
import type { Batch, OrderName, Target } from "./requests.ts";
import { rateOf, run, type Setup, takeAcknowledged, untilNoneOpen } from "./setup.ts";

/** The bare route shows how much of a time is HTTP's and the load generator's. */
export const kinds = [
  ...(["sale", "synchronous sale", "capture", "status", "payment page", "bare route"] as const),
];
export type Kind = (typeof kinds)[number];

/** `perSecond` is undefined for one client that sends one request after the other. */
export type Rate = { readonly name: string; readonly perSecond: number | undefined };

/** The durations of one kind of request at one rate, or of the inserts between them. */
export type Cell = {
  readonly rate: string;
  readonly kind: Kind | "insert";
  readonly count: number;
  /** Each counts as one that was never answered. */
  readonly refused: number;
  readonly ms: Percentiles;
  /** The gateway's own means; only sales and synchronous sales have them. */
  readonly means?: SaleMeans;
};

/** A sale that is not synchronous does not wait for the bank's answer. */
export type SaleMeans = Pick<Means, "requestMs" | "beginMs" | "bankAnswerMs">;

export type Latency = {
  readonly cells: readonly Cell[];
  readonly maximumPerSecond: number;
  /** The median of all inserts of the run. */
  readonly insertMs: number;
  /** The medians of the slices of inserts: how much they differ shows how quiet the machine was. */
  readonly insertSlices: readonly number[];
  readonly burners: number;
};

type Say = (text: string) => void;
type Slice = {
  readonly delaysMs: readonly number[];
  readonly refused: number;
  readonly means?: SaleMeans;
};
type Timing = {
  readonly passes: number;
  readonly insertSeconds: number;
  readonly seconds: Readonly<Record<Kind, number>>;
};

const serial: Rate = { name: "one after the other", perSecond: undefined };
const fixed: readonly Rate[] = [50, 200, 500].map((perSecond) => ({
  name: `${perSecond}/s`,
  perSecond,
}));
const ofMaximum = 0.8;
const maximumSeconds = 3;
const pagesPerMinute = 1_200;
/** More than one client can send in a second. */
const inTurnPerSecond = 1_000;

const payments = { "sale": 5, "synchronous sale": 4 };
const long: Timing = {
  passes: 2,
  insertSeconds: 0.4,
  seconds: { ...payments, "capture": 2.5, "status": 2, "payment page": 3, "bare route": 1 },
};
const short: Timing = {
  passes: 1,
  insertSeconds: 0.3,
  seconds: {
    "sale": 3,
    "synchronous sale": 2,
    "capture": 1,
    "status": 1,
    "payment page": 1.5,
    "bare route": 0.5,
  },
};

/** The gateway has sold `count` orders in a closed loop within the plan's seconds of sales. */
export async function measureLatency(
  setup: Setup,
  { count, say, stack }: { count: number; say: Say; stack: AsyncDisposableStack },
): Promise<Latency> {
  const { plan } = setup;
  const timing = plan.kind === "quick" ? short : long;
  const probe = Math.round((count * maximumSeconds) / plan.saleSeconds);
  const { completedPerSecond: maximum } = await measureSales(setup, "maximum", probe);
  say(`The maximum is ${Math.round(maximum)} completed sales a second.`);
  const most = { name: "80 % of the maximum", perSecond: Math.round(maximum * ofMaximum) };
  const rates = plan.burn > 0 ? fixed.slice(-1) : [serial, ...fixed, most];
  for (const kind of kinds) {
    await measureSlice(setup, kind, { perSecond: 200, seconds: 1, prefix: "warm" });
  }
  burnCores(plan.burn, stack);

  const slices = new Map<string, Slice[]>();
  const insertSlices: number[] = [];
  const add = (rate: Rate, kind: Cell["kind"], slice: Slice) => {
    const key = `${rate.name}|${kind}`;
    slices.set(key, [...(slices.get(key) ?? []), slice]);
  };
  for (let pass = 1; pass <= timing.passes; pass += 1) {
    for (const [index, rate] of rates.entries()) {
      say(`Pass ${pass} of ${timing.passes}: ${rate.name}`);
      for (const kind of kinds) {
        const delaysMs = await measureInserts(setup, timing.insertSeconds);
        insertSlices.push(percentilesOf(delaysMs).p50);
        add(rate, "insert", { delaysMs, refused: 0 });
        const seconds = timing.seconds[kind];
        const prefix = `${pass}.${index}`;
        add(rate, kind, await measureSlice(setup, kind, { ...rate, seconds, prefix }));
      }
    }
  }
  const cells = rates.flatMap((rate) =>
    [...kinds, "insert" as const].map((kind) =>
      makeCell(rate.name, kind, slices.get(`${rate.name}|${kind}`) ?? []),
    ),
  );
  const inserts = rates.flatMap(({ name }) => slices.get(`${name}|insert`) ?? []);
  const insertMs = percentilesOf(inserts.flatMap(({ delaysMs }) => delaysMs)).p50;
  return { cells, maximumPerSecond: maximum, insertMs, insertSlices, burners: plan.burn };
}

function makeCell(rate: string, kind: Cell["kind"], slices: readonly Slice[]): Cell {
  const delaysMs = slices.flatMap((slice) => slice.delaysMs);
  const refused = slices.reduce((sum, slice) => sum + slice.refused, 0);
  const never = new Array<number>(refused).fill(Number.POSITIVE_INFINITY);
  const means = slices.flatMap((slice) => slice.means ?? []);
  const meanOf = (part: keyof SaleMeans) =>
    means.reduce((sum, each) => sum + each[part], 0) / means.length;
  return {
    rate,
    kind,
    refused,
    count: delaysMs.length,
    ms: percentilesOf([...delaysMs, ...never]),
    ...(means.length > 0 && {
      means: {
        requestMs: meanOf("requestMs"),
        beginMs: meanOf("beginMs"),
        bankAnswerMs: meanOf("bankAnswerMs"),
      },
    }),
  };
}

/** They end with the benchmark. */
function burnCores(count: number, stack: AsyncDisposableStack): void {
  for (let index = 0; index < count; index += 1) {
    const burner = startPart<BaselineJobs>("baselines.ts", stack);
    void burner.ask("burn", undefined).catch(() => undefined);
  }
}

/** One after the other on one connection. */
async function measureInserts({ gateway, inserts }: Setup, seconds: number) {
  const { databaseUrl } = gateway;
  return (await inserts.ask("insert", { databaseUrl, connections: 1, seconds })).eachMs;
}

type Asked = {
  readonly perSecond: number | undefined;
  readonly seconds: number;
  readonly prefix: string;
};

async function measureSlice(setup: Setup, kind: Kind, asked: Asked): Promise<Slice> {
  const { acknowledged, gateway } = setup;
  const count = Math.ceil((asked.perSecond ?? inTurnPerSecond) * asked.seconds);
  const name = `${kind.replaceAll(" ", "")}${asked.prefix}`;
  switch (kind) {
    case "sale":
      return pay(setup, { kind: "sale", prefix: name, count }, asked);
    case "synchronous sale":
      return pay(setup, { kind: "sync_sale", prefix: name, count }, asked);
    case "capture": {
      rateOf(await run(setup, { kind: "preauth", prefix: name, count }));
      await untilNoneOpen(setup);
      const orders = await takeAcknowledged(setup, name);
      return send(setup, { kind: "capture", orders }, asked);
    }
    case "status": {
      // Each is asked for twice, as merchants do.
      const orders = acknowledged.slice(-Math.ceil(count / 2));
      return send(setup, { kind: "poll", orders: [...orders, ...orders] }, asked);
    }
    case "payment page":
      return openPages(setup, name, asked);
    case "bare route": {
      const target = { ...gateway.target, port: setup.routePort };
      return send(setup, { kind: "sale", prefix: name, count }, { ...asked, target });
    }
  }
}

/** Waits for the results of the payments, and keeps their orders to compare the books. */
async function pay(
  setup: Setup,
  batch: Batch & { readonly prefix: string },
  asked: Asked,
): Promise<Slice> {
  const { port } = setup.gateway.target;
  const before = await readMetrics(port);
  const slice = await send(setup, batch, asked);
  const means = meansBetween(before, await readMetrics(port));
  await takeAcknowledged(setup, batch.prefix);
  return { ...slice, means };
}

async function send(
  setup: Setup,
  batch: Batch,
  {
    perSecond,
    seconds,
    target = setup.gateway.target,
  }: Pick<Asked, "perSecond" | "seconds"> & { readonly target?: Target },
): Promise<Slice> {
  const { load, plan } = setup;
  const job = { target, batch };
  const { connections } = plan;
  const arrived =
    perSecond === undefined
      ? await load.ask("inTurn", { ...job, seconds })
      : await load.ask("arrive", { ...job, connections, perSecond });
  await untilNoneOpen(setup);
  return { delaysMs: delaysOf(arrived), refused: arrived.refused };
}

/** Pages opened at a rate of their own, beside sales at the one that is measured. */
async function openPages(setup: Setup, name: string, asked: Asked): Promise<Slice> {
  const { gateway, otherLoad, acknowledged } = setup;
  const { perSecond, seconds } = asked;
  const prefix = `form${name}`;
  const count = Math.ceil((seconds * pagesPerMinute) / 60);
  const job = { target: gateway.target, prefix, count, perMinute: pagesPerMinute };
  const opening = otherLoad.ask("payPages", job);
  if (perSecond !== undefined) {
    await pay(setup, { kind: "sale", prefix: name, count: Math.ceil(perSecond * seconds) }, asked);
  }
  const { orders, shownMs } = await opening;
  keep(acknowledged, orders);
  await untilNoneOpen(setup);
  return { delaysMs: shownMs, refused: 0 };
}

function keep(acknowledged: OrderName[], orders: readonly OrderName[]): void {
  for (const order of orders) acknowledged.push(order);
}

/** From the moment each request was due, or was sent when only the timer's grain lies between. */
export function delaysOf({ dueAtMs, sentAtMs, answeredAtMs }: ArrivalTimes): readonly number[] {
  return [...answeredAtMs].map((answeredAt, index) => {
    const dueAt = dueAtMs[index] ?? 0;
    return answeredAt - Math.min(sentAtMs[index] ?? 0, dueAt + timerGrainMs);
  });
}

const medianSlices = 5;
const medianRate = 50;
const medianSeconds: Readonly<Partial<Record<Kind, number>>> = { "sale": 2, "bare route": 1 };
const medianInsertSeconds = 0.4;

/** The medians of a sale and of a bare request at 50/s, and of an insert, in one short slice. */
export type Medians = {
  readonly saleMs: number;
  readonly routeMs: number;
  readonly insertMs: number;
};

/** In several short slices, each of the three by turns. */
export async function measureMedians(setup: Setup): Promise<readonly Medians[]> {
  const medians: Medians[] = [];
  for (let slice = 1; slice <= medianSlices; slice += 1) {
    const medianOf = async (kind: Kind) => {
      const asked = {
        perSecond: medianRate,
        seconds: medianSeconds[kind] ?? 1,
        prefix: `${slice}`,
      };
      return percentilesOf((await measureSlice(setup, kind, asked)).delaysMs).p50;
    };
    const insertMs = percentilesOf(await measureInserts(setup, medianInsertSeconds)).p50;
    const routeMs = await medianOf("bare route");
    medians.push({ insertMs, routeMs, saleMs: await medianOf("sale") });
  }
  return medians;
}
