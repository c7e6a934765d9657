/** The period of a transaction report, in a zone whose clocks change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "./fields.ts";
import { reportFields } from "./report.ts";

const { createdFromDate: field } = reportFields("Europe/Berlin");
const dayMs = 24 * 3_600_000;

function read(text: string) {
  const found = field.read(text);
  assert.ok(!(found instanceof Fault), text);
  return { at: new Date(found.instant).toISOString(), shownMs: found.shownMs };
}

// biome-ignore format: a table
const moments: readonly (readonly [shown: string, at: string])[] = [
  ["2026-03-29 01:59:59", "2026-03-29T00:59:59.000Z"],
  ["2026-03-29 03:00:00", "2026-03-29T01:00:00.000Z"],
  ["2026-10-25 01:59:59", "2026-10-24T23:59:59.000Z"],
  ["2026-10-25 03:00:00", "2026-10-25T02:00:00.000Z"],
  ["2026-10-01 00:00:00", "2026-09-30T22:00:00.000Z"],
  ["2026-11-01 00:00:00", "2026-10-31T23:00:00.000Z"],
];

test("dates of a report are moments of the operator's zone, before and after its clocks change", () => {
  for (const [shown, at] of moments) assert.equal(read(shown).at, at, shown);
});

test("a month in which the clocks change has 31 days, whatever the number of its hours", () => {
  for (const [first, next] of [
    ["2026-03-01 00:00:00", "2026-04-01 00:00:00"],
    ["2026-10-01 00:00:00", "2026-11-01 00:00:00"],
  ] as const) {
    assert.equal(read(next).shownMs - read(first).shownMs, 31 * dayMs);
  }
});

test("an hour that the clocks show twice or never is a moment within an hour of both", () => {
  for (const [shown, change] of [
    ["2026-03-29 02:30:00", "2026-03-29T01:00:00.000Z"],
    ["2026-10-25 02:30:00", "2026-10-25T01:00:00.000Z"],
  ] as const) {
    const distanceMs = Date.parse(read(shown).at) - Date.parse(change);
    assert.ok(Math.abs(distanceMs) <= dayMs / 24, `${shown} is ${read(shown).at}`);
  }
});
