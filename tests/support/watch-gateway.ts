/**
 * Runs beside a gateway that a test has started, and ends it when the test's process is gone,
 * however that ended. It is given the gateway's process id and data folder, and a pipe to watch.
 */
import { endProcessById, stopDatabase } from "./end-gateway.ts";

const [, , id = "", dataDir = ""] = process.argv;

for await (const _ of process.stdin) {
  // Nothing is ever written; what matters is the end.
}
await endProcessById(Number(id));
await stopDatabase(dataDir);
