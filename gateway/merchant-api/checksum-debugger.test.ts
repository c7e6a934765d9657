/**
 * The checksum debugger uses the keys in memory, and tells a merchant nothing about those of
 * others.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asMerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { makeChecksumDebugger, otherIdsOf, otherKeysOf } from "./checksum-mistakes.ts";
import { operations } from "./operations/index.ts";
import { entryPoint, group } from "./testing.ts";

const stranger = {
  ...entryPoint.merchant,
  id: asMerchantId("999"),
  controlKey: new Secret("stranger's key"),
};
const known = {
  merchants: [entryPoint.merchant, stranger],
  endpointById: new Map([[entryPoint.id as string, entryPoint]]),
  groupById: new Map([[group.id as string, group]]),
};

test("a wrong checksum is tried with the merchant's other ids and other merchants' keys", () => {
  assert.deepEqual(otherIdsOf(known, entryPoint), [group.id]);
  assert.deepEqual(otherKeysOf(known, entryPoint), [stranger.controlKey]);
});

test("what was pasted is explained to the merchant itself, and to no other", () => {
  const { operations: offered, attempt } = makeChecksumDebugger(operations, () => known);
  const pasted = {
    endpoint: entryPoint.id,
    operation: "sale",
    fields: new Map([["control", "0".repeat(40)]]),
  };

  assert.ok(offered.some(({ name, formula }) => name === "sale" && formula.includes("{id}")));
  assert.equal(attempt(pasted)?.matches, false);
  assert.equal(attempt(pasted, entryPoint.merchant.id)?.matches, false);
  assert.equal(attempt(pasted, stranger.id), undefined);
  assert.equal(attempt({ ...pasted, endpoint: "1" }), undefined);
});
