/** Reading and printing amounts of currencies with none, two, three and four fraction digits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { getCurrency } from "./iso-codes.ts";
import {
  add,
  commissionOf,
  type Fee,
  formatAmount,
  isZero,
  Money,
  parseAmount,
  parseFee,
  unpackMoney,
} from "./money.ts";

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
  ["1000.00",    "JPY", 1000n,        "1000.00"],
  ["12.3400",    "USD", 1234n,        "12.34"],
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
  ["10.0001", "USD"],
  ["500.5",   "JPY"],
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

type Row = readonly [fee: string, minor: bigint, code: string, commission: bigint];

// biome-ignore format: a table
const commissions: readonly Row[] = [
  ["2.5%+30",    10_000n,                             "USD", 280n],
  ["2.5%",       10_000n,                             "USD", 250n],
  ["30",         10_000n,                             "USD", 30n],
  ["0",          10_000n,                             "USD", 0n],
  ["0%",         10_000n,                             "USD", 0n],
  ["0%+1",       0n,                                  "EUR", 1n],
  ["2.5%+30",    0n,                                  "EUR", 30n],
  ["100%",       12_345n,                             "EUR", 12_345n],
  ["50%",        1n,                                  "EUR", 1n],
  ["49.9999%",   1n,                                  "EUR", 0n],
  ["2.5%",       20n,                                 "EUR", 1n],
  ["2.5%",       19n,                                 "EUR", 0n],
  ["2.5%",       60n,                                 "EUR", 2n],
  ["2.5%",       59n,                                 "EUR", 1n],
  ["1.005%",     10_000n,                             "EUR", 101n],
  ["1.0049%",    10_000n,                             "EUR", 100n],
  ["0.0001%",    500_000n,                            "EUR", 1n],
  ["0.0001%",    499_999n,                            "EUR", 0n],
  ["2.9%",       1_999n,                              "USD", 58n],
  ["3.6%+40",    500n,                                "JPY", 58n],
  ["3.7%",       50n,                                 "JPY", 2n],
  ["3.7%",       500n,                                "JPY", 19n],
  ["1.5%+100",   1_234n,                              "KWD", 119n],
  ["0.3%",       999_999_999_999_999_999_999_999_833n, "EUR", 2_999_999_999_999_999_999_999_999n],
  ["0.3%",       999_999_999_999_999_999_999_999_834n, "EUR", 3_000_000_000_000_000_000_000_000n],
  ["2.5%",       9_007_199_254_740_993n,              "USD", 225_179_981_368_525n],
];

test("a commission is exact, rounds halves up, and stays in its currency", () => {
  for (const [text, minor, code, commission] of commissions) {
    const fee = parseFee(text) ?? assert.fail(text);

    const charged = commissionOf(fee, new Money(minor, getCurrency(code)));

    assert.equal(charged.minor, commission, `${text} of ${minor} ${code}`);
    assert.equal(charged.currency.code, code);
  }
});

test("no commission is further than half a minor unit from the true share", () => {
  const shares = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), shares, (minor, share) => {
      const fraction = String(share % 10_000).padStart(4, "0");
      const fee = { percent: `${Math.floor(share / 10_000)}.${fraction}` };

      const charged = commissionOf(fee, new Money(minor, getCurrency("EUR")));

      const distance = charged.minor * 1_000_000n - minor * BigInt(share);
      assert.ok(distance > -500_000n && distance <= 500_000n);
    }),
  );
});

test("an empty fee is nothing, and one that nobody could have written is a fault", () => {
  const amount = new Money(100n, getCurrency("EUR"));

  assert.equal(commissionOf({}, amount).minor, 0n);
  assert.throws(() => commissionOf({ percent: "1e2" }, amount));
  assert.throws(() => commissionOf({ fixed: "-1" }, amount));
});

// biome-ignore format: a table
const read: readonly (readonly [text: string, fee: Fee])[] = [
  ["2.5%+30",     { percent: "2.5", fixed: "30" }],
  ["2.5%",        { percent: "2.5" }],
  ["30",          { fixed: "30" }],
  ["0%",          { percent: "0" }],
  ["0.0001%",     { percent: "0.0001" }],
  ["100%",        { percent: "100" }],
  ["100.0000%+0", { percent: "100.0000", fixed: "0" }],
];

test("a fee is a share, a fixed part, or both", () => {
  for (const [text, fee] of read) assert.deepEqual(parseFee(text), fee, text);
});

// biome-ignore format: a table
const notFees: readonly string[] = [
  "", "%", "+", "+30", "2.5", "2.5%+", "2.5%30", "30+2.5%", "2.5%+0.30", "2.5 %", " 2.5%", "2,5%", ".5%", "5.%",
  "1.00001%", "100.0001%", "101%", "1000%", "-1%", "2.5%-30", "1e2%", "1.2.3%", "٥%", "2.5%\n", "9".repeat(19),
];

test("anything else is no fee", () => {
  for (const text of notFees) assert.equal(parseFee(text), undefined, JSON.stringify(text));
});
