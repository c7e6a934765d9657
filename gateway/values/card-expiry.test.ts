/** A card is good to the end of its month. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isPast } from "./card-expiry.ts";
import { asInstant, hours } from "./time.ts";

/** 2026-11-15 02:04:06 UTC. */
const now = asInstant(1_794_708_246_000);

// biome-ignore format: a table
const rows: readonly (readonly [month: string, year: string, past: boolean])[] = [
  ["11", "2026", false], ["11", "26", false], ["10", "26", true],  ["9", "26", true],
  ["1",  "27",   false], ["12", "25", true],  ["12", "2026", false],
];

test("the month of expiry counts as good, and the one before does not", () => {
  for (const [month, year, past] of rows) assert.equal(isPast(month, year, now), past);
});

test("a grace makes it last longer", () => {
  assert.equal(isPast("10", "26", now, hours(24 * 20)), false);
});
