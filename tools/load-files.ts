/**
 * The process of some test files: loads one after the other, each when the tests of the earlier one
 * are over. Two tests with the file's path as their name enclose those of the file: they tell
 * `run-files.ts` whose tests it hears of, and no test begins before its file is loaded. There is
 * always a next test until the last file has ended, because the runner ends what all tests share
 * (`after`) when there is none.
 */
import { test } from "node:test";
import { recordCost } from "./record-cost.ts";

const files = process.argv.slice(2).map((file) => ({ file, ...Promise.withResolvers<void>() }));
// A test may wait for a timer that keeps no process running.
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
