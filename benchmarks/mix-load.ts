/**
 * Sends a realistic mix of orders, each from its first request to the second poll: plain and
 * recurrent sales, captures, 3-D Secure, wallets and refunds, on a schedule of open arrivals. Runs
 * in the load generator's process.
 */
import { setTimeout as pause } from "node:timers/promises";
import { epochNow, openAll, type Reply, timerGrainMs } from "./http-load.ts";
import {
  type Batch,
  makeRequests,
  type OrderName,
  type Target,
  type WalletToken,
} from "./requests.ts";

export const mixKinds = ["sale", "preauth", "3-D Secure", "wallet", "recurrent", "refund"] as const;
export type MixKind = (typeof mixKinds)[number];
/** Shares in percent of all orders. */
export type Shares = Readonly<Partial<Record<MixKind, number>>>;
/** The request to which a delay belongs: the first request of a kind, or a later one. */
export type MixRequest = MixKind | "capture" | "upload" | "status";

export type MixJob = {
  readonly target: Target;
  readonly secure: Target;
  readonly connections: number;
  readonly prefix: string;
  readonly count: number;
  readonly perSecond: number;
  readonly shares: Shares;
  readonly polls: boolean;
  readonly notifyUrl: string | undefined;
  /** Wallet tokens, each of which is used once. */
  readonly tokens: readonly WalletToken[];
  readonly refundable: readonly OrderName[];
  readonly references: readonly string[];
};

export type Mixed = {
  readonly orders: readonly (OrderName & { readonly kind: MixKind })[];
  readonly delaysMs: Readonly<Partial<Record<MixRequest, readonly number[]>>>;
  /** The number of orders that did not end, and the refusal of the first of them. */
  readonly refused: number;
  readonly refusal: string;
};

/**
 * Returns the kind of an order. Steps of 37 visit each percent once, so that every kind occurs
 * throughout.
 */
export function kindAt(index: number, shares: Shares): MixKind {
  let percent = (index * 37) % 100;
  for (const kind of mixKinds) {
    percent -= shares[kind] ?? 0;
    if (percent < 0) return kind;
  }
  throw new Error("the shares are less than 100 %");
}

/** The time after which a merchant asks, after the acknowledgement and after the first answer. */
const pollAfterMs = 500;
/** The time until the bank or the directory server has answered. */
const againAfterMs = 100;
const triesMax = 50;
const leadMs = 200;

export async function runMix(job: MixJob): Promise<Mixed> {
  const { perSecond, count, shares, polls, prefix, notifyUrl, target, secure } = job;
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => undefined);
  using pool = await openPool(job, lost.reject);
  const orders: Mixed["orders"][number][] = [];
  const delaysMs: Partial<Record<MixRequest, number[]>> = {};
  const tokens = [...job.tokens];
  const refundable = [...job.refundable];
  let refused = 0;
  let refusal = "";

  const startedAt = epochNow() + leadMs;
  const going: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    const begin = prepare(index);
    await Promise.race([lost.promise, pause(Math.max(0, dueAt - epochNow()))]);
    const noticedAt = Math.min(epochNow(), dueAt + timerGrainMs);
    going.push(
      begin(noticedAt).catch((error) => {
        if (!(error instanceof Refused)) return lost.reject(error);
        refused += 1;
        if (refused === 1) refusal = error.message;
      }),
    );
  }
  await Promise.race([lost.promise, Promise.all(going)]);
  return { orders, delaysMs, refused, refusal };

  /** Prepares an order, because checksums are computed before the request is due. */
  function prepare(index: number): (dueAt: number) => Promise<void> {
    const kind = kindAt(index, shares);
    const name = `${prefix}.${index}`;
    const { batch, to } = firstOf(kind, name);
    const requests = makeRequests(to, batch);
    return async (dueAt) => {
      const orderId = await ask(kind, requests, dueAt);
      const order =
        "orders" in batch
          ? (batch.orders[0] ?? { clientOrderId: "", orderId })
          : { clientOrderId: `${name}-0`, orderId };
      orders.push({ ...order, kind });
      await goOn(kind, order, to);
    };
  }

  function firstOf(kind: MixKind, name: string): { batch: Batch; to: Target } {
    const payment = { prefix: name, count: 1, notifyUrl };
    switch (kind) {
      case "sale":
      case "preauth":
        return { batch: { kind, ...payment }, to: target };
      case "3-D Secure":
        return { batch: { kind: "sale", ...payment }, to: secure };
      case "wallet": {
        const token = tokens.pop();
        if (token === undefined) throw new Error("too few tokens");
        return { batch: { kind: "wallet_sale", ...payment, tokens: [token] }, to: target };
      }
      case "recurrent":
        return { batch: { kind: "rebill", ...payment, references: [reference()] }, to: target };
      case "refund": {
        const order = refundable.pop();
        if (order === undefined) throw new Error("too few orders to refund");
        return { batch: { kind, orders: [order] }, to: target };
      }
    }
  }

  function reference(): string {
    const { references } = job;
    return references[Math.floor(Math.random() * references.length)] ?? "";
  }

  async function goOn(kind: MixKind, order: OrderName, to: Target): Promise<void> {
    const orders = [order];
    const poll = () => pollFor({ kind: "poll", orders }, pollAfterMs, to);
    if (kind === "3-D Secure") await authenticate(order);
    // Only an approved order can be captured.
    if (polls || kind === "preauth") await poll();
    if (kind === "preauth") await askOnce("capture", { kind: "capture", orders }, to);
    if (polls) await poll();
  }

  async function authenticate(order: OrderName): Promise<void> {
    const orders = [order];
    const transactionIds = [await pollFor({ kind: "method_id", orders }, againAfterMs, secure)];
    await askOnce("upload", { kind: "method_upload", orders, transactionIds }, secure);
  }

  /** Asks again until the order has the wanted state. */
  async function pollFor(batch: Batch, afterMs: number, to: Target): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      await pause(tries === 1 ? afterMs : againAfterMs);
      const told = await askOnce("status", batch, to).catch((error) => {
        if (!(error instanceof Refused) || tries >= triesMax) throw error;
      });
      if (told !== undefined) return told;
    }
  }

  function askOnce(what: MixRequest, batch: Batch, to: Target): Promise<string> {
    return ask(what, makeRequests(to, batch), epochNow());
  }

  async function ask(
    what: MixRequest,
    { bytesOf, reply }: ReturnType<typeof makeRequests>,
    dueAt: number,
  ): Promise<string> {
    const { status, body } = await pool.send(bytesOf(0));
    const delayMs = epochNow() - dueAt;
    const match = status === 200 ? reply.exec(body) : null;
    if (match === null) throw new Refused(`${what}: ${status} ${body}`);
    delaysMs[what] ??= [];
    delaysMs[what].push(delayMs);
    return match[1] ?? "";
  }
}

class Refused extends Error {
  override readonly name = "Refused";
}

/** Opens connections. Requests without an idle connection wait for one. */
async function openPool(
  { target: { port }, connections: count }: MixJob,
  onLost: (error: Error) => void,
) {
  const connections = await openAll({ port, connections: count }, onLost);
  type Connection = (typeof connections)[number];
  // The connection that has been idle longest comes first, so that the server closes none.
  const idle = [...connections];
  const waiting: ((connection: Connection) => void)[] = [];
  return {
    async send(request: Uint8Array): Promise<Reply> {
      const free = idle.shift();
      const connection = free ?? (await new Promise<Connection>((take) => waiting.push(take)));
      const reply = await new Promise<Reply>((resolve) => connection.send(request, resolve));
      const next = waiting.shift();
      if (next === undefined) idle.push(connection);
      else next(connection);
      return reply;
    },
    [Symbol.dispose]() {
      for (const connection of connections) connection.close();
    },
  };
}
