/**
 * A sale must not cost the gateway much more processor time than the repository's budget says
 * (`benchmarks/budget.ts`), in requests of a bare route of the same run. Of wall time only the
 * median of a sale at 50/s is judged, by a wide bound: a busy machine would decide anything closer.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");

test("a sale costs no more processor time, and takes no longer, than the budget allows", async (t) => {
  // The runner gives the benchmark the pinned Node, its flags and the cache of compiled sources.
  const command = ["tools/run.mjs", "benchmarks/bench.ts", "--budget"];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, command, { cwd: root, env, signal: t.signal });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);

  for (const figure of [/^A sale costs .*$/m, /^At 50\/s .*$/m]) {
    t.diagnostic(figure.exec(output)?.[0] ?? "no figure");
  }
  assert.equal(code, 0, `${output}${errors}`);
});
