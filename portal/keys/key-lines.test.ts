/** Tests keys of the vault and of wallets: their order, their state, and what they encrypt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import { byUse, cardsOf, purposeOf, stateOf, walletKeyOf } from "./key-lines.ts";

test("the newest keys come first, and destroyed keys last", () => {
  const keys = [
    { id: "9", destroyedAt: "2030-01-01" },
    { id: "2", destroyedAt: "" },
    { id: "10", destroyedAt: "" },
    { id: "8", destroyedAt: "2030-01-01" },
  ];

  assert.deepEqual(
    keys.toSorted(byUse).map(({ id }) => id),
    ["10", "2", "9", "8"],
  );
});

// biome-ignore format: a table
const states = [
  ["",           "",           "approved", "In use"],
  ["2030-01-01", "",           "filtered", "Retired"],
  ["2030-01-01", "2030-01-02", "off",      "Destroyed"],
] as const;

for (const [retiredAt, destroyedAt, colour, text] of states) {
  test(`a key reads “${text}” when retired at “${retiredAt}” and destroyed at “${destroyedAt}”`, () => {
    assert.deepEqual(stateOf({ retiredAt, destroyedAt }, english), [colour, text]);
  });
}

test("cards are counted only for keys that encrypt card numbers", () => {
  assert.equal(cardsOf({ purpose: "cards", cards: "12" }), "12");
  assert.equal(cardsOf({ purpose: "secrets", cards: "0" }), "");
  assert.equal(purposeOf({ purpose: "cards" }, english), "Card numbers");
  assert.equal(purposeOf({ purpose: "moons" }, english), "moons");
});

test("a wallet's key without a certificate is marked, and has no expiry date", () => {
  const key = { wallet: "walleta", certificate: "present", expires: "2031-01-31" };

  assert.deepEqual(walletKeyOf(key, english), {
    name: "Wallet A",
    colour: "approved",
    expires: "2031-01-31",
  });
  assert.deepEqual(walletKeyOf({ ...key, certificate: "missing" }, english), {
    name: "Wallet A",
    colour: "filtered",
    expires: "Missing",
  });
});
