/**
 * The merchants' receivers of callbacks: they answer, some of them slowly. For a while they may
 * fail: with an error, or after the timeout.
 */
import type { CallbackRequest, DeliveryAttempt } from "../../gateway/callbacks/callback.ts";
import { asInstant } from "../../gateway/values/time.ts";
import { startOfTime } from "./platform.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

export type Receivers = ReturnType<typeof makeReceivers>;

type World = { readonly time: VirtualTime; readonly story: Story; readonly random: Random };

export function makeReceivers({ time, story, random }: World) {
  let failUntil = 0;
  /** The serial number and status of every result that a receiver has accepted. */
  const heard = new Set<string>();

  return {
    heard,
    send,
    fail(forMs: number): void {
      failUntil = time.now() + forMs;
    },
    heal(): void {
      failUntil = 0;
    },
  };

  function send({ method, url, body }: CallbackRequest): Promise<DeliveryAttempt> {
    const owner = time.current();
    const isFailing = failUntil > time.now();
    const status = isFailing ? random.pick([500, 503, 200, undefined]) : 200;
    const tookMs = status === undefined ? 15_000 : random.skewed(5, 4_000);
    const own = { at: asInstant(startOfTime + Math.floor(time.now())), method, url, body };
    story.note(`callback ${status}`);
    if (status === 200) {
      const { searchParams } = new URL(url);
      heard.add(`${searchParams.get("serial-number")} ${searchParams.get("status")}`);
    }
    const failure = status === undefined ? "timeout" : undefined;
    const rest = { durationMs: Math.round(tookMs), answer: "", retryAfterMs: undefined };
    return new Promise((resolve) => {
      time.after(tookMs, owner, () => resolve({ ...own, ...rest, status, failure }));
    });
  }
}
