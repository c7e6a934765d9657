/** The command line decides what is measured, and a wrong one must end the run before it starts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Ended, readPlan } from "./plan.ts";

// biome-ignore format: a table
const cases: readonly (readonly [readonly string[], string])[] = [
  [[],                                    "full"],
  [["--quick"],                           "quick"],
  [["--short", "--profile", "here"],      "short"],
  [["--budget"],                          "budget"],
  [["--against", "HEAD~1"],               "compared"],
  [["--against", "HEAD~1", "--short"],    "compared"],
  [["--against", "HEAD~1", "--full"],     "full"],
  [["--against", "HEAD~1", "--quick"],    "quick"],
  [["--latency", "--quick"],              "quick"],
  [["--mix"],                             "full"],
];

for (const [parameters, kind] of cases) {
  test(`the benchmark with "${parameters.join(" ")}" is of the kind ${kind}`, () => {
    assert.equal(readPlan(parameters).kind, kind);
  });
}

test("options that are unknown, impossible or contradict each other end the run", () => {
  const profiled = ["--against", "HEAD~1", "--profile", "here"];
  for (const parameters of [["--nonsense"], ["--rounds", "0"], ["--grown", "x"], profiled]) {
    assert.throws(() => readPlan(parameters), Ended, parameters.join(" "));
  }
  for (const text of [
    "--latency --mix",
    "--pages --latency",
    "--against HEAD --latency",
    "--burn 2",
    "--rate 50",
    "--mix --seconds 5 --minutes 5",
    "--mix --rate 0",
  ]) {
    assert.throws(() => readPlan(text.split(" ")), Ended, text);
  }
});

test("the mix runs at 100 a second for a minute unless the command line says otherwise", () => {
  assert.deepEqual(readPlan(["--mix"]).mix, { perSecond: 100, seconds: 60, minutes: 0 });
  const long = readPlan(["--mix", "--rate", "500", "--minutes", "10"]);
  assert.deepEqual(long.mix, { perSecond: 500, seconds: 60, minutes: 10 });
  assert.equal(readPlan([]).mix, undefined);
  assert.equal(readPlan(["--latency", "--burn", "2"]).burn, 2);
});
