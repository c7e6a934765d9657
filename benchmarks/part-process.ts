/**
 * A part of the benchmark in a process of its own, asked over the channel that Node gives to forked
 * processes. A part ends when it is stopped, and also when the benchmark is gone.
 */
import { type ChildProcess, fork } from "node:child_process";

/** By name, what is asked and what is answered. */
export type Jobs = Readonly<Record<string, readonly [job: unknown, result: unknown]>>;

export type Part<Offered extends Jobs> = {
  ask<Name extends keyof Offered & string>(
    name: Name,
    job: Offered[Name][0],
  ): Promise<Offered[Name][1]>;
};

type Question = { readonly name: string; readonly job: unknown };
type Answer = { readonly result?: unknown; readonly failure?: string };

/** One question at a time: the next is asked when the last one is answered. */
export function startPart<Offered extends Jobs>(
  file: string,
  stack: AsyncDisposableStack,
): Part<Offered> {
  if (stack.disposed) throw new Error("the benchmark is ending");
  const child = fork(`${import.meta.dirname}/${file}`, { serialization: "advanced" });
  stack.defer(() => stop(child));

  return {
    ask(name, job) {
      return new Promise((resolve, reject) => {
        const onExit = () => reject(new Error(`${file} has ended`));
        if (!child.connected) return onExit();
        child.once("exit", onExit);
        child.once("message", ({ result, failure }: Answer) => {
          child.off("exit", onExit);
          if (failure !== undefined) reject(new Error(`${file}: ${failure}`));
          else resolve(result);
        });
        child.send({ name, job });
      });
    },
  };
}

/** In the part's process: takes questions from now on. */
export function offer<Offered extends Jobs>(
  answers: {
    readonly [Name in keyof Offered]: (job: Offered[Name][0]) => Promise<Offered[Name][1]>;
  },
): void {
  // Names come from `ask`, whose type allows no others.
  const byName = new Map<string, (job: unknown) => Promise<unknown>>(Object.entries(answers));
  process.on("message", async ({ name, job }: Question) => {
    process.send?.(await answer(byName.get(name), job));
  });
  process.once("disconnect", () => process.exit(0));
}

async function answer(
  work: ((job: unknown) => Promise<unknown>) | undefined,
  job: unknown,
): Promise<Answer> {
  try {
    return { result: await work?.(job) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
