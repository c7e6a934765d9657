/** Every cell of the table of roles and rights, as an operator would read it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasRight, isMerchantRole, type Right, rights, roles } from "./roles.ts";

// biome-ignore format: a table
const expected: Readonly<Record<Right, readonly (typeof roles)[number][]>> = {
  see_orders:        ["admin", "support", "finance", "auditor", "merchant-admin", "merchant-developer", "merchant-viewer", "merchant-clerk"],
  see_configuration: ["admin", "support", "finance", "auditor", "merchant-admin", "merchant-developer"],
  see_audit:         ["admin", "auditor"],
  reveal_secrets:    ["admin", "merchant-admin", "merchant-developer"],
  resend_callbacks:  ["admin", "support", "merchant-admin", "merchant-developer"],
  share_views:       ["admin", "support", "finance", "merchant-admin", "merchant-developer"],
  move_money:        ["admin", "finance", "merchant-admin"],
  enter_orders:      ["admin", "merchant-admin", "merchant-clerk"],
  reconcile:         ["admin", "finance"],
  change_merchants:  ["admin"],
  change_acquiring:  ["admin"],
  manage_keys:       ["admin", "merchant-admin", "merchant-developer"],
  manage_users:      ["admin", "merchant-admin"],
  erase_data:        ["admin"],
  operate:           ["admin"],
  run:               ["admin", "service"],
};

for (const right of rights) {
  for (const role of roles) {
    const has = expected[right].includes(role);
    test(`${role} ${has ? "has" : "does not have"} the right ${right}`, () => {
      assert.equal(hasRight(role, right), has);
    });
  }
}

test("every role is an operator's or a merchant's", () => {
  assert.deepEqual(roles.filter(isMerchantRole), roles.slice(4, 8));
});
