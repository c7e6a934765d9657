/** Time and chance as the client needs them; handed in, so that tests never wait. */
import { setTimeout as sleep } from "node:timers/promises";

export type Timing = {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Rejects with the signal's reason when it is called off. */
  pause(durationMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** From 0 up to, but not including, 1. */
  random(): number;
};

export const realTiming: Timing = {
  now: () => performance.now(),
  random: () => Math.random(),
  async pause(durationMs, signal) {
    await sleep(durationMs, undefined, { signal }).catch((error) => {
      throw signal?.reason ?? error;
    });
  },
};
