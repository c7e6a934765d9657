/**
 * Measures latency at a fixed rate of arrivals: of the bare route, of sales, and of sales beside
 * wallet sales, in short slices in turn. Their ratios are therefore valid on a machine whose speed
 * changes.
 */
import { statSync } from "node:fs";
import type { CpuTime } from "./cpu-time.ts";
import * as figures from "./figures.ts";
import { metered, perOne } from "./measure.ts";
import { mintTokens } from "./requests.ts";
import { type Setup, takeAcknowledged, untilNoneOpen } from "./setup.ts";

export type Arrivals = {
  readonly routeMs: figures.Percentiles;
  readonly sales: figures.Overhead;
  /** The overhead of plain sales with wallet sales beside them. */
  readonly besideWallets: figures.Overhead;
  /** The bank's time for a plain sale, which is a part of the overhead. */
  readonly bankAnswerMs: number;
  /** The upper limit of the p99 of each stage of a plain sale, from the gateway's histograms. */
  readonly stageMs: { readonly begin: number; readonly bank: number; readonly move: number };
  readonly cost: CpuTime;
};

type Slice = figures.Arrived & { readonly time: CpuTime };

const walletsPerSecond = 50;
const walletConnections = 16;

export async function measureArrivals(setup: Setup, round: number): Promise<Arrivals> {
  const { plan, gateway } = setup;
  const log = { file: gateway.logFile, fromByte: statSync(gateway.logFile).size };
  const route: figures.Arrived[] = [];
  const plain: Slice[] = [];
  const mixed: Slice[] = [];
  const readings: figures.Readings[] = [];
  let bankAnswersMs = 0;
  for (let slice = 1; slice <= plan.arrivalSlices; slice += 1) {
    const name = `${round}.${slice}`;
    route.push(await arrive(setup, "route", setup.routePort));
    const before = await figures.readMetrics(gateway.target.port);
    plain.push(await arriveAtGateway(setup, `open${name}`));
    const after = await figures.readMetrics(gateway.target.port);
    readings.push([before, after]);
    bankAnswersMs += figures.meansBetween(before, after).bankAnswerMs;
    mixed.push(await arriveBesideWallets(setup, name));
  }
  return {
    routeMs: figures.delaysOf(route, ({ answeredAtMs }) => answeredAtMs),
    sales: await figures.readOverhead(log, plain),
    besideWallets: await figures.readOverhead(log, mixed),
    bankAnswerMs: bankAnswersMs / plan.arrivalSlices,
    stageMs: {
      begin: figures.p99Between(readings, "tollgate_commit_duration_ms", 'queue="begin"'),
      bank: figures.p99Between(readings, "tollgate_acquirer_answer_ms", 'mti="0200"'),
      move: figures.p99Between(readings, "tollgate_commit_duration_ms", 'queue="move"'),
    },
    cost: perOne(plain.map(({ time, orderIds }) => ({ time, orders: orderIds.length }))),
  };
}

export async function arriveAtGateway(setup: Setup, prefix: string): Promise<Slice> {
  const slice = await arrive(setup, prefix, setup.gateway.target.port);
  await untilNoneOpen(setup);
  await takeAcknowledged(setup, prefix);
  return slice;
}

async function arriveBesideWallets(setup: Setup, name: string): Promise<Slice> {
  const { gateway, otherLoad: load, acknowledged: into } = setup;
  const { target, bankUrl } = gateway;
  const tokens = await mintTokens(bankUrl, walletsPerSecond * secondsOf(setup));
  const prefix = `beside${name}`;
  const arriving = load.ask("arrive", {
    target,
    connections: walletConnections,
    perSecond: walletsPerSecond,
    batch: { kind: "wallet_sale", prefix, tokens },
  });
  const slice = await arriveAtGateway(setup, `mixed${name}`);
  await arriving;
  await untilNoneOpen(setup);
  await takeAcknowledged(setup, prefix, { into, load });
  return slice;
}

async function arrive(setup: Setup, prefix: string, port: number): Promise<Slice> {
  const { plan, gateway, load } = setup;
  const { connections, arrivalsPerSecond: perSecond } = plan;
  const target = { ...gateway.target, port };
  const batch = { kind: "sale", prefix, count: perSecond * secondsOf(setup) } as const;
  const job = { target, connections, batch, perSecond };
  const slice = await metered(setup, () => load.ask("arrive", job));
  return { ...slice, orderIds: await load.ask("found", undefined) };
}

function secondsOf({ plan }: Setup): number {
  return plan.arrivalSeconds / plan.arrivalSlices;
}
