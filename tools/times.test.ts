/** The report of the time that each test file took. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { describeTimes, sumByFile } from "./times.ts";

test("the costs of a file are summed, and the most expensive file comes first", () => {
  const files = sumByFile([
    { file: "a.test.ts", wallMs: 1_000, cpuMs: 500 },
    { file: "b.test.ts", wallMs: 100, cpuMs: 2_000 },
    { file: "a.test.ts", wallMs: 500, cpuMs: 20 },
  ]);

  assert.deepEqual(files, [
    { file: "b.test.ts", wallS: 0.1, cpuS: 2 },
    { file: "a.test.ts", wallS: 1.5, cpuS: 0.52 },
  ]);
});

test("the report names ten files, and the whole run in minutes", () => {
  const files = Array.from({ length: 12 }, (_, index) => ({
    file: `${index}.test.ts`,
    wallS: 12,
    cpuS: 30 - index,
  }));

  const text = describeTimes({ wallS: 90, cpuS: 150, files });

  assert.equal(text.match(/\.test\.ts/g)?.length, 10);
  assert.match(text, /^ {5}30\.0 {6}12\.0 {2}0\.test\.ts$/m);
  assert.match(text, /took 1\.5 min and 2\.5 min of processor time/);
});

test("a process records the work of the programs that it starts", (t) => {
  const place = join(makeFolder(t), "costs");
  const work = "for (const end = Date.now() + 300; Date.now() < end; );";
  const child = `require("node:child_process").spawnSync(process.execPath, ["-e", "${work}"]);`;
  const recorder = join(import.meta.dirname, "record-cost.ts");

  spawnSync(process.execPath, ["--import", recorder, "-e", child], {
    env: { ...process.env, TOLLGATE_COSTS: place },
  });

  const { wallMs, cpuMs } = JSON.parse(readFileSync(place, "utf8"));
  assert.ok(wallMs >= 300, `${wallMs} ms`);
  // The limit is below the elapsed time, because a busy machine lets a process wait. A process that
  // only starts takes less.
  assert.ok(cpuMs >= 150, `${cpuMs} ms of processor time`);
});

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-times-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
