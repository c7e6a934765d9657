/** Moments as the interface prints them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant, calendar, hours, later, makePrintDate, minutes, seconds } from "./time.ts";

const moment = asInstant(Date.UTC(2027, 2, 14, 9, 6, 3, 999));

test("durations are milliseconds", () => {
  assert.deepEqual([seconds(30), minutes(10), hours(2)], [30_000, 600_000, 7_200_000]);
  assert.equal(later(moment, seconds(1)), moment + 1_000);
});

test("a moment has the parts of the UTC calendar, two digits each", () => {
  const { year, month, day, hour, minute, second } = calendar(moment);

  assert.deepEqual(
    [year, month, day, hour, minute, second],
    ["2027", "03", "14", "09", "06", "03"],
  );
});

// biome-ignore format: a table
const printed: readonly (readonly [zone: string, at: number, shape: RegExp])[] = [
  ["UTC",              moment,                    /^2027-03-14 09:06:03 UTC$/],
  ["America/New_York", moment,                    /^2027-03-14 05:06:03 (EDT|GMT-4)$/],
  ["America/New_York", Date.UTC(2027, 0, 1, 4),   /^2026-12-31 23:00:00 (EST|GMT-5)$/],
  ["Europe/Berlin",    Date.UTC(2027, 6, 1, 22),  /^2027-07-02 00:00:00 (CEST|GMT\+2)$/],
  ["Asia/Kolkata",     Date.UTC(2027, 0, 1),      /^2027-01-01 05:30:00 (IST|GMT\+5:30)$/],
  ["UTC",              Date.UTC(2024, 1, 29),     /^2024-02-29 00:00:00 UTC$/],
];

test("dates have the interface's shape in the operator's zone", () => {
  for (const [zone, at, shape] of printed) assert.match(makePrintDate(zone)(asInstant(at)), shape);
});

test("a zone that does not exist is found at the start, not at the first order", () => {
  assert.throws(() => makePrintDate("Europe/Atlantis"), RangeError);
});
