/** ISO 4217: exponents as published, where locale tables would say otherwise. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findCurrency, getCurrency } from "./currency.ts";

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
