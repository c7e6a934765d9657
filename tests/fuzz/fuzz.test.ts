/**
 * Runs a few hundred inputs for each target from fixed seeds, and every input that was once a
 * finding.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { series } from "../support/series.ts";
import { changed } from "./changed.ts";
import { codecTargets } from "./codecs.ts";
import { signatureTargets } from "./signatures.ts";
import { checkCases, checkInput, runBatch, type Target } from "./target.ts";

const targets = [...codecTargets, ...signatureTargets];

for (const target of targets) {
  test(`${target.name}: no changed input breaks the reader or passes for genuine`, async () => {
    const outcomes = new Map<string, number>();

    assert.equal(
      await runBatch(target, { seed: 20, runs: series(40, 15_000) }, outcomes),
      undefined,
    );

    // Genuine inputs are among them, because a target that refuses all inputs tests nothing.
    assert.ok([...outcomes.keys()].some((outcome) => /accepted|read/.test(outcome)));
  });
}

test("every saved finding stays fixed", () => checkCases(targets));

const planted: Target = {
  name: "planted",
  inputs: changed(["amount=10.15"]),
  check(input) {
    if (input.includes("%")) throw new RangeError("an escape was not expected");
    return "accepted";
  },
};

test("a reader that throws is found, with the shortest such input", async () => {
  const finding = await runBatch(planted, { seed: 1, runs: 2_000 }, new Map());

  assert.match(finding?.problem ?? "", /an escape was not expected/);
  assert.match(finding?.input ?? "", /%/);
  // The shortest input is the sample and one word.
  assert.ok((finding?.input.length ?? 99) <= "amount=10.15%FE%FF".length);
});

test("a reader that takes longer than its limit is found", async () => {
  const slow: Target = {
    ...planted,
    check(input) {
      const before = process.threadCpuUsage().user;
      while (input === "slow" && process.threadCpuUsage().user - before < 60_000);
      return "accepted";
    },
  };

  await assert.rejects(checkInput(slow, "slow", 50), /processor time/);
  assert.equal(await checkInput(slow, "fast"), "accepted");
});

test("a reader that never ends is reported and saved by the watchdog", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-fuzz-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const options = JSON.stringify({ folder, cpuMsMax: 300 });
  const script = `
    import { startWatchdog } from ${JSON.stringify(import.meta.resolve("./watchdog.ts"))};
    (await startWatchdog(${options})).watch({ target: "endless", seed: 7, input: "%" });
    (function spin() { for (;;); })();`;

  const program = join(folder, "endless.mjs");
  await writeFile(program, script);

  const ran = spawnSync(process.execPath, [program], { encoding: "utf8", timeout: 120_000 });

  assert.equal(ran.status, 1, ran.stderr);
  assert.match(ran.stdout, /^endless, seed 7: it does not end\n +at spin .*endless\.mjs/m);
  assert.match(ran.stdout, /^input: "%"$/m);
  const saved = JSON.parse(await readFile(join(folder, "endless-hang-7.json"), "utf8"));
  assert.deepEqual([saved.target, saved.input], ["endless", "%"]);
});
