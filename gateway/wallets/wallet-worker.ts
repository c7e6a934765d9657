/**
 * Opens encrypted tokens in a thread, which is started with the first of them. Nobody waits for
 * ever: neither behind too many others, nor for a thread that has ended or hangs. Nothing has
 * happened to an order then, so the merchant may send it again.
 */
import { Worker } from "node:worker_threads";
import type {
  Opened as OpenedA,
  WalletReason as ReasonA,
  Trust as TrustA,
} from "@tollgate/protocols/walleta";
import type {
  Opened as OpenedB,
  WalletReason as ReasonB,
  Trust as TrustB,
} from "@tollgate/protocols/walletb";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";

export type OpeningQuestion = {
  readonly id: number;
  readonly text: string;
  readonly trust: TrustA | TrustB;
};

type Fault<Reason> = { readonly reason: Reason; readonly field: string | undefined };
export type OpeningAnswer = { readonly id: number; readonly tookMs: number } & (
  | { readonly opened: OpenedA | OpenedB }
  | { readonly fault: Fault<ReasonA | ReasonB> }
);

type Told<Opened> = Promise<Opened | Fault<ReasonA | ReasonB> | Failure>;

export type WalletWorker = {
  walleta(text: string, trust: TrustA): Told<OpenedA>;
  walletb(text: string, trust: TrustB): Told<OpenedB>;
  stop(): Promise<void>;
};

type Dependencies = {
  readonly clock: Clock;
  readonly observe: (wallet: "walleta" | "walletb", tookMs: number) => void;
  /** The thread has ended without being told to; the next token gets another. */
  readonly onLost: (cause: string) => void;
};

/** About a second's work. */
const waitingMax = 256;
const deadlineMs = 5_000;
/** Little of what it makes lives on. */
const resourceLimits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 };

type Waiting = (answer: OpeningAnswer | Failure) => void;

export function startWalletWorker({ clock, observe, onLost }: Dependencies): WalletWorker {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let [asked, answered] = [0, 0];

  return {
    // The thread answers in kind: what opens a token of one wallet knows nothing of the other.
    walleta: (text, trust) => ask(text, trust) as ReturnType<WalletWorker["walleta"]>,
    walletb: (text, trust) => ask(text, trust) as ReturnType<WalletWorker["walletb"]>,
    async stop() {
      const ending = thread;
      giveUp("the gateway stops");
      await ending?.terminate();
    },
  };

  async function ask(text: string, trust: TrustA | TrustB) {
    if (waiting.size >= waitingMax) return unavailable("too many tokens wait to be opened");
    thread ??= start();
    asked += 1;
    const id = asked;
    thread.postMessage({ id, text, trust } satisfies OpeningQuestion);
    const { promise, resolve } = Promise.withResolvers<OpeningAnswer | Failure>();
    waiting.set(id, resolve);
    const before = answered;
    const callOff = clock.after(deadlineMs, () => passDeadline(id, before));
    const answer = await promise;
    callOff();
    if (answer instanceof Failure) return answer;
    observe("recipientId" in trust ? "walletb" : "walleta", answer.tookMs);
    return "opened" in answer ? answer.opened : answer.fault;
  }

  function settle(id: number, answer: OpeningAnswer | Failure): void {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  }

  /** A thread that has answered nobody meanwhile hangs, and is replaced. */
  function passDeadline(id: number, answeredBefore: number): void {
    settle(id, unavailable("a token took too long to open"));
    if (answered === answeredBefore && thread !== undefined) lose(thread, "it hangs");
  }

  function lose(lost: Worker, cause: string): void {
    if (thread !== lost) return;
    giveUp(`the opening thread was lost: ${cause}`);
    onLost(cause);
    void lost.terminate();
  }

  /** The next token starts a thread anew. */
  function giveUp(cause: string): void {
    thread = undefined;
    for (const id of waiting.keys()) settle(id, unavailable(cause));
  }

  function start(): Worker {
    const url = new URL("./wallet-worker-thread.ts", import.meta.url);
    const started = new Worker(url, { resourceLimits });
    // It alone must not keep a stopping gateway alive.
    started.unref();
    started.on("message", (answer: OpeningAnswer) => {
      answered += 1;
      settle(answer.id, answer);
    });
    started.on("error", (error) => lose(started, String(error)));
    started.on("messageerror", (error) => lose(started, String(error)));
    started.on("exit", (code) => lose(started, `it ended with ${code}`));
    return started;
  }
}

function unavailable(cause: string): Failure {
  return new Failure("storage_unavailable", "", cause);
}
