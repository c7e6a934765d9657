/** Countries, and the states of the three countries that need one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isCountry, statesOf } from "./places.ts";

test("countries are the two upper-case letters of the standard", () => {
  for (const code of ["US", "CA", "AU", "DE", "GB", "FR", "JP"]) assert.ok(isCountry(code), code);
  for (const code of ["us", "USA", "ZZ", "UK", "", "U", "840"]) assert.ok(!isCountry(code), code);
});

// biome-ignore format: a table
const states: readonly (readonly [country: string, good: string, bad: string])[] = [
  ["US", "AL CA DC IL NY WY PR AE", "ON NSW il ZZ"],
  ["CA", "AB ON QC YT",             "CA NY on"],
  ["AU", "ACT NSW VIC WA",          "NY ON act"],
];

test("three countries need a state, and have their own", () => {
  for (const [country, good, bad] of states) {
    for (const code of good.split(" ")) assert.ok(statesOf(country)?.has(code), code);
    for (const code of bad.split(" ")) assert.ok(!statesOf(country)?.has(code), code);
  }
  for (const country of ["DE", "GB", "ZZ", "us", "constructor"]) {
    assert.equal(statesOf(country), undefined);
  }
});
