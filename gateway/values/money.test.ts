/** Amounts in and out, for currencies with none, two, three and four fraction digits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { getCurrency } from "./currency.ts";
import { add, formatAmount, isZero, Money, parseAmount, unpackMoney } from "./money.ts";

// biome-ignore format: a table
const accepted: readonly (readonly [text: string, code: string, minor: bigint, shown: string])[] = [
  ["10.42",      "USD", 1042n,        "10.42"],
  ["10.4",       "USD", 1040n,        "10.40"],
  ["10",         "USD", 1000n,        "10.00"],
  ["0.94",       "EUR", 94n,          "0.94"],
  ["0.01",       "EUR", 1n,           "0.01"],
  ["0",          "EUR", 0n,           "0.00"],
  ["0.00",       "EUR", 0n,           "0.00"],
  ["007.5",      "EUR", 750n,         "7.50"],
  ["19.99",      "USD", 1999n,        "19.99"],
  ["4.35",       "USD", 435n,         "4.35"],
  ["9999999.99", "USD", 999999999n,   "9999999.99"],
  ["500",        "JPY", 500n,         "500.00"],
  ["1",          "KRW", 1n,           "1.00"],
  ["1.234",      "KWD", 1234n,        "1.234"],
  ["1.2",        "BHD", 1200n,        "1.200"],
  ["0.001",      "OMR", 1n,           "0.001"],
  ["3",          "TND", 3000n,        "3.000"],
  ["1.2345",     "CLF", 12345n,       "1.2345"],
];

test("an amount is read exactly by its currency, and shown with two digits at least", () => {
  for (const [text, code, minor, shown] of accepted) {
    const money = parseAmount(text, getCurrency(code));
    assert.equal(money?.minor, minor, `${text} ${code}`);
    assert.equal(money && formatAmount(money), shown, `${text} ${code}`);
  }
});

// biome-ignore format: a table
const refused: readonly (readonly [text: string, code: string])[] = [
  ["10.421",  "USD"],
  ["10.000",  "USD"],
  ["500.0",   "JPY"],
  ["500.00",  "JPY"],
  ["1.2345",  "KWD"],
  [".5",      "USD"],
  ["5.",      "USD"],
  ["1e3",     "USD"],
  ["+5",      "USD"],
  ["-5",      "USD"],
  ["1,000",   "USD"],
  ["1 000",   "USD"],
  ["1_000",   "USD"],
  [" 5",      "USD"],
  ["5\n",     "USD"],
  ["0x10",    "USD"],
  ["٥",       "USD"],
  ["Infinity", "USD"],
  ["1.2.3",   "USD"],
  ["",        "USD"],
];

test("what is no plain decimal, or finer than the currency, is nothing", () => {
  for (const [text, code] of refused) {
    assert.equal(parseAmount(text, getCurrency(code)), undefined, JSON.stringify(text));
  }
});

test("what is shown is read back as the same money", () => {
  const codes = fc.constantFrom("USD", "EUR", "KWD", "CLF");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), codes, (minor, code) => {
      const money = new Money(minor, getCurrency(code));
      assert.deepEqual(parseAmount(formatAmount(money), money.currency), money);
    }),
  );
});

test("money is kept as text and comes back as it was", () => {
  const money = new Money(9_007_199_254_740_993n, getCurrency("EUR"));

  assert.equal(JSON.stringify(money), '["9007199254740993","EUR"]');
  assert.deepEqual(unpackMoney(["9007199254740993", "EUR"]), money);
});

test("money is added to its own currency only, and is never negative", () => {
  const [usd, eur] = [getCurrency("USD"), getCurrency("EUR")];

  assert.equal(add(new Money(1n, usd), new Money(2n, usd)).minor, 3n);
  assert.throws(() => add(new Money(1n, usd), new Money(2n, eur)));
  assert.throws(() => new Money(-1n, usd));
  assert.deepEqual([isZero(new Money(0n, usd)), isZero(new Money(1n, usd))], [true, false]);
});
