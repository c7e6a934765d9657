/**
 * The merchants' keys as they are now. They are read again when they may have changed; what cannot
 * be read is tried again, and a key that cannot be opened takes no other one with it.
 */
import type { Clock } from "../values/time.ts";
import type { WalletKey } from "./wallet-trust.ts";

export type ReadKeys = {
  readonly keys: readonly WalletKey[];
  readonly unreadable: readonly { readonly id: string; readonly cause: string }[];
};

type Dependencies = {
  readonly read: () => Promise<ReadKeys>;
  readonly clock: Clock;
  /** Without an id: none could be read. */
  readonly warn: (cause: unknown, id?: string) => void;
};

export type LiveKeys = {
  current(): readonly WalletKey[];
  reload(): Promise<void>;
  stop(): void;
};

const retryMs = 10_000;

/** Fails when the first reading does: a gateway does not start without its database. */
export async function openLiveKeys({ read, clock, warn }: Dependencies): Promise<LiveKeys> {
  let keys: readonly WalletKey[] = [];
  let [asked, taken] = [0, 0];
  let callOff = () => {};
  let stopped = false;
  await take();

  return {
    current: () => keys,
    reload,
    stop() {
      stopped = true;
      callOff();
    },
  };

  async function reload(): Promise<void> {
    await take().catch((error) => {
      warn(error);
      tryAgain();
    });
  }

  async function take(): Promise<void> {
    asked += 1;
    const turn = asked;
    const { keys: opened, unreadable } = await read();
    // Asked before and answered after another: what that one has read is newer.
    if (turn < taken) return;
    taken = turn;
    const missed = new Set(unreadable.map(({ id }) => id));
    keys = [...opened, ...keys.filter(({ id }) => missed.has(id))];
    for (const { id, cause } of unreadable) warn(cause, id);
    if (unreadable.length > 0) tryAgain();
  }

  function tryAgain(): void {
    callOff();
    if (!stopped) callOff = clock.after(retryMs, () => void reload());
  }
}
