/** Loaded into a node. On SIGUSR2 it fills the heap until V8 ends the process. */
import { isMainThread } from "node:worker_threads";

const kept: unknown[] = [];
const itemsPerStep = 250_000;
const everyMs = 50;

if (isMainThread) process.on("SIGUSR2", grow);

function grow(): void {
  kept.push(Array.from({ length: itemsPerStep }, (_, index) => ({ index })));
  setTimeout(grow, everyMs);
}
