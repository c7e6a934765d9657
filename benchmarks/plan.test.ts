/** The command line decides what is measured: a wrong one must end the run before it starts. */
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
});
