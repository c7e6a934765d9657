/** Checks that each time names its zone, and that all screens format times in the same way. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chooseLocale, gapOf, makeTimes, printedTimeIn } from "./times.ts";

const at = Date.UTC(2030, 0, 31, 22, 15, 30, 42);

// biome-ignore format: a table
const zones = [
  ["en-GB", "Asia/Kolkata",     /^1 Feb 2030, 03:45:30 (GMT\+5:30|IST)$/, /^03:45:30\.042 (GMT\+5:30|IST)$/],
  ["de-AT", "Europe/Vienna",    /^31\.0?1\.2030, 23:15:30 MEZ$/,          /^23:15:30,042 MEZ$/],
  ["en-US", "America/New_York", /^Jan 31, 2030, 5:15:30\sPM EST$/,        /^05:15:30\.042\sPM EST$/],
] as const;

for (const [locale, zone, time, exact] of zones) {
  test(`a time in ${zone} names its zone, and is also shown in UTC`, () => {
    const { showTime, showExact, showUtc } = makeTimes(locale, zone);

    assert.match(showTime(at), time);
    assert.match(showExact(at), exact);
    assert.match(showUtc(at), /\b(22|10):15:30\b.*UTC$/);
  });
}

test("the browser's locale is used if it has the language and is valid", () => {
  assert.equal(chooseLocale("en", ["de-AT", "en-GB", "en-US"]), "en-GB");
  assert.equal(chooseLocale("en", ["en-US@posix"]), "en");
  assert.equal(chooseLocale("de", ["en-US@posix", "de-AT"]), "de-AT");
});

test("only a time in UTC as commands print it is read as a time", () => {
  assert.equal(printedTimeIn("2030-01-31 22:15:30 UTC"), Date.UTC(2030, 0, 31, 22, 15, 30));
  assert.equal(printedTimeIn("2030-01-31 22:15 UTC"), Date.UTC(2030, 0, 31, 22, 15));
  for (const text of ["2030-01-31", "2030-01-31 22:15:30 MEZ", "", "never"]) {
    assert.equal(printedTimeIn(text), undefined, text);
  }
});

test("no screen writes a time in a form of its own", () => {
  const portal = join(import.meta.dirname, "..");
  const screens = globSync("*/*.tsx", { cwd: portal });
  const writers = screens.filter((path) =>
    /toISOString|toLocale|DateTimeFormat/.test(readFileSync(join(portal, path), "utf8")),
  );

  assert.ok(screens.length > 50);
  // The attribute `dateTime` is for programs, and only one file writes it.
  assert.deepEqual(writers, [join("design", "details.tsx")]);
});

// biome-ignore format: a table
const gaps = [
  [-5, "+0 ms"], [0.4, "+0 ms"], [999, "+999 ms"], [1_000, "+1.0 s"], [59_900, "+59.9 s"], [60_000, "+1 min"], [3_540_000, "+59 min"], [7_200_000, "+2 h"],
] as const;

test("the time since the previous step is shown in a fitting unit", () => {
  for (const [ms, text] of gaps) assert.equal(gapOf(ms), text);
});
