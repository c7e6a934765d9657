/**
 * Sends requests to a thread and receives its replies. The thread starts with the first request.
 * Every request ends: if the thread ends or hangs, the requests in flight fail, and the next
 * request starts another thread.
 */
import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { parentPort, Worker } from "node:worker_threads";
import type { Clock } from "../values/time.ts";

/** The reason why a request has no reply. */
export class ThreadFault {
  readonly kind: "overloaded" | "timed_out" | "lost" | "stopped";
  readonly detail: string;
  /** If true, this request may have ended or hung the thread. The others were only lost with it. */
  readonly isSuspect: boolean;

  constructor(kind: ThreadFault["kind"], detail = "", isSuspect = false) {
    this.kind = kind;
    this.detail = detail;
    this.isSuspect = isSuspect;
  }
}

export type ThreadOptions = {
  readonly file: URL;
  /** Passed to the thread as its `workerData`. */
  readonly data?: unknown;
  readonly inFlightMax: number;
  /** The time limit for a reply, from the request or from its cancellation. */
  readonly replyWithinMs: number;
  readonly clock: Clock;
  /** The limit on the thread's memory. Little of it outlives a request. */
  readonly heapMib?: number;
  /** Requests are cancelled after this time, by a clock that a test may move. */
  readonly cancel?: { readonly afterMs: number; readonly clock: Clock };
  /** Called if the thread ended without being stopped, hung, or could not be started. */
  readonly onLost: (cause: string) => void;
};

/** A message that is sent instead of a request, to cancel one. */
const cancellation = null;
const heapMibDefault = 256;

export function startWorkerThread<Request, Reply>(options: ThreadOptions) {
  type InFlight = { readonly settle: (reply: Reply | ThreadFault) => void; clearTimer: () => void };
  const { cancel, clock, onLost } = options;
  const inFlight = new Map<number, InFlight>();
  let thread: Worker | undefined;
  let outgoing: unknown[] = [];
  let [asked, replied] = [0, 0];
  let isStopped = false;

  return {
    async ask(request: Request): Promise<Reply | ThreadFault> {
      if (isStopped) return new ThreadFault("stopped");
      if (inFlight.size >= options.inFlightMax) return new ThreadFault("overloaded");
      asked += 1;
      post(asked, request);
      const { promise, resolve } = Promise.withResolvers<Reply | ThreadFault>();
      inFlight.set(asked, { settle: resolve, clearTimer: startTimer(asked) });
      return promise;
    },
    /** Fails the requests in flight, and all later ones. */
    async stop(): Promise<void> {
      isStopped = true;
      const ending = thread;
      failAll("stopped");
      await ending?.terminate();
    },
  };

  /**
   * Requests of one turn of the event loop are sent together, because waking the thread costs the
   * most.
   */
  function post(id: number, request: Request | typeof cancellation): void {
    if (outgoing.length === 0) setImmediate(flush);
    outgoing.push(id, request);
  }

  function flush(): void {
    // The list is empty if the thread was lost or stopped in the same turn.
    if (outgoing.length === 0) return;
    const batch = outgoing;
    outgoing = [];
    try {
      thread ??= start();
      thread.postMessage(batch);
    } catch (error) {
      // The system cannot start another thread now.
      failAll("lost", String(error));
      onLost(String(error));
    }
  }

  function startTimer(id: number): () => void {
    if (cancel === undefined) return awaitReply(id);
    return cancel.clock.after(cancel.afterMs, () => {
      const request = inFlight.get(id);
      if (request === undefined) return;
      post(id, cancellation);
      request.clearTimer = awaitReply(id);
    });
  }

  function awaitReply(id: number): () => void {
    const repliedBefore = replied;
    // If the gateway's own thread was blocked, the event loop first reads the waiting replies.
    const judge = () => passDeadline(id, repliedBefore);
    return clock.after(options.replyWithinMs, () => setImmediate(judge));
  }

  /** A thread that has not replied since then hangs, and is replaced. */
  function passDeadline(id: number, repliedBefore: number): void {
    if (!inFlight.has(id)) return;
    settle(id, new ThreadFault("timed_out", "", true));
    if (replied === repliedBefore && thread !== undefined) lose(thread, "it hangs", false);
  }

  function settle(id: number, reply: Reply | ThreadFault): void {
    const request = inFlight.get(id);
    inFlight.delete(id);
    request?.clearTimer();
    request?.settle(reply);
  }

  function start(): Worker {
    const resourceLimits = {
      maxYoungGenerationSizeMb: 16,
      maxOldGenerationSizeMb: options.heapMib ?? heapMibDefault,
    };
    const started = new Worker(options.file, { workerData: options.data, resourceLimits });
    // The thread by itself must not keep a stopping gateway alive.
    started.unref();
    started.on("message", (batch: readonly unknown[]) => {
      replied += 1;
      // The thread sends pairs of an id and the reply to it.
      for (const [id, reply] of pairsOf(batch)) settle(id, reply as Reply);
    });
    started.on("error", (error) => lose(started, String(error)));
    started.on("messageerror", (error) => lose(started, String(error)));
    started.on("exit", (code) => lose(started, `it ended with ${code}`));
    return started;
  }

  function lose(lost: Worker, cause: string, hasSuspect = true): void {
    if (thread !== lost) return;
    failAll("lost", cause, hasSuspect);
    onLost(cause);
    void lost.terminate();
  }

  /** The oldest of the lost requests is suspected of having ended the thread. */
  function failAll(kind: "lost" | "stopped", detail = "", hasSuspect = false): void {
    thread = undefined;
    outgoing = [];
    let isSuspect = hasSuspect;
    for (const id of inFlight.keys()) {
      settle(id, new ThreadFault(kind, detail, isSuspect));
      isSuspect = false;
    }
  }
}

/** If both need a core, the thread that processes payments gets nine tenths of it. */
const usualNiceness = 10;

/** Linux schedules each thread by a priority of its own, under the thread's id. */
function yieldToPayments(niceness: number): void {
  try {
    const id = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(id, Math.min(getPriority(id) + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // On another system the thread keeps the priority of the process.
  }
}

/**
 * The thread's side. `start` calls `reply` once and may return a function that cancels the request.
 * A reply within `start` is sent at once; later ones are gathered by turns of the event loop. With
 * a niceness of 5, the thread that processes payments gets three quarters of a core.
 */
export function serveRequests<Request, Reply>(
  start: (request: Request, reply: (reply: Reply) => void) => (() => void) | undefined,
  niceness = usualNiceness,
): void {
  const cancels = new Map<number, () => void>();
  let outgoing: unknown[] = [];
  yieldToPayments(niceness);

  parentPort?.on("message", (batch: readonly unknown[]) => {
    for (const [id, request] of pairsOf(batch)) {
      if (request === cancellation) cancels.get(id)?.();
      else serve(id, request as Request);
    }
  });

  function serve(id: number, request: Request): void {
    let isStarting = true;
    let isDone = false;
    const cancel = start(request, (reply) => {
      isDone = true;
      cancels.delete(id);
      outgoing.push(id, reply);
      if (isStarting) flush();
      else if (outgoing.length === 2) setImmediate(flush);
    });
    isStarting = false;
    if (cancel !== undefined && !isDone) cancels.set(id, cancel);
  }

  function flush(): void {
    if (outgoing.length > 0) parentPort?.postMessage(outgoing);
    outgoing = [];
  }
}

function* pairsOf(batch: readonly unknown[]): Iterable<[id: number, value: unknown]> {
  for (let at = 0; at < batch.length; at += 2) yield [Number(batch[at]), batch[at + 1]];
}
