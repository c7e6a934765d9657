/**
 * Sends callbacks from a thread, which is started with the first of them. Whatever becomes of the
 * thread, each try ends: one that was in its hands has failed, and the next starts another.
 */
import { Worker } from "node:worker_threads";
import type { Clock } from "../values/time.ts";
import type { AddressOptions } from "./addresses.ts";
import type { DeliveryAttempt } from "./callback.ts";
import {
  type Outcome,
  type Plain,
  packQuestion,
  unpackAnswers,
} from "./callback-worker-messages.ts";
import type { Message, Send } from "./send.ts";

export type SendingOptions = {
  readonly addresses: AddressOptions;
  /** Names are looked up as this machine does it. */
  readonly asksSystem: boolean;
  readonly timeoutMs: number;
  readonly proxy: string | undefined;
};

type Dependencies = {
  readonly clock: Clock;
  /** The thread has ended without being told to. */
  readonly onLost: (cause: string) => void;
};

type Settle = (outcome: Outcome) => void;

const threadLost = "the thread that sent it was lost";
/** Little of what it makes lives on: room for more of it would only be memory that nobody needs. */
const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 };
/** A thread that says nothing for so long after a try must have ended hangs. */
const graceMs = 5_000;

export function startCallbackWorker(
  options: SendingOptions,
  { clock, onLost }: Dependencies,
): Send {
  const waiting = new Map<number, Settle>();
  const patienceMs = options.timeoutMs + graceMs;
  let thread: Worker | undefined;
  let questions: Plain[] = [];
  let asked = 0;
  let isWatched = false;
  let isStopped = false;

  return {
    async send(message): Promise<DeliveryAttempt> {
      const { method, url, body } = message;
      return { method, url, body, ...(await ask(message)) };
    },
    stop() {
      isStopped = true;
      const ending = thread;
      giveUp("it was called off");
      void ending?.terminate();
    },
  };

  function ask(message: Message): Promise<Outcome> {
    if (isStopped) return Promise.resolve(failed("the gateway is ending"));
    asked += 1;
    if (questions.length === 0) setImmediate(post);
    questions.push(...packQuestion(asked, message));
    watch();
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    waiting.set(asked, resolve);
    return promise;
  }

  /** Nothing is left to be told when a thread was lost in the same turn. */
  function post(): void {
    if (questions.length === 0) return;
    const words = questions;
    questions = [];
    try {
      thread ??= start();
      thread.postMessage(words);
    } catch (error) {
      // The system has no room for another thread just now.
      giveUp(threadLost);
      onLost(String(error));
    }
  }

  /** One timer for all: whoever was asked before it was set must have been answered after it. */
  function watch(): void {
    if (isWatched) return;
    isWatched = true;
    const latest = asked;
    // If it was us who hung, the answers are there by now, and are read first.
    clock.after(patienceMs, () => setImmediate(() => lookAfter(latest)));
  }

  function lookAfter(latest: number): void {
    isWatched = false;
    const [oldest] = waiting.keys();
    if (oldest !== undefined && oldest <= latest && thread !== undefined) lose(thread, "it hangs");
    if (waiting.size > 0) watch();
  }

  function start(): Worker {
    const url = new URL("./callback-worker-thread.ts", import.meta.url);
    const started = new Worker(url, { workerData: options, resourceLimits });
    // It alone must not keep a stopping gateway alive.
    started.unref();
    started.on("message", (words: readonly Plain[]) => {
      for (const [id, outcome] of unpackAnswers(words)) {
        waiting.get(id)?.(outcome);
        waiting.delete(id);
      }
    });
    started.on("error", (error) => lose(started, String(error)));
    started.on("exit", (code) => lose(started, `it ended with ${code}`));
    return started;
  }

  function lose(lost: Worker, cause: string): void {
    if (thread !== lost) return;
    giveUp(threadLost);
    onLost(cause);
    void lost.terminate();
  }

  /** The one that has waited longest may be the cause; it is no fault of the others' receivers. */
  function giveUp(cause: string): void {
    thread = undefined;
    questions = [];
    let isOurFault = false;
    for (const settle of waiting.values()) {
      settle({ ...failed(cause), isOurFault });
      isOurFault = true;
    }
    waiting.clear();
  }

  function failed(failure: string): Outcome {
    const nothing = { status: undefined, answer: "", retryAfterMs: undefined };
    return { at: clock.now(), durationMs: 0, failure, ...nothing };
  }
}
