/**
 * Sends a few requests of each kind to a running gateway, from fixed seeds, and the saved findings.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../support/end-of-file.ts";
import { openBrowser } from "../support/operator/portal.ts";
import { chargesAt } from "../support/threeds.ts";
import { startWorld } from "../support/world.ts";
import { makeHttpTargets } from "./http.ts";
import { checkCases, checkInput, runBatch } from "./target.ts";

const world = await startWorld(endOfFile);
const targets = await makeHttpTargets(world);

for (const target of targets) {
  test(`${target.name}: no changed request breaks the gateway or passes for genuine`, async () => {
    const outcomes = new Map<string, number>();

    assert.equal(await runBatch(target, { seed: 20, runs: 25 }, outcomes), undefined);

    assert.ok(outcomes.size > 1, "all inputs have met the same check");
  });
}

test("every saved finding over HTTP stays fixed", () => checkCases(targets));

test("a line that the gateway logs as an error is a finding", async () => {
  const [target = assert.fail()] = targets;
  world.logged.push(JSON.stringify({ level: 50, event: "planted" }));

  await assert.rejects(checkInput(target, "sale\na=1"), /logged an error/);
});

test("the gateway still accepts a sale and a visit afterwards", async () => {
  await world.settle();
  const before = chargesAt(world);

  const sale = await world.merchant().sale();
  await world.settle();

  assert.equal((await world.merchant().status(sale)).status, "approved");
  assert.equal(chargesAt(world), before + 1);
  const { status } = await openBrowser(world.gateway).send("GET /session", {});
  assert.ok(status < 500);
});
