/** The options of an endpoint: amounts in its own currency, and each value told when it is none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { getCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { type EndpointOptions, readEndpointSettings } from "./endpoint-settings.ts";

const usd = getCurrency("USD");

test("an endpoint is plain unless it is told otherwise", () => {
  assert.deepEqual(readEndpointSettings({}, usd), { threeDSecure: "off" });
});

test("limits are written in the currency and kept in minor units", () => {
  const options = { min: "1", max: "250.5" };

  assert.deepEqual(readEndpointSettings(options, usd), {
    ...{ threeDSecure: "off", amountMin: "100", amountMax: "25050" },
  });
  assert.match(complaintOf({ min: "1.5" }, "JPY"), /^1\.5 is no amount in JPY/);
});

test("only what is given changes, and what may be absent can be taken away", () => {
  const known = { threeDSecure: "always", amountMin: "100", descriptor: "SHOP" } as const;
  const switches = { partialApprovals: "on", oauthOnly: "on" };
  const options = { ...switches, fee: "2.5%+30", min: "none", optional: "email, city" };

  assert.deepEqual(readEndpointSettings(options, usd, known), {
    ...{
      threeDSecure: "always",
      descriptor: "SHOP",
      acceptsPartialApprovals: true,
      oauthOnly: true,
    },
    ...{ fee: { percent: "2.5", fixed: "30" }, optionalFields: ["email", "city"] },
  });
});

// biome-ignore format: a table
const wrong: readonly (readonly [options: EndpointOptions, sentence: RegExp])[] = [
  [{ "3ds": "sometimes" },        /^--3ds is one of off, when_possible, always, not sometimes/],
  [{ min: "5", max: "4" },        /^The smallest amount may not be larger/],
  [{ descriptor: "" },            /^--descriptor is 1 to 25 printable characters/],
  [{ optional: "cvv2" },          /^Only these fields can be made optional: email/],
  [{ fee: "101%" },               /^101% is no fee/],
  [{ partialApprovals: "maybe" }, /^--partial-approvals is on or off, not maybe/],
  [{ oauthOnly: "yes" },          /^--oauth-only is on or off, not yes/],
];

test("each value that is none is complained of", () => {
  for (const [options, sentence] of wrong) assert.match(complaintOf(options), sentence);
});

function complaintOf(options: EndpointOptions, currency = "USD"): string {
  const read = readEndpointSettings(options, getCurrency(currency));
  assert.ok(read instanceof Problem, JSON.stringify(options));
  return read.sentence;
}
