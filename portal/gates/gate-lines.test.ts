/** Tests how states of gates and directory servers are marked, and which actions keys have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addressOf,
  currenciesOf,
  filesOf,
  healthColour,
  hostOf,
  keyActionsFor,
  linkColour,
} from "./gate-lines.ts";

// biome-ignore format: a table
const links = [[0, 0, "declined"], [0, 2, "declined"], [1, 2, "filtered"], [2, 2, "approved"], [3, 2, "approved"]] as const;

for (const [up, wanted, colour] of links) {
  test(`a gate with ${up} of ${wanted} links is marked ${colour}`, () => {
    assert.equal(linkColour({ up, wanted }), colour);
  });
}

// biome-ignore format: a table
const healths = [["healthy", "approved"], ["off", "approved"], ["weakened", "filtered"], ["unhealthy", "declined"]] as const;

for (const [health, colour] of healths) {
  test(`a gate whose health is ${health} is marked ${colour}`, () => {
    assert.equal(healthColour({ health }), colour);
  });
}

test("a gate without a list of currencies takes all currencies", () => {
  assert.equal(currenciesOf({ currencies: ["EUR", "USD"] }, "All"), "EUR, USD");
  assert.equal(currenciesOf({ currencies: [] }, "All"), "All");
});

test("a host that is reached without TLS is not marked with TLS", () => {
  assert.equal(hostOf({ host: "10.0.0.1:5000", tls: true }), "10.0.0.1:5000 TLS");
  assert.equal(hostOf({ host: "10.0.0.1:5000", tls: false }), "10.0.0.1:5000");
});

test("a directory server shows what is wrong with its files, and its address of either version", () => {
  assert.deepEqual(filesOf({ files: "good" }, "Gut"), ["approved", "Gut"]);
  assert.deepEqual(filesOf({ files: "expired" }, "Gut"), ["declined", "expired"]);
  assert.equal(addressOf({ url: "https://ds", url102: "https://old" }), "https://ds");
  assert.equal(addressOf({ url: "none", url102: "https://old" }), "https://old");
});

test("keys are exchanged, and the zone key is dropped, only if there is a zone key", () => {
  const always = ["gate mac-key set", "gate mac-key zone"];
  const withZoneKey = ["gate mac-key exchange", "gate mac-key drop-zone"];

  assert.deepEqual(keyActionsFor(false), always);
  assert.deepEqual(keyActionsFor(true), [...always, ...withZoneKey]);
});
