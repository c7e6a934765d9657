/**
 * The load generator, which runs in its own process. It prepares the requests of a job, opens its
 * connections and starts the clock. The content of the replies is fetched afterwards, because the
 * transfer takes longer than the measured interval.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  type ArrivalTimes,
  epochNow,
  type Reply,
  runArrivals,
  runClosedLoop,
  type Span,
} from "./http-load.ts";
import { type Mixed, type MixJob, runMix } from "./mix-load.ts";
import { type PageJob, type PaidPages, payPages } from "./page-load.ts";
import { offer } from "./parts.ts";
import { type Batch, makeRequests, type Target } from "./requests.ts";

type Job = { readonly target: Target; readonly connections: number; readonly batch: Batch };

export type LoadJobs = {
  /** Sends each request once or, for a duration, repeatedly. */
  readonly run: readonly [Job & { readonly seconds: number | undefined }, Load];
  /**
   * Sends one request after the other for a duration: each is due when the previous one is
   * answered.
   */
  readonly inTurn: readonly [Omit<Job, "connections"> & { readonly seconds: number }, Arrived];
  readonly arrive: readonly [Job & { readonly perSecond: number }, Arrived];
  readonly payPages: readonly [PageJob, PaidPages];
  readonly mix: readonly [MixJob, Mixed];
  /**
   * Returns what each reply of the last job contains, by the index of its request: an id or an
   * empty text.
   */
  readonly found: readonly [undefined, readonly string[]];
};

/** `refused` counts replies other than the expected one; `refusal` is the first of them. */
export type Load = Span & {
  readonly sent: number;
  readonly refused: number;
  readonly refusal: string;
};

export type Arrived = Load & ArrivalTimes;

const calmMs = 200;

let found: string[] = [];

offer<LoadJobs>({
  async run({ target, connections, batch, seconds }) {
    const { port } = target;
    const { requests, onReply, refusals } = prepare(target, batch);
    await pause(calmMs);
    const until = seconds === undefined ? { count: requests.count } : { seconds };
    const span = await runClosedLoop({ port, connections, requests, until, onReply });
    return { ...span, ...refusals() };
  },

  async inTurn({ target, batch, seconds }) {
    const { requests, onReply, refusals } = prepare(target, batch);
    await pause(calmMs);
    const answeredAt: number[] = [];
    const span = await runClosedLoop({
      port: target.port,
      connections: 1,
      requests,
      until: { seconds },
      onReply(index, reply) {
        answeredAt.push(epochNow());
        onReply(index, reply);
      },
    });
    const answeredAtMs = Float64Array.from(answeredAt);
    const dueAtMs = Float64Array.from([span.startedAtMs, ...answeredAt.slice(0, -1)]);
    return { ...span, dueAtMs, sentAtMs: dueAtMs, answeredAtMs, ...refusals() };
  },

  async arrive({ target, connections, batch, perSecond }) {
    const { port } = target;
    const { requests, onReply, refusals } = prepare(target, batch);
    await pause(calmMs);
    const times = await runArrivals({ port, connections, requests, perSecond, onReply });
    return { ...times, sent: requests.count, ...refusals() };
  },

  payPages,

  async mix(job) {
    await pause(calmMs);
    return runMix(job);
  },

  async found() {
    return found;
  },
});

function prepare(target: Target, batch: Batch) {
  const requests = makeRequests(target, batch);
  const told: string[] = new Array(requests.count).fill("");
  found = told;
  let refused = 0;
  let refusal = "";
  return {
    requests,
    refusals: () => ({ refused, refusal }),
    onReply(index: number, { status, body }: Reply) {
      const match = status === 200 ? requests.reply.exec(body) : null;
      told[index] = match?.[1] ?? "";
      if (match !== null) return;
      refused += 1;
      if (refused === 1) refusal = `${status} ${body}`;
    },
  };
}
