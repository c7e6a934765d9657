/**
 * How long each open stage may last, how long a node may be silent with an effect before another
 * takes it over, and when an unanswered message that settles doubt is repeated. The figures are
 * settings.
 */
import { isFinal, type Stage } from "./transitions.ts";

export type Deadlines = {
  readonly stageMs: Readonly<Record<OpenStage, number>>;
  readonly leaseMs: number;
  /** Gaps between tries to settle doubt; the last one is repeated for ever. */
  readonly repeatGapsMs: readonly number[];
};

export type OpenStage = Exclude<Stage, "approved" | "declined" | "filtered" | "error">;

/** Nothing for a final stage: it may last. */
export function stageLimitMs(deadlines: Deadlines, stage: Stage): number | undefined {
  return isOpen(stage) ? deadlines.stageMs[stage] : undefined;
}

/**
 * From when on the effect may be taken up by any node: after the lease of the node that has it in
 * hand, or, for a message that went unanswered `tries` times, when its gap is over.
 */
export function claimableAfterMs({ leaseMs, repeatGapsMs }: Deadlines, tries: number): number {
  if (tries === 0) return leaseMs;
  return repeatGapsMs[Math.min(tries, repeatGapsMs.length) - 1] ?? leaseMs;
}

function isOpen(stage: Stage): stage is OpenStage {
  return !isFinal(stage);
}
