/**
 * Runs `gw` commands one after the other, as the entry point of a process would: with arguments,
 * settings, input, output and exit code. Only the modules stay loaded between them.
 */
import { Readable } from "node:stream";
import { inspect } from "node:util";
import { parentPort } from "node:worker_threads";
import type { GwRun, Ran } from "../programs.ts";

class Exit extends Error {}

const gw = new URL("../../../gateway/cli/gw.ts", import.meta.url).href;
let [printed, complaint] = ["", ""];
let count = 0;

process.stdout.write = (text) => {
  printed += text;
  return true;
};
process.stderr.write = (text) => {
  complaint += text;
  return true;
};
process.exit = (code) => {
  process.exitCode = code;
  throw new Exit();
};

parentPort?.on("message", async (run: GwRun) => parentPort?.postMessage(await execute(run)));

async function execute({ words, settings, input }: GwRun): Promise<Ran> {
  [printed, complaint] = ["", ""];
  process.exitCode = undefined;
  process.argv = [process.execPath, gw, ...words];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, settings);
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  count += 1;
  try {
    // A different address is a different module, so the entry point is executed again.
    await import(`${gw}?run=${count}`);
  } catch (error) {
    if (!(error instanceof Exit)) {
      complaint += inspect(error);
      process.exitCode = 1;
    }
  }
  return { code: Number(process.exitCode ?? 0), printed, complaint };
}
