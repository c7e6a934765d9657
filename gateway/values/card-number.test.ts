/** Networks, check digits, and card numbers that never print themselves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { format, inspect } from "node:util";
import fc from "fast-check";
import { CardNumber, isExpired, isLuhnValid, type Network } from "./card-number.ts";
import { asInstant, hours } from "./time.ts";

/** The cards of the sandbox: the first digits of a range, then the last two of each card in it. */
// biome-ignore format: a table
const sandboxRanges: readonly (readonly [range: string, ends: string])[] = [
  ["4000002000000", "016 024 032 040 057 065 073 081 099 107 115 123 131"],
  ["4000002100000", "015 023"],
  ["4000002200000", "014 022"],
  ["4000002300000", "013 021"],
  ["4000003000000", "014 022 030 048 055 063"],
  ["4000001000000", "018"],
  ["4000004000000", "012 020 038 046 053 061 079 087 095 103 111 129 137 145 152 160 178 186 194 202 210 228 236 244 251 269"],
];

// biome-ignore format: a table
const others: readonly (readonly [digits: string, network: Network])[] = [
  ["5200000000000015",    "MASTERCARD"],
  ["2223000000000015",    "MASTERCARD"],
  ["340000000000017",     "AMEX"],
  ["6011000000000012",    "DISCOVER"],
  ["3530000000000011",    "JCB"],
  ["6200000000000013",    "UNIONPAY"],
  ["36000000000016",      "DINERS"],
  ["6767000000000018",    "MAESTRO"],
  ["2200000000000012",    "MIR"],
];

const sandboxCards = [
  ...sandboxRanges.flatMap(([range, ends]) =>
    ends.split(" ").map((end) => [range + end, "VISA"] as const),
  ),
  ...others,
];

test("every card of the sandbox is of its network and has a good check digit", () => {
  assert.equal(sandboxCards.length, 61);
  for (const [digits, network] of sandboxCards) {
    assert.equal(new CardNumber(digits).network, network, digits);
    assert.ok(isLuhnValid(digits), digits);
  }
});

// biome-ignore format: a table
const borders: readonly (readonly [prefix: string, network: Network | undefined])[] = [
  ["2199", undefined],
  ["2200", "MIR"],
  ["2204", "MIR"],
  ["2205", undefined],
  ["2220", undefined],
  ["2221", "MASTERCARD"],
  ["2720", "MASTERCARD"],
  ["2721", undefined],
  ["3000", "DINERS"],
  ["3059", "DINERS"],
  ["3060", undefined],
  ["3095", "DINERS"],
  ["3400", "AMEX"],
  ["3527", undefined],
  ["3528", "JCB"],
  ["3589", "JCB"],
  ["3590", undefined],
  ["3700", "AMEX"],
  ["4999", "VISA"],
  ["5099", "MAESTRO"],
  ["5100", "MASTERCARD"],
  ["5599", "MASTERCARD"],
  ["5600", "MAESTRO"],
  ["5900", undefined],
  ["6011", "DISCOVER"],
  ["6012", undefined],
  ["6440", "DISCOVER"],
  ["6500", "DISCOVER"],
  ["8100", "UNIONPAY"],
  ["9999", undefined],
];

test("networks begin and end where their ranges do", () => {
  for (const [prefix, network] of borders) {
    assert.equal(new CardNumber(prefix.padEnd(16, "0")).network, network, prefix);
  }
});

test("one wrong digit, and most swaps of neighbours, break the check digit", () => {
  for (const [digits] of sandboxCards) {
    const last = Number(digits.at(-1));
    for (let wrong = 0; wrong <= 9; wrong += 1) {
      assert.equal(isLuhnValid(digits.slice(0, -1) + wrong), wrong === last);
    }
  }
  assert.ok(!isLuhnValid("4000001000000108"));
});

test("it tells its bin, its last four digits and its mask", () => {
  const { bin, lastFour, mask } = new CardNumber("4000001000000018");

  assert.deepEqual(
    { bin, lastFour, mask },
    { bin: "400000", lastFour: "0018", mask: "400000****0018" },
  );
});

test("however it is printed, the digits in the middle do not show", () => {
  const digitsOf = fc.stringMatching(/^[2-6][1-9]{11,18}$/);
  fc.assert(
    fc.property(digitsOf, (digits) => {
      const number = new CardNumber(digits);
      const nested = { card: { number, list: [number] } };
      const prints = [
        ...[`${number}`, String(number), `card ${number}`, JSON.stringify(nested)],
        ...[inspect(number), inspect(nested, { depth: 9, showHidden: true }), format("%o", nested)],
        ...[format("%s %j", number, number), JSON.stringify({ ...number }), inspect({ ...number })],
      ];
      // The BIN has six digits and is shown. A seventh digit would belong to the secret middle of
      // the number.
      for (const print of prints) assert.doesNotMatch(print, /\d{7}/);
    }),
  );
});

/** 2026-11-15 02:04:06 UTC. */
const now = asInstant(1_794_708_246_000);

// biome-ignore format: a table
const rows: readonly (readonly [month: string, year: string, past: boolean])[] = [
  ["11", "2026", false], ["11", "26", false], ["10", "26", true],  ["9", "26", true],
  ["1",  "27",   false], ["12", "25", true],  ["12", "2026", false],
];

test("the month of expiry counts as good, and the one before does not", () => {
  for (const [month, year, past] of rows) assert.equal(isExpired(month, year, now), past);
});

test("a month has ended when it has ended everywhere", () => {
  const november = Date.UTC(2026, 10, 1);

  assert.equal(isExpired("10", "26", asInstant(november + hours(12) - 1)), false);
  assert.equal(isExpired("10", "26", asInstant(november + hours(12))), true);
});

test("a grace makes it last longer", () => {
  assert.equal(isExpired("10", "26", now, hours(24 * 20)), false);
});
