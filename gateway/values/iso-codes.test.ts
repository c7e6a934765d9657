/** ISO 4217 with the published exponents; countries, and the states of those that need one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findCurrency, getCurrency, isCountry, statesOf } from "./iso-codes.ts";

// biome-ignore format: a table
const known: readonly (readonly [code: string, numeric: string, exponent: number])[] = [
  ["USD", "840", 2],
  ["EUR", "978", 2],
  ["GBP", "826", 2],
  ["JPY", "392", 0],
  ["KRW", "410", 0],
  ["ISK", "352", 0],
  ["HUF", "348", 2],
  ["IDR", "360", 2],
  ["KWD", "414", 3],
  ["BHD", "048", 3],
  ["OMR", "512", 3],
  ["TND", "788", 3],
  ["JOD", "400", 3],
  ["IQD", "368", 3],
];

test("a currency has the number and the fraction digits of the standard", () => {
  for (const [code, numeric, exponent] of known) {
    assert.deepEqual(findCurrency(code), { code, numeric, exponent });
    assert.deepEqual(getCurrency(code), { code, numeric, exponent });
  }
});

test("codes are upper case, and what the standard does not know is no currency", () => {
  for (const code of ["usd", "Usd", "US", "USDD", "ZZZ", "", "840", " USD", "constructor"]) {
    assert.equal(findCurrency(code), undefined, code);
  }
  assert.throws(() => getCurrency("ZZZ"), /ZZZ/);
});

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
