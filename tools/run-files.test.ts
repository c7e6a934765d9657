/** Test files in one process: how they are reported, and how those that never end are ended. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

test("files share a process, and each is reported with its failures", (t) => {
  const folder = makeFolder(t);
  const write = (name: string, source: string) => {
    const file = join(folder, `${name}.test.ts`);
    writeFileSync(file, `import { after, before, test } from "node:test"; ${source}`);
    return file;
  };
  const files = [
    write("good", 'globalThis.shared = 1; test("passes", () => undefined);'),
    write("broken", 'throw new Error("cannot be loaded");'),
    write("empty", ""),
    write("bad", 'test("fails", () => { throw new Error("shared " + globalThis.shared); });'),
    write("skipped", 'test.skip("is skipped");'),
  ];

  const { lines, tally, faults } = run(folder, { files, minutes: 1 });

  assert.deepEqual(tally, { passed: 1, failed: 3, skipped: 1 });
  const names = faults.map((fault) => /(\w+)\.test\.ts/.exec(fault)?.[1]);
  assert.deepEqual(names, ["broken", "empty", "bad"]);
  const told = lines.join("\n");
  assert.match(told, /^✔ \S+good\.test\.ts \([\d.]+ s\)$/m);
  assert.match(told, /^✖ \S+broken\.test\.ts\n +Error: cannot be loaded/m);
  assert.match(told, /^✖ \S+empty\.test\.ts\n +The file holds no test\./m);
  assert.match(told, /^✖ fails \(\S+bad\.test\.ts:1\)\n +Error: shared 1/m);
  assert.match(told, /^✔ \S+skipped\.test\.ts/m);
});

test("what tests share exists until all files have ended", (t) => {
  const folder = makeFolder(t);
  const source = (next: string) => `
    import { after, before, test } from "node:test";
    let made;
    before(async () => { made = "made"; });
    after(() => { globalThis.over = true; });
    test("uses what was made", () => made.slice(${next}.length));
    test("is not over", () => { if (globalThis.over) throw new Error("over"); });
    const ${next} = "after the tests";`;
  const files = ["first", "second"].map((name) => {
    const file = join(folder, `${name}.test.ts`);
    writeFileSync(file, source(name));
    return file;
  });

  const { lines, tally } = run(folder, { files, minutes: 1 });

  assert.deepEqual(tally, { passed: 4, failed: 0, skipped: 0 }, lines.join("\n"));
});

test("files that have not run when their process ends count as failed", (t) => {
  const folder = makeFolder(t);
  const [first, second] = [join(folder, "first.test.ts"), join(folder, "second.test.ts")];
  const body = "() => process.kill(process.pid, 9)";
  writeFileSync(first, `import { test } from "node:test"; test("ends the process", ${body});`);
  writeFileSync(second, `import { test } from "node:test"; test("passes", () => undefined);`);

  const { lines, tally } = run(folder, { files: [first, second], minutes: 1 });

  assert.deepEqual(tally, { passed: 0, failed: 1, skipped: 0 });
  assert.match(lines.join("\n"), /✖ \S+first\.test\.ts, \S+second\.test\.ts\n/);
});

test("a file that does not end after its tests is ended", (t) => {
  const folder = makeFolder(t);
  const file = join(folder, "left.test.ts");
  const body = "() => void setInterval(() => undefined, 1_000)";
  writeFileSync(file, `import { test } from "node:test"; test("leaves a timer", ${body});`);

  const { lines, tally } = run(folder, { files: [file], minutes: 1, endsWithinMs: 100 });

  assert.match(lines.join("\n"), /left\.test\.ts is ended: its tests are over, and something/);
  assert.deepEqual(tally, { passed: 1, failed: 1, skipped: 0 });
});

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-run-files-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/**
 * Runs the files in a separate process, because the runner cannot run a file from inside a test.
 */
function run(
  folder: string,
  course: object,
): {
  readonly lines: readonly string[];
  readonly tally: object;
  readonly faults: readonly string[];
} {
  const runner = JSON.stringify(join(import.meta.dirname, "run-files.ts"));
  const source = `
    import { makeTally, runFiles } from ${runner};
    const lines = [];
    const tally = makeTally();
    const { signal } = new AbortController();
    const say = (line) => void lines.push(line);
    await runFiles({ ...${JSON.stringify(course)}, tally, say, signal });
    const { faults, ...counts } = tally;
    console.log(JSON.stringify({ lines, tally: counts, faults }));
  `;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = join(folder, "run.mjs");
  writeFileSync(program, source);
  const { stdout } = spawnSync(process.execPath, [program], { env, encoding: "utf8" });
  return JSON.parse(stdout);
}
