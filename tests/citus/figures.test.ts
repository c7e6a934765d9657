/**
 * Compares the cost of a cell on Citus with the first cell, which is plain PostgreSQL on the
 * coordinator: the same sales in turn, one at a time and sixty-four at once. Prints figures without
 * judging them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { citusUrl } from "../support/databases/citus.ts";
import { startWorld } from "../support/world.ts";

const skip = citusUrl === undefined && "GW_TEST_CITUS_URL names no coordinator of a cluster";
// These sales are declined, because the books are compared at the end with one cell only.
const declined = { credit_card_number: "4000004000000020" };
const rounds = 5;
const atOnce = 64;
const oneByOne = 10;

test("sales in a cell on Citus and in one on plain PostgreSQL", { skip }, async (t) => {
  const world = await startWorld(t);
  const shops = { plain: await world.stranger("plain-shop", "main"), citus: world.merchant() };
  type Shop = keyof typeof shops;
  const pay = async (shop: Shop, count: number) => {
    const startedAt = performance.now();
    const sales = Array.from({ length: count }, () => shops[shop].sale(declined));
    const paid = await Promise.all(sales);
    await world.settle();
    const durationMs = performance.now() - startedAt;
    const statuses = await Promise.all(
      paid.map(async (each) => (await shops[shop].describe(each)).status),
    );
    assert.deepEqual(new Set(statuses), new Set(["declined"]));
    return durationMs;
  };
  const names = ["plain", "citus"] as const;
  for (const shop of names) await pay(shop, atOnce);

  const took: Record<Shop, { single: number[]; many: number[] }> = {
    plain: { single: [], many: [] },
    citus: { single: [], many: [] },
  };
  for (let round = 1; round <= rounds; round += 1) {
    for (const shop of names) {
      for (let each = 1; each <= oneByOne; each += 1) took[shop].single.push(await pay(shop, 1));
      took[shop].many.push(await pay(shop, atOnce));
    }
  }

  for (const shop of names) {
    const { single, many } = took[shop];
    const perSecond = Math.round((atOnce * 1000) / median(many));
    t.diagnostic(`${shop}: one sale ${median(single).toFixed(1)} ms, at once ${perSecond}/s`);
  }
});

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
