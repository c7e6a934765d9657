/**
 * The load generator, a process of its own. It prepares the requests of a job, opens its
 * connections, starts the clock, and keeps what was acknowledged until it is asked for it, because
 * handing it over takes longer than the moment that is being measured.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Reply } from "./http-connection.ts";
import { type ArrivalTimes, runArrivals, runClosedLoop, type Span } from "./http-load.ts";
import { offer } from "./part-process.ts";
import {
  type Beginning,
  makeOrderRequests,
  makeSaleRequests,
  type OrderName,
  type Target,
} from "./requests.ts";

export type LoadJobs = {
  readonly sales: readonly [SalesJob & { readonly count: number; readonly kind: Beginning }, Load];
  readonly captures: readonly [Omit<PollsJob, "seconds">, Load];
  readonly arrivals: readonly [ArrivalsJob, Load & ArrivalTimes];
  /** The order ids of the last sales, by their index; empty where none was acknowledged. */
  readonly acknowledged: readonly [undefined, readonly string[]];
  readonly polls: readonly [PollsJob, Load];
  readonly route: readonly [SalesJob & { readonly seconds: number }, Load];
};

type SalesJob = {
  readonly target: Target;
  readonly connections: number;
  readonly prefix: string;
};
type ArrivalsJob = SalesJob & { readonly perSecond: number; readonly seconds: number };
type PollsJob = Omit<SalesJob, "prefix"> & {
  readonly orders: readonly OrderName[];
  readonly seconds: number;
};

/** `refused` are replies other than the one that was hoped for; the first is kept to be shown. */
export type Load = Span & {
  readonly sent: number;
  readonly refused: number;
  readonly refusal: string;
};

const routeRequests = 1_000;
const calmMs = 200;

let acknowledged: string[] = [];

offer<LoadJobs>({
  async sales({ target, connections, prefix, count, kind }) {
    const requests = makeSaleRequests(target, { prefix, count, kind });
    const taken = takeAcknowledgements(count);
    await pause(calmMs);
    const { port } = target;
    const { onReply } = taken;
    const span = await runClosedLoop({ port, connections, requests, until: { count }, onReply });
    return { ...span, ...taken.refusals() };
  },

  async arrivals({ target, connections, prefix, perSecond, seconds }) {
    const count = perSecond * seconds;
    const requests = makeSaleRequests(target, { prefix, count });
    const taken = takeAcknowledgements(count);
    await pause(calmMs);
    const { port } = target;
    const { onReply } = taken;
    const times = await runArrivals({ port, connections, requests, perSecond, onReply });
    return { ...times, sent: count, ...taken.refusals() };
  },

  async acknowledged() {
    return acknowledged;
  },

  async captures({ target, connections, orders }) {
    const requests = makeOrderRequests(target, "capture", orders);
    const taken = countRefusals((reply) => reply.body.startsWith("type=async-response&"));
    await pause(calmMs);
    const { port } = target;
    const { onReply } = taken;
    const until = { count: orders.length };
    const span = await runClosedLoop({ port, connections, requests, until, onReply });
    return { ...span, ...taken.refusals() };
  },

  async polls({ target, connections, orders, seconds }) {
    const requests = makeOrderRequests(target, "status", orders);
    const taken = countRefusals((reply) => reply.body.includes("&status=approved&"));
    await pause(calmMs);
    const { port } = target;
    const { onReply } = taken;
    const span = await runClosedLoop({ port, connections, requests, until: { seconds }, onReply });
    return { ...span, ...taken.refusals() };
  },

  async route({ target, connections, prefix, seconds }) {
    const requests = makeSaleRequests(target, { prefix, count: routeRequests });
    const taken = countRefusals((reply) => reply.status === 200);
    await pause(calmMs);
    const { port } = target;
    const { onReply } = taken;
    const span = await runClosedLoop({ port, connections, requests, until: { seconds }, onReply });
    return { ...span, ...taken.refusals() };
  },
});

function takeAcknowledgements(count: number) {
  const orderIds: string[] = new Array(count).fill("");
  acknowledged = orderIds;
  return countRefusals(({ body }, index) => {
    const orderId = /^type=async-response&.*?gw-order-id=(\d+)/.exec(body)?.[1];
    orderIds[index] = orderId ?? "";
    return orderId !== undefined;
  });
}

function countRefusals(isGood: (reply: Reply, index: number) => boolean) {
  let refused = 0;
  let refusal = "";
  return {
    onReply(index: number, reply: Reply) {
      if (isGood(reply, index)) return;
      refused += 1;
      if (refused === 1) refusal = `${reply.status} ${reply.body}`;
    },
    refusals: () => ({ refused, refusal }),
  };
}
