/**
 * The two kinds of load. The closed loop sends the next request when a reply has come, and finds
 * the highest rate; open arrivals are sent on a clock whatever became of earlier ones, and their
 * latency counts from the moment they were due, so that a stall is felt by all that it delays.
 */
import { HttpConnection, type Reply } from "./http-connection.ts";
import type { Requests } from "./requests.ts";

export type Loop = {
  readonly port: number;
  readonly connections: number;
  readonly requests: Requests;
  /** Sends this many, or for this long and then starts the requests over when they run out. */
  readonly until: { readonly count: number } | { readonly seconds: number };
  readonly onReply: (index: number, reply: Reply) => void;
};

/** On the clock that all processes of a machine share. */
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

const lookEveryMs = 1;
const leadMs = 20;

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

  function sendDue(): void {
    sendWhileIdle(epochNow());
    if (next < requests.count) setTimeout(sendDue, lookEveryMs);
  }

  /** Arrivals that find no idle connection wait for one, and the wait counts as theirs. */
  function sendWhileIdle(now: number): void {
    while (next < requests.count && (dueAtMs[next] ?? 0) <= now) {
      // The one that has rested longest: none may rest so long that the server closes it.
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
 * The wall clock, finer than it tells itself. The gateway's log goes by it too; the process's own
 * clock runs evenly, but away from it, by milliseconds within a run.
 */
function epochNow(): number {
  const [wall, even] = [Date.now(), performance.now()];
  offsetMs = Math.min(Math.max(offsetMs, wall - even), wall + 1 - even);
  return offsetMs + even;
}

function openAll(
  { port, connections }: Pick<Loop, "port" | "connections">,
  reject: (error: Error) => void,
): Promise<readonly HttpConnection[]> {
  const onLost = (why: string) => reject(new Error(`a connection was lost: ${why}`));
  return Promise.all(Array.from({ length: connections }, () => HttpConnection.open(port, onLost)));
}
