/** A test file that never ends is ended, and the reason is told. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

test("a file whose tests are over, and which something keeps from ending, is ended", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-run-file-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "left.test.ts");
  const body = "() => void setInterval(() => undefined, 1_000)";
  writeFileSync(file, `import { test } from "node:test"; test("leaves a timer", ${body});`);

  const { lines, tally } = run(folder, { file, minutes: 1, endsWithinMs: 100 });

  assert.match(lines.join("\n"), /left\.test\.ts is ended: its tests are over, and something/);
  assert.deepEqual(tally, { passed: 1, failed: 1, skipped: 0 });
});

/** In a process of its own: the runner runs no file from inside a test. */
function run(
  folder: string,
  course: object,
): { readonly lines: readonly string[]; readonly tally: object } {
  const source = `
    import { runFile } from ${JSON.stringify(join(import.meta.dirname, "run-file.ts"))};
    const lines = [];
    const tally = { passed: 0, failed: 0, skipped: 0 };
    const { signal } = new AbortController();
    const say = (line) => void lines.push(line);
    await runFile({ ...${JSON.stringify(course)}, tally, say, signal });
    console.log(JSON.stringify({ lines, tally }));
  `;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = join(folder, "run.mjs");
  writeFileSync(program, source);
  const { stdout } = spawnSync(process.execPath, [program], { env, encoding: "utf8" });
  return JSON.parse(stdout);
}
