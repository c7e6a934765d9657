/**
 * What a program of ours holds when all that can be collected has been: asked through the debugger,
 * which can have the garbage collected first. The program is started with `inspected`.
 */
import { once } from "node:events";
import type { Program } from "./program.ts";
import { until } from "./until.ts";
import type { Test } from "./world.ts";

export type Memory = { readonly heapUsed: number; readonly external: number; readonly rss: number };

export const inspected = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

type Answer = { readonly id: number; readonly result: { result?: { value?: Memory } } };

export async function openInspector(t: Test, program: Program): Promise<() => Promise<Memory>> {
  const url = await until(
    "the debugger listens",
    () => /Debugger listening on (ws:\S+)/.exec(program.output)?.[1],
  );
  const socket = new WebSocket(url);
  await once(socket, "open");
  t.after(() => socket.close());
  let asked = 0;

  return async () => {
    // Twice: what the first time has finalised is free after the second.
    await ask("HeapProfiler.collectGarbage");
    await ask("HeapProfiler.collectGarbage");
    const expression = "process.memoryUsage()";
    const { result } = await ask("Runtime.evaluate", { expression, returnByValue: true });
    if (result?.value === undefined) throw new Error("the debugger does not know");
    return result.value;
  };

  function ask(method: string, params: object = {}): Promise<Answer["result"]> {
    asked += 1;
    const id = asked;
    const { promise, resolve } = Promise.withResolvers<Answer["result"]>();
    const hear = ({ data }: MessageEvent) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id !== id) return;
      socket.removeEventListener("message", hear);
      resolve(answer.result);
    };
    socket.addEventListener("message", hear);
    socket.send(JSON.stringify({ id, method, params }));
    return promise;
  }
}
