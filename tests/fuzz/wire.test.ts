/**
 * Sends a few answers of other systems and OAuth headers, from fixed seeds, and the saved findings.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../support/end-of-file.ts";
import { checkCases, runBatch } from "./target.ts";
import { makeWireTargets } from "./wire.ts";

const targets = await makeWireTargets(endOfFile);

for (const target of targets) {
  test(`${target.name}: no changed message breaks the gateway or passes for genuine`, async () => {
    const outcomes = new Map<string, number>();

    assert.equal(await runBatch(target, { seed: 21, runs: 15 }, outcomes), undefined);

    assert.ok(outcomes.size > 1, "all inputs have met the same check");
  });
}

test("every saved finding over these lines stays fixed", () => checkCases(targets));
