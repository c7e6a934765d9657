/**
 * The two kinds of load. The closed loop sends the next request when a reply has arrived, and finds
 * the highest rate. Open arrivals are sent on a schedule, independent of earlier replies; their
 * latency counts from when they were due, so that a stall counts for every request that it delays.
 */
import { connect, type Socket } from "node:net";
import type { Requests } from "./requests.ts";

export type Loop = {
  readonly port: number;
  readonly connections: number;
  readonly requests: Requests;
  /**
   * The number of requests or, instead, the duration, in which they start over when they run out.
   */
  readonly until: { readonly count: number } | { readonly seconds: number };
  readonly onReply: (index: number, reply: Reply) => void;
};

/** The interval on the wall clock, which all processes of a machine share. */
export type Span = { readonly startedAtMs: number; readonly endedAtMs: number };

export async function runClosedLoop(loop: Loop): Promise<Span & { readonly sent: number }> {
  const { requests, until, onReply } = loop;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connections = await openAll(loop, reject);
  const countMax = "count" in until ? until.count : Number.POSITIVE_INFINITY;
  const startedAtMs = epochNow();
  const lastAtMs =
    "seconds" in until ? startedAtMs + until.seconds * 1000 : Number.POSITIVE_INFINITY;
  let sent = 0;
  let waiting = connections.length;

  for (const connection of connections) sendNext(connection);
  await promise;
  const endedAtMs = epochNow();
  for (const connection of connections) connection.close();
  return { startedAtMs, endedAtMs, sent };

  function sendNext(connection: HttpConnection): void {
    if (sent >= countMax || (lastAtMs < Number.POSITIVE_INFINITY && epochNow() >= lastAtMs)) {
      waiting -= 1;
      if (waiting === 0) resolve();
      return;
    }
    const index = sent % requests.count;
    sent += 1;
    connection.send(requests.bytesOf(index), (reply) => {
      onReply(index, reply);
      sendNext(connection);
    });
  }
}

export type Arrivals = Omit<Loop, "until"> & { readonly perSecond: number };

export type ArrivalTimes = Span & {
  readonly dueAtMs: Float64Array;
  readonly sentAtMs: Float64Array;
  readonly answeredAtMs: Float64Array;
};

/**
 * The precision of Node's timers, which delay requests before they are sent. It is not the server's
 * delay.
 */
export const timerGrainMs = 1;

/** The time until the server has accepted all connections and is idle again. */
const leadMs = 200;

export async function runArrivals(arrivals: Arrivals): Promise<ArrivalTimes> {
  const { requests, perSecond, onReply } = arrivals;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connections = await openAll(arrivals, reject);
  const idle = [...connections];
  const startedAtMs = epochNow() + leadMs;
  const dueAtMs = Float64Array.from(
    { length: requests.count },
    (_, index) => startedAtMs + (index * 1000) / perSecond,
  );
  const sentAtMs = new Float64Array(requests.count);
  const answeredAtMs = new Float64Array(requests.count);
  let next = 0;
  let answered = 0;

  sendDue();
  await promise;
  const endedAtMs = epochNow();
  for (const connection of connections) connection.close();
  return { startedAtMs, endedAtMs, dueAtMs, sentAtMs, answeredAtMs };

  /**
   * Sends due requests. It wakes up for arrivals only, because other wake-ups would disturb the
   * measurement.
   */
  function sendDue(): void {
    const now = epochNow();
    sendWhileIdle(now);
    const waitMs = Math.max(1, Math.ceil((dueAtMs[next] ?? 0) - now));
    if (next < requests.count) setTimeout(sendDue, waitMs);
  }

  /**
   * Sends while connections are idle. The wait of an arrival without one is included in its
   * latency.
   */
  function sendWhileIdle(now: number): void {
    while (next < requests.count && (dueAtMs[next] ?? 0) <= now) {
      // The connection that has been idle longest is used, so that the server closes none.
      const connection = idle.shift();
      if (connection === undefined) return;
      send(connection, next);
      next += 1;
    }
  }

  function send(connection: HttpConnection, index: number): void {
    sentAtMs[index] = epochNow();
    connection.send(requests.bytesOf(index), (reply) => {
      answeredAtMs[index] = epochNow();
      onReply(index, reply);
      idle.push(connection);
      answered += 1;
      if (answered === requests.count) resolve();
      else sendWhileIdle(epochNow());
    });
  }
}

let offsetMs = Date.now() - performance.now();

/**
 * The wall clock, which the gateway's log uses too, in fractions of a millisecond. The process's
 * monotonic clock drifts from it by milliseconds within a run, so the offset is kept in bounds.
 */
export function epochNow(): number {
  const [wall, monotonic] = [Date.now(), performance.now()];
  offsetMs = Math.min(Math.max(offsetMs, wall - monotonic), wall + 1 - monotonic);
  return offsetMs + monotonic;
}

export function openAll(
  { port, connections }: Pick<Loop, "port" | "connections">,
  reject: (error: Error) => void,
): Promise<readonly HttpConnection[]> {
  const onLost = (why: string) => reject(new Error(`a connection was lost: ${why}`));
  return Promise.all(Array.from({ length: connections }, () => HttpConnection.open(port, onLost)));
}

export type Reply = { readonly status: number; readonly body: string };

const readBytes = 16_384;

/**
 * One keep-alive HTTP/1.1 connection, as light as possible, because the load generator shares its
 * cores with what it measures. It reads only replies with a content-length, one at a time.
 */
class HttpConnection {
  readonly #socket: Socket;
  #received = "";
  #onReply: ((reply: Reply) => void) | undefined;

  private constructor(port: number, onLost: (why: string) => void) {
    const buffer = Buffer.allocUnsafe(readBytes);
    this.#socket = connect({
      host: "127.0.0.1",
      port,
      noDelay: true,
      // One buffer for all reads: allocating one for each would be half of the work.
      onread: { buffer, callback: (bytes) => this.#read(buffer.toString("latin1", 0, bytes)) },
    });
    this.#socket.on("error", (error) => onLost(error.message));
    this.#socket.on("end", () => onLost("closed by the other side"));
  }

  static async open(port: number, onLost: (why: string) => void): Promise<HttpConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const connection = new HttpConnection(port, (why) => {
      reject(new Error(why));
      onLost(why);
    });
    connection.#socket.once("connect", resolve);
    await promise;
    return connection;
  }

  /** The reply to the previous request must have arrived. */
  send(request: Uint8Array, onReply: (reply: Reply) => void): void {
    this.#onReply = onReply;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("end");
    this.#socket.destroy();
  }

  #read(chunk: string): boolean {
    this.#received = this.#received === "" ? chunk : this.#received + chunk;
    const reply = findReply(this.#received);
    if (reply === undefined) return true;
    this.#received = "";
    this.#onReply?.(reply);
    return true;
  }
}

/** Nothing while the reply is incomplete. */
export function findReply(received: string): Reply | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(received)?.[1];
  if (length === undefined) throw new Error("a reply without content-length");
  const bodyStart = headEnd + 4;
  const missing = bodyStart + Number(length) - received.length;
  if (missing > 0) return undefined;
  if (missing < 0) throw new Error("more than one reply to one request");
  return { status: Number(received.slice(9, 12)), body: received.slice(bodyStart) };
}
