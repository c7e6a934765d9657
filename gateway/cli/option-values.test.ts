/** Values of options: what is understood, and how the rest is complained of. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gate } from "../acquirers/gates.ts";
import { asGateId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import {
  applyChange,
  checkLimits,
  readCurrencies,
  readFee,
  readGatePlaces,
  readMinorUnits,
  readOneOf,
  readSwitch,
} from "./option-values.ts";

const settings = {
  ...{ host: "127.0.0.1", port: 8583, terminalId: "1", merchantCode: "1", nameAndPlace: "A" },
  ...{ categoryCode: "5732", countryCode: "840", acquirerId: "1", descriptor: "A" },
  ...{ worksWithoutCvv: false, partialReversal: true, partialCapture: true },
};
const gates: readonly Gate[] = [
  { id: asGateId("11"), name: "a", kind: "sandbox", settings },
  { id: asGateId("12"), name: "b", kind: "sandbox", settings },
];

test("a gate's rank and weight follow its name and are 1 when not said", () => {
  assert.deepEqual(readGatePlaces(["a", "b:2:30"], gates), [
    { gateId: "11", rank: 1, weight: 1 },
    { gateId: "12", rank: 2, weight: 30 },
  ]);
});

// biome-ignore format: a table
const wrongPlaces: readonly (readonly [places: readonly string[], sentence: RegExp])[] = [
  [["c"],          /^There is no gate c/],
  [["a:0"],        /^a:0 is no place for a gate: .* the rank from 1 to 99/],
  [["a:1:0"],      /the weight from 1 to 1000/],
  [["a:1:1001"],   /^a:1:1001 is no place/],
  [["a:x"],        /^a:x is no place/],
  [["a:"],         /^a: is no place/],
  [["a:1:2:3"],    /^a:1:2:3 is no place/],
  [["a", "a:2"],   /^The gate a is named twice/],
  [[],             /at least one gate/],
];

test("a place that is none is named with what would be one", () => {
  for (const [places, sentence] of wrongPlaces) {
    assert.match(complaintOf(readGatePlaces(places, gates)), sentence);
  }
});

test("fees, amounts, currencies and switches are read, or told plainly to be none", () => {
  assert.deepEqual(readFee("2.5%+30"), { percent: "2.5", fixed: "30" });
  assert.match(complaintOf(readFee("2,5%")), /^2,5% is no fee: write it like 2\.5%/);
  assert.equal(readMinorUnits("0500"), "500");
  assert.match(complaintOf(readMinorUnits("5.00")), /^5\.00 is no amount in minor units/);
  assert.deepEqual(readCurrencies("USD, EUR,USD"), ["USD", "EUR"]);
  assert.equal(readCurrencies("all"), undefined);
  assert.match(complaintOf(readCurrencies("USD,XYZ")), /^XYZ is no currency/);
  assert.equal(readSwitch("--commissions")("on"), true);
  assert.match(complaintOf(readSwitch("--commissions")("yes")), /^--commissions is on or off/);
  assert.equal(readOneOf("--3ds", ["off", "always"])("always"), "always");
  assert.match(complaintOf(readOneOf("--3ds", ["off"])("on")), /^--3ds is one of off, not on/);
});

test("what is not given stays, and what is taken away is gone", () => {
  const known: { readonly fee?: string; readonly min?: string } = { fee: "30", min: "5" };
  assert.deepEqual(applyChange(known, { min: undefined }), { fee: "30" });
});

test("limits that leave no amount are refused", () => {
  assert.match(complaintOf(checkLimits({ amountMin: "10", amountMax: "9" })), /larger/);
  assert.deepEqual(checkLimits({ amountMin: "9", amountMax: "10" }), {
    ...{ amountMin: "9", amountMax: "10" },
  });
});

function complaintOf(read: unknown): string {
  assert.ok(read instanceof Problem);
  return read.sentence;
}
