/**
 * The end of a file's last test, as the owner of what all its tests share. It stands alone because
 * importing it starts Node's test runner, which would answer for the benchmarks' errors.
 */
import { after } from "node:test";
import type { Test } from "./clean-up.ts";

let endFile: () => unknown = () => undefined;
// Registered now: inside a test it would end with that test.
after(() => endFile());

export const endOfFile: Test = {
  after(clean) {
    endFile = clean;
  },
};
