/** Fixed seeds of the simulator hold every law; and a seed is the same simulation every time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planOf, simulate } from "./simulation.ts";

const ordersPerSeed = 50;

for (const first of [1, 11]) {
  const seeds = Array.from({ length: 10 }, (_, index) => first + index);
  test(`the laws hold in the simulations of seeds ${first} to ${first + 9}`, async () => {
    for (const seed of seeds) {
      const { violations, orders } = await simulate(seed, planOf(seed, ordersPerSeed));

      assert.deepEqual(violations, [], `npm run simulate -- --seed ${seed}`);
      assert.ok(orders > ordersPerSeed / 2, `seed ${seed} has only ${orders} orders`);
    }
  });
}

test("one seed is one simulation, to the last event", async () => {
  const [first, second] = [await simulate(7, planOf(7, 30)), await simulate(7, planOf(7, 30))];

  assert.equal(first.hash, second.hash);
  assert.equal(first.events, second.events);
});
