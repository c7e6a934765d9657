/**
 * The load generator, which runs in its own process. It prepares the requests of a job, opens its
 * connections and starts the clock. What the replies told is fetched afterwards, because the
 * transfer takes longer than the interval that is measured.
 */
import { setTimeout as pause } from "node:timers/promises";
import {
  type ArrivalTimes,
  type Reply,
  runArrivals,
  runClosedLoop,
  type Span,
} from "./http-load.ts";
import { type PageJob, type PaidPages, payPages } from "./page-load.ts";
import { offer } from "./parts.ts";
import { type Batch, makeRequests, type Target } from "./requests.ts";

type Job = { readonly target: Target; readonly connections: number; readonly batch: Batch };

export type LoadJobs = {
  /** Each request once, or for this long and then over again when they run out. */
  readonly run: readonly [Job & { readonly seconds: number | undefined }, Load];
  readonly arrive: readonly [Job & { readonly perSecond: number }, Load & ArrivalTimes];
  readonly payPages: readonly [PageJob, PaidPages];
  /** What the replies of the last job told, by the index of their request: an id, or nothing. */
  readonly found: readonly [undefined, readonly string[]];
};

/** `refused` counts replies other than the expected one; `refusal` is the first of them. */
export type Load = Span & {
  readonly sent: number;
  readonly refused: number;
  readonly refusal: string;
};

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

  async arrive({ target, connections, batch, perSecond }) {
    const { port } = target;
    const { requests, onReply, refusals } = prepare(target, batch);
    await pause(calmMs);
    const times = await runArrivals({ port, connections, requests, perSecond, onReply });
    return { ...times, sent: requests.count, ...refusals() };
  },

  payPages,

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
      const match = requests.reply.exec(body);
      told[index] = match?.[1] ?? "";
      if (match !== null) return;
      refused += 1;
      if (refused === 1) refusal = `${status} ${body}`;
    },
  };
}
