/** Opens encrypted tokens in a thread, which is started with the first of them. */
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

export type OpenApart = {
  walleta(text: string, trust: TrustA): Promise<OpenedA | Fault<ReasonA | ReasonB>>;
  walletb(text: string, trust: TrustB): Promise<OpenedB | Fault<ReasonA | ReasonB>>;
  stop(): Promise<void>;
};

type Waiting = {
  readonly resolve: (answer: OpeningAnswer) => void;
  readonly reject: (error: unknown) => void;
};

export function makeOpenApart(
  observe: (wallet: "walleta" | "walletb", tookMs: number) => void,
): OpenApart {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let count = 0;

  return {
    // The thread answers in kind: what opens a token of one wallet knows nothing of the other.
    walleta: (text, trust) => ask(text, trust) as ReturnType<OpenApart["walleta"]>,
    walletb: (text, trust) => ask(text, trust) as ReturnType<OpenApart["walletb"]>,
    async stop() {
      await thread?.terminate();
    },
  };

  async function ask(text: string, trust: TrustA | TrustB) {
    thread ??= start();
    count += 1;
    const { promise, resolve, reject } = Promise.withResolvers<OpeningAnswer>();
    waiting.set(count, { resolve, reject });
    thread.postMessage({ id: count, text, trust } satisfies OpeningQuestion);
    const answer = await promise;
    observe("recipientId" in trust ? "walletb" : "walleta", answer.tookMs);
    return "opened" in answer ? answer.opened : answer.fault;
  }

  function start(): Worker {
    const started = new Worker(new URL("./opening-thread.ts", import.meta.url));
    // It alone must not keep a stopping gateway alive.
    started.unref();
    started.on("message", (answer: OpeningAnswer) => {
      waiting.get(answer.id)?.resolve(answer);
      waiting.delete(answer.id);
    });
    started.on("error", (error) => {
      if (thread === started) thread = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    });
    return started;
  }
}
