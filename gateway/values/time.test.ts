/** Dates and times as the interface prints them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asInstant,
  calendar,
  calendarIn,
  hours,
  isTimeZone,
  later,
  makePrintDate,
  minutes,
  seconds,
} from "./time.ts";

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

test("one printer prints the offset of each moment, before and after the clocks change", () => {
  const print = makePrintDate("Europe/Berlin");
  const changeMs = Date.UTC(2026, 9, 25, 1);

  const [before, after] = [print(asInstant(changeMs - 1)), print(asInstant(changeMs))];

  assert.match(before, /^2026-10-25 02:59:59 (CEST|GMT\+2)$/);
  assert.match(after, /^2026-10-25 02:00:00 (CET|GMT\+1)$/);
  assert.equal(print(asInstant(changeMs - 1)), before);
});

test("a zone that does not exist is found at the start, not at the first order", () => {
  assert.throws(() => makePrintDate("Europe/Atlantis"), RangeError);
});

// biome-ignore format: a table
const onTheWall: readonly (readonly [zone: string, utc: string, local: string])[] = [
  ["UTC",                 "2026-12-31T23:59:59Z", "20261231235959"],
  ["Europe/Amsterdam",    "2026-12-31T22:59:59Z", "20261231235959"],
  ["Europe/Amsterdam",    "2026-12-31T23:00:00Z", "20270101000000"], // New Year comes earlier than in UTC
  ["America/New_York",    "2027-01-01T04:59:59Z", "20261231235959"], // and later
  ["Europe/Amsterdam",    "2026-03-29T00:59:59Z", "20260329015959"], // 02:00 to 03:00 does not exist
  ["Europe/Amsterdam",    "2026-03-29T01:00:00Z", "20260329030000"],
  ["Europe/Amsterdam",    "2026-10-25T00:30:00Z", "20261025023000"], // 02:00 to 03:00 comes twice
  ["Europe/Amsterdam",    "2026-10-25T01:30:00Z", "20261025023000"],
  ["Australia/Lord_Howe", "2026-04-04T14:59:59Z", "20260405015959"], // half an hour
  ["Australia/Lord_Howe", "2026-04-04T15:00:00Z", "20260405013000"],
  ["Asia/Kathmandu",      "2026-11-15T18:14:59Z", "20261115235959"], // UTC+05:45
  ["Asia/Kathmandu",      "2026-11-15T18:15:00Z", "20261116000000"],
  ["Pacific/Apia",        "2026-11-15T11:00:00Z", "20261116000000"],
];

test("local time follows the zone's own rules, also where its clocks change", () => {
  for (const [zone, utc, local] of [...onTheWall, ...onTheWall.toReversed()]) {
    const parts = calendarIn(zone, asInstant(Date.parse(utc)));
    const { year, month, day, hour, minute, second } = parts;
    assert.equal(year + month + day + hour + minute + second, local, `${zone} ${utc}`);
  }
});

test("only names of the IANA list are time zones", () => {
  for (const name of ["UTC", "Europe/Amsterdam", "America/Argentina/Ushuaia"]) {
    assert.ok(isTimeZone(name), name);
  }
  for (const name of ["", "+01:00", "Europe/Atlantis", "Amsterdam", "Europe/Amsterdam\n"]) {
    assert.ok(!isTimeZone(name), name);
  }
  assert.throws(() => calendarIn("Europe/Atlantis", moment), RangeError);
});
