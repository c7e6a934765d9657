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
  type MethodName,
  makeCardQuestions,
  makeMethodUploads,
  makeOrderRequests,
  makeRebillRequests,
  makeSaleRequests,
  makeWalletRequests,
  type OrderName,
  type Target,
  type WalletToken,
} from "./requests.ts";

export type LoadJobs = {
  readonly sales: readonly [SalesJob & Counted & { readonly kind: Beginning }, Load];
  /** What orders wait for, by their index: the id of their authentication. */
  readonly methods: readonly [
    Omit<PollsJob, "seconds">,
    Load & { readonly ids: readonly string[] },
  ];
  readonly uploads: readonly [
    Omit<PollsJob, "seconds" | "orders"> & { readonly orders: readonly MethodName[] },
    Load,
  ];
  readonly captures: readonly [Omit<PollsJob, "seconds">, Load];
  /** The card references of orders, by their index. */
  readonly register: readonly [Omit<PollsJob, "seconds">, readonly string[]];
  readonly rebills: readonly [SalesJob & { readonly count: number } & References, Load];
  readonly cardInfo: readonly [
    Omit<SalesJob, "prefix"> & { readonly seconds: number } & References,
    Load,
  ];
  readonly arrivals: readonly [ArrivalsJob, Load & ArrivalTimes];
  readonly walletSales: readonly [SalesJob & Tokens, Load];
  readonly walletArrivals: readonly [SalesJob & Tokens & { readonly perSecond: number }, Load];
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

type Counted = { readonly count: number; readonly callbackUrl?: string };
type Tokens = { readonly tokens: readonly WalletToken[] };
type References = { readonly references: readonly string[] };

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
  async sales({ target, connections, prefix, count, kind, callbackUrl }) {
    const requests = makeSaleRequests(target, { prefix, count, kind, callbackUrl });
    const taken = takeAcknowledgements(count);
    return run({ target, connections, requests, until: { count } }, taken);
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

  async walletSales({ target, connections, prefix, tokens }) {
    const requests = makeWalletRequests(target, { prefix, tokens });
    const taken = takeAcknowledgements(tokens.length);
    return run({ target, connections, requests, until: { count: tokens.length } }, taken);
  },

  async walletArrivals({ target, connections, prefix, tokens, perSecond }) {
    const requests = makeWalletRequests(target, { prefix, tokens });
    const taken = takeAcknowledgements(tokens.length);
    await pause(calmMs);
    const { port } = target;
    const { onReply } = taken;
    const times = await runArrivals({ port, connections, requests, perSecond, onReply });
    return { ...times, sent: tokens.length, ...taken.refusals() };
  },

  async acknowledged() {
    return acknowledged;
  },

  async methods({ target, connections, orders }) {
    const requests = makeOrderRequests(target, "status", orders);
    const ids: string[] = new Array(orders.length).fill("");
    const taken = countRefusals(({ body }, index) => {
      ids[index] = /3ds-server-trans-id=([0-9a-f-]{36})/.exec(body)?.[1] ?? "";
      return ids[index] !== "";
    });
    const asked = await run(
      { target, connections, requests, until: { count: orders.length } },
      taken,
    );
    return { ...asked, ids };
  },

  async uploads({ target, connections, orders }) {
    const requests = makeMethodUploads(target, orders);
    const taken = countRefusals((reply) => reply.body.startsWith("type=async-response&"));
    return run({ target, connections, requests, until: { count: orders.length } }, taken);
  },

  async captures({ target, connections, orders }) {
    const requests = makeOrderRequests(target, "capture", orders);
    const taken = countRefusals((reply) => reply.body.startsWith("type=async-response&"));
    return run({ target, connections, requests, until: { count: orders.length } }, taken);
  },

  async register({ target, connections, orders }) {
    const requests = makeOrderRequests(target, "create-card-ref", orders);
    const references: string[] = new Array(orders.length).fill("");
    await runClosedLoop({
      ...{ port: target.port, connections, requests, until: { count: orders.length } },
      onReply(index, { body }) {
        references[index] = /card-ref-id=(\d+)/.exec(body)?.[1] ?? "";
      },
    });
    return references;
  },

  async rebills({ target, connections, prefix, count, references }) {
    const requests = makeRebillRequests(target, { prefix, count, references });
    const taken = takeAcknowledgements(count);
    return run({ target, connections, requests, until: { count } }, taken);
  },

  async cardInfo({ target, connections, references, seconds }) {
    const requests = makeCardQuestions(target, references);
    const taken = countRefusals(({ body }) => body.startsWith("type=get-card-info-response&"));
    return run({ target, connections, requests, until: { seconds } }, taken);
  },

  async polls({ target, connections, orders, seconds }) {
    const requests = makeOrderRequests(target, "status", orders);
    const taken = countRefusals((reply) => reply.body.includes("&status=approved&"));
    return run({ target, connections, requests, until: { seconds } }, taken);
  },

  async route({ target, connections, prefix, seconds }) {
    const requests = makeSaleRequests(target, { prefix, count: routeRequests });
    const taken = countRefusals((reply) => reply.status === 200);
    return run({ target, connections, requests, until: { seconds } }, taken);
  },
});

/** A moment of calm, then one request after the other on every connection. */
async function run(
  { target, ...loop }: Omit<Loop, "port" | "onReply"> & { readonly target: Target },
  { onReply, refusals }: ReturnType<typeof countRefusals>,
): Promise<Load> {
  await pause(calmMs);
  const span = await runClosedLoop({ ...loop, port: target.port, onReply });
  return { ...span, ...refusals() };
}

type Loop = Parameters<typeof runClosedLoop>[0];

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
