/** The benchmark's own parts: forked files that get requests over Node's channel. */
import { fork } from "node:child_process";
import { once } from "node:events";

/** The request and the answer of each job, by its name. */
type Jobs = Readonly<Record<string, readonly [job: unknown, result: unknown]>>;

export type Part<Offered extends Jobs> = {
  readonly pid: number;
  ask<Name extends keyof Offered & string>(
    name: Name,
    job: Offered[Name][0],
  ): Promise<Offered[Name][1]>;
};

type Question = { readonly name: string; readonly job: unknown };
type Answer = { readonly result?: unknown; readonly failure?: string };

/** Starts a part, which gets one request at a time. */
export function startPart<Offered extends Jobs>(
  file: string,
  stack: AsyncDisposableStack,
): Part<Offered> {
  if (stack.disposed) throw new Error("the benchmark is ending");
  const child = fork(`${import.meta.dirname}/${file}`, { serialization: "advanced" });
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  return {
    pid: child.pid ?? 0,
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

/** Called in the part's process, which then answers requests until the benchmark has ended. */
export function offer<Offered extends Jobs>(
  answers: {
    readonly [Name in keyof Offered]: (job: Offered[Name][0]) => Promise<Offered[Name][1]>;
  },
): void {
  // Names come from `ask`, whose type allows no others.
  const byName = new Map<string, (job: unknown) => Promise<unknown>>(Object.entries(answers));
  process.on("message", async ({ name, job }: Question) => {
    try {
      process.send?.({ result: await byName.get(name)?.(job) });
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.once("disconnect", () => process.exit(0));
}
