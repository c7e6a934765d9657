/**
 * The end of a file's last test, as the owner of what all its tests share. It is a file of its own
 * because importing it starts Node's test runner, which would catch the errors of benchmarks.
 */
import { after } from "node:test";
import type { Test } from "./clean-up.ts";

let endFile: () => unknown = () => undefined;
// The hook is registered when the file is loaded; inside a test it would belong to that test.
after(() => endFile());

export const endOfFile: Test = {
  after(clean) {
    endFile = clean;
  },
};
