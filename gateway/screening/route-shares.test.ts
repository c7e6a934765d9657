/** The routes of a sale as operators see them, computed by the function that routes orders. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditions } from "../orders/testing.ts";
import { asGateId, type GateId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { asInstant } from "../values/time.ts";
import { findRouteShares } from "./screen.ts";

const { endpoint } = conditions;
const [first] = endpoint.gates;
assert.ok(first !== undefined);
const other = { ...first, id: asGateId("99"), name: "other", weight: first.weight * 3 };
const at = asInstant(0);
const both = { ...endpoint, gates: [first, other] };

test("gates of one rank share sales by their weights, and a gate that is not ready takes none", () => {
  const shareOf = (gate: string, isReady: (id: GateId) => boolean = () => true) => {
    const shares = findRouteShares(both, "10.42", { isReady, at });
    assert.ok(!(shares instanceof Problem));
    const own = shares.filter((each) => each.gate === gate);
    return own.reduce((sum, { share }) => sum + share, 0);
  };
  assert.ok(Math.abs(shareOf(first.name) + shareOf("other") - 1) < 1e-9);
  assert.ok(shareOf("other") > 0.7 && shareOf("other") < 0.8, `${shareOf("other")}`);

  assert.equal(
    shareOf(first.name, (id) => id === first.id),
    1,
  );
});

test("a sale that no gate takes says why, and a text that is no amount is refused", () => {
  const none = findRouteShares({ ...both, gates: [] }, "10.42", { isReady: () => true, at });

  assert.deepEqual(none, [{ outcome: "gate_unavailable", why: "no_gate", share: 1 }]);
  assert.ok(findRouteShares(both, "ten", { isReady: () => true, at }) instanceof Problem);
});
