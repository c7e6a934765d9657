/**
 * A target of the fuzzer, and one batch of it. An input is a text, so that a finding is saved
 * unchanged; for targets that read bytes each character is one byte. `check` returns the result of
 * the input. Any error that it throws is a finding.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { cpuMsNow } from "./watchdog.ts";

export type Target = {
  readonly name: string;
  readonly inputs: fc.Arbitrary<string>;
  check(input: string): string | Promise<string>;
};

export type Finding = {
  readonly target: string;
  readonly seed: number;
  /** The shortest input that was found. */
  readonly input: string;
  readonly problem: string;
};

type Batch = {
  readonly seed: number;
  readonly runs: number;
  /** Called with every input before it is checked. */
  readonly watch?: (checked: Omit<Finding, "problem">) => void;
};

/**
 * The limit of one input in processor time of this thread, so that a busy machine does not matter.
 */
const hangMs = 1_000;

/** Runs a batch. The same seed repeats it exactly. */
export async function runBatch(
  target: Target,
  { seed, runs, watch }: Batch,
  outcomes: Map<string, number>,
): Promise<Finding | undefined> {
  const property = fc.asyncProperty(target.inputs, async (input) => {
    watch?.({ target: target.name, seed, input });
    const outcome = await checkInput(target, input);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  });
  const { failed, counterexample, errorInstance } = await fc.check(property, {
    seed,
    numRuns: runs,
  });
  if (!failed || counterexample === null) return undefined;
  return { target: target.name, seed, input: counterexample[0], problem: describe(errorInstance) };
}

/** Checks one input. */
export async function checkInput(target: Target, input: string, limitMs = hangMs): Promise<string> {
  const first = await measure(target, input);
  if (first.tookMs <= limitMs) return first.outcome;
  // A single excess may come from the compiler or from garbage of earlier inputs.
  const { outcome, tookMs } = await measure(target, input);
  if (tookMs > limitMs) throw new Error(`took ${Math.round(tookMs)} ms of processor time`);
  return outcome;
}

async function measure(target: Target, input: string) {
  const before = cpuMsNow();
  const outcome = await target.check(input);
  return { outcome, tookMs: cpuMsNow() - before };
}

/** Checks the findings of these targets that were saved as tests. */
export async function checkCases(targets: readonly Target[]): Promise<void> {
  const folder = join(import.meta.dirname, "cases");
  for (const file of globSync("*.json", { cwd: folder })) {
    const saved: Finding = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const target = targets.find(({ name }) => name === saved.target);
    if (target !== undefined) await checkInput(target, saved.input);
  }
}

/** Lets signals and timers run, because a batch is synchronous for most targets. */
export const betweenBatches = () => pause(0);

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
