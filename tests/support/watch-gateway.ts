/**
 * Runs beside a gateway that a test has started, and ends it when the test's process is gone, killed
 * ones included: `node watch-gateway.ts <process id> <data folder>`, with a pipe as standard input.
 */
import { endProcessById, stopDatabase } from "./end-gateway.ts";

const [, , id = "", dataDir = ""] = process.argv;

for await (const _ of process.stdin) {
  // Nothing is ever written; what matters is the end.
}
await endProcessById(Number(id));
await stopDatabase(dataDir);
