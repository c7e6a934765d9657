/** The last line and the exit code of `npm test`, which programs read. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

test("the last line of a run has only its counts", () => {
  const { lastLine, status } = check("tools/source-text.test.ts");

  assert.match(lastLine, /^[1-9]\d* passed, 0 failed$/);
  assert.equal(status, 0);
});

test("a run that executes no test fails, and so does an unknown name", () => {
  assert.deepEqual(check("LICENSE"), { lastLine: "0 passed, 0 failed", status: 1 });
  assert.deepEqual(check("nonsense"), { lastLine: "0 passed, 1 failed", status: 1 });
});

function check(wanted: string): { readonly lastLine: string; readonly status: number | null } {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const path = `${import.meta.dirname}/check.ts`;
  const { stdout, status } = spawnSync(process.execPath, [path, wanted], { env: environment });
  return { lastLine: String(stdout).trimEnd().split("\n").at(-1) ?? "", status };
}
