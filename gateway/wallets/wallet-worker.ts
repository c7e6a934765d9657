/**
 * Decrypts tokens in a thread. A request that the thread cannot serve now ends with
 * `storage_unavailable`: nothing has happened to an order, and the merchant may send it again.
 */
import type { Opened as OpenedA, Trust as TrustA, WalletFault } from "@tollgate/protocols/walleta";
import type { Opened as OpenedB, Trust as TrustB } from "@tollgate/protocols/walletb";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";

export type OpeningRequest = { readonly text: string; readonly trust: TrustA | TrustB };
type Fault = Pick<WalletFault, "reason" | "field">;
export type OpeningReply = { readonly tookMs: number } & (
  | { readonly opened: OpenedA | OpenedB }
  | { readonly fault: Fault }
);
type Opening<Opened> = Promise<Opened | Fault | Failure>;

export type WalletWorker = ReturnType<typeof startWalletWorker>;

type Dependencies = {
  readonly clock: Clock;
  readonly observe: (wallet: "walleta" | "walletb", tookMs: number) => void;
  /** The thread ended or hung; the next token starts another. */
  readonly onLost: (cause: string) => void;
};

/** About a second's work. */
const inFlightMax = 256;
const replyWithinMs = 5_000;

export function startWalletWorker({ clock, observe, onLost }: Dependencies) {
  const file = new URL("./wallet-worker-thread.ts", import.meta.url);
  const thread = startWorkerThread<OpeningRequest, OpeningReply>({
    file,
    inFlightMax,
    replyWithinMs,
    clock,
    onLost,
  });

  return {
    // The thread replies in kind: the trust of one wallet never opens a token of the other.
    walleta: (text: string, trust: TrustA) => open(text, trust) as Opening<OpenedA>,
    walletb: (text: string, trust: TrustB) => open(text, trust) as Opening<OpenedB>,
    stop: thread.stop,
  };

  async function open(text: string, trust: TrustA | TrustB) {
    const reply = await thread.ask({ text, trust });
    if (reply instanceof ThreadFault) {
      const detail = reply.detail === "" ? "" : `: ${reply.detail}`;
      return new Failure("storage_unavailable", "", `${causes[reply.kind]}${detail}`);
    }
    observe("recipientId" in trust ? "walletb" : "walleta", reply.tookMs);
    return "opened" in reply ? reply.opened : reply.fault;
  }
}

const causes = {
  overloaded: "too many wallet tokens wait to be decrypted",
  timed_out: "a wallet token took too long to decrypt",
  lost: "the wallet worker was lost",
  stopped: "the gateway stops",
} as const;
