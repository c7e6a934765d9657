/** Checks an endpoint's options: amounts are in its currency, and invalid values are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gate } from "../../acquirers/gates.ts";
import { asGateId } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import type { GivenSettings } from "../settings.ts";
import { readEndpointSettings, readGatePlaces } from "./endpoint-settings.ts";

const usd = getCurrency("USD");

test("an endpoint without settings has the defaults", () => {
  assert.deepEqual(readEndpointSettings({}, usd), { threeDSecure: "off" });
});

test("limits are written as amounts of the currency and stored in minor units", () => {
  const options = { min: "1", max: "250.5" };

  assert.deepEqual(readEndpointSettings(options, usd), {
    threeDSecure: "off",
    amountMin: "100",
    amountMax: "25050",
  });
  assert.match(complaintOf({ min: "1.5" }, "JPY"), /^1\.5 is no amount in JPY/);
});

test("only given settings change, and optional ones can be removed", () => {
  const known = { threeDSecure: "always", amountMin: "100", descriptor: "SHOP" } as const;
  const switches = { partialApprovals: "on", oauthOnly: "on", voidAs: "void" };
  const options = { ...switches, fee: "2.5%+30", min: "none", optional: "email, city" };

  assert.deepEqual(readEndpointSettings(options, usd, known), {
    threeDSecure: "always",
    descriptor: "SHOP",
    acceptsPartialApprovals: true,
    oauthOnly: true,
    voidAs: "void",
    fee: { percent: "2.5", fixed: "30" },
    optionalFields: ["email", "city"],
  });
});

// biome-ignore format: a table
const wrong: readonly (readonly [options: GivenSettings, sentence: RegExp])[] = [
  [{ "3ds": "sometimes" },        /^3ds is one of off, when_possible, always, not sometimes/],
  [{ min: "5", max: "4" },        /^The smallest amount may not be larger/],
  [{ descriptor: "" },            /^descriptor is 1 to 25 printable characters/],
  [{ optional: "cvv2" },          /^Only these fields can be made optional: email/],
  [{ fee: "101%" },               /^101% is no fee/],
  [{ partialApprovals: "maybe" }, /^partial-approvals is on or off, not maybe/],
  [{ chargebacks: "all" },        /^chargebacks is on or off, not all/],
  [{ voidAs: "refund" },          /^void-as is one of void, reversal, not refund/],
  [{ oauthOnly: "yes" },          /^oauth-only is on or off, not yes/],
];

test("every invalid value is refused", () => {
  for (const [options, sentence] of wrong) assert.match(complaintOf(options), sentence);
});

const settings = {
  host: "127.0.0.1",
  port: 8583,
  terminalId: "1",
  merchantCode: "1",
  nameAndPlace: "A",
  categoryCode: "5732",
  countryCode: "840",
  acquirerId: "1",
  descriptor: "A",
  worksWithoutCvv: false,
  partialReversal: true,
  partialCapture: true,
};
const gates: readonly Gate[] = [
  { id: asGateId("11"), name: "a", kind: "sandbox", settings },
  { id: asGateId("12"), name: "b", kind: "sandbox", settings },
];

test("a gate's rank and weight follow its name and default to 1", () => {
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

test("the error for an invalid gate place names the text and the correct form", () => {
  for (const [places, sentence] of wrongPlaces) {
    assert.match(sentenceOf(readGatePlaces(places, gates)), sentence);
  }
});

function complaintOf(options: GivenSettings, currency = "USD"): string {
  return sentenceOf(readEndpointSettings(options, getCurrency(currency)));
}

function sentenceOf(read: unknown): string {
  assert.ok(read instanceof Problem);
  return read.sentence;
}
