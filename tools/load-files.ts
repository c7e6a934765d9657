/**
 * The process of several test files. It loads each file when the tests of the previous one have
 * ended. Two tests named after the file's path enclose those of the file: they tell `run-files.ts`
 * which file an event belongs to, and no test begins before its file is loaded. Until the last file
 * has ended there is always a next test, because the runner otherwise calls the hooks (`after`) of
 * what all tests share.
 */
import { test } from "node:test";
import { recordCost } from "./record-cost.ts";

const files = process.argv.slice(2).map((file) => ({ file, ...Promise.withResolvers<void>() }));
// The interval keeps the process running, because a test may wait for a timer that does not.
const alive = setInterval(() => undefined, 60_000);

begin(0);
for (const [at, { file, resolve, reject }] of files.entries()) {
  const loading: Promise<unknown> = import(file);
  await loading.catch(() => undefined);
  const ended = test(file, () => recordCost(file));
  begin(at + 1);
  loading.then(() => resolve(), reject);
  await ended;
}
clearInterval(alive);

function begin(at: number): void {
  const next = files[at];
  if (next !== undefined) void test(next.file, () => next.promise);
}
