/** A genuine PARes of another purchase is no proof for this one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchPaRes, type PaResOrder } from "./index.ts";
import { paRes } from "./samples.ts";

const order: PaResOrder = {
  ...paRes.purchase,
  ...paRes.merchant,
  lastFour: "0014",
};

// biome-ignore format: a table
const differences: readonly (readonly [name: keyof PaResOrder, value: string])[] = [
  ["xid",         "ESIzRFVmd4iZABEiM0RVZneImQA="],
  ["acqBin",      "400002"],
  ["merId",       "SHOP"],
  ["purchAmount", "142"],
  ["currency",    "392"],
  ["exponent",    "0"],
  ["date",        "20261114 09:30:16"],
  ["lastFour",    "0022"],
];

test("a PARes about the order has no differences", () => {
  assert.deepEqual(matchPaRes(paRes, order), []);
});

test("everything that differs is named", () => {
  for (const [name, value] of differences) {
    assert.deepEqual(matchPaRes(paRes, { ...order, [name]: value }), [name]);
  }
  const names = differences.map(([name]) => name);
  assert.deepEqual(matchPaRes(paRes, Object.fromEntries(differences) as PaResOrder), names);
});
