/** How a challenge ends: what the catalogue says of the card, and what the cardholder pressed. */
import type { ChallengeEnd } from "../scenarios.ts";

export type Pressed = { readonly action: string; readonly code: string };

export type Ending = {
  /** Of the RReq, which counts. */
  readonly status: "Y" | "N";
  /** Of the CRes, which only tells the browser. */
  readonly told: "Y" | "N";
  readonly isCancelled: boolean;
  /** The result follows the browser instead of going ahead of it. */
  readonly resultAfterMs: number;
};

export const testCode = "1234";

const authenticated: Ending = { status: "Y", told: "Y", isCancelled: false, resultAfterMs: 0 };
const failed: Ending = { status: "N", told: "N", isCancelled: false, resultAfterMs: 0 };
const cancelled: Ending = { ...failed, isCancelled: true };
const lateMs = 3_000;

/** Nothing when the bank stays silent whatever happens. */
export function endChallenge(end: ChallengeEnd, pressed: Pressed): Ending | undefined {
  if (end === "silence") return undefined;
  if (end === "cancelled" || pressed.action === "cancel") return cancelled;
  switch (end) {
    case "failed":
      return failed;
    case "by-code":
      return byCode(pressed);
    case "by-code-result-late":
      return { ...byCode(pressed), resultAfterMs: lateMs };
    case "result-differs":
      return { ...failed, told: "Y" };
  }
}

function byCode({ action, code }: Pressed): Ending {
  return action === "confirm" && code.trim() === testCode ? authenticated : failed;
}
