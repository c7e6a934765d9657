/**
 * A sale must not cost the gateway much more processor time than the repository's budget says
 * (`benchmarks/budget.ts`), measured in requests of a bare route in the same run. Of the wall time
 * only the median of a sale at 50/s has a limit, and a wide one, because a busy machine would
 * exceed any narrow one.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");

test("a sale stays within the budget of processor time and duration", async (t) => {
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
