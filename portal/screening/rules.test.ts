/** Tests how rules and lists are shown, and the requests for lists and trials. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import { listValues, pageOf, parametersOf, placeOf, reportRows, trialValues } from "./rules.ts";

test("parameters are shown with a space, and changed in the form that the action reads", () => {
  const rule = { parameters: { count: "9", window: "1h" } };

  assert.deepEqual(parametersOf(rule, " "), ["count 9", "window 1h"]);
  assert.deepEqual(parametersOf(rule, "="), ["count=9", "window=1h"]);
});

test("a rule applies everywhere, to a merchant, or to one endpoint", () => {
  assert.equal(placeOf({}, "everywhere"), "everywhere");
  assert.equal(placeOf({ merchant: "demo" }, "everywhere"), "demo");
  assert.equal(placeOf({ merchant: "demo", endpoint: "3" }, "everywhere"), "demo, 3");
});

// biome-ignore format: a table
const addresses = [
  ["tab=lists",                      ["limit=101"]],
  ["list=block&kind=email-domain",   ["list=block", "kind=email-domain", "limit=101"]],
  ["list=&after=77",                 ["before=77", "limit=101"]],
] as const;

for (const [query, options] of addresses) {
  test(`the address “${query}” asks for the lists with ${options.join(", ")}`, () => {
    const asked = listValues(new URLSearchParams(query));

    assert.deepEqual(
      Object.entries(asked).map(([name, value]) => `${name}=${value}`),
      options,
    );
  });
}

test("a page has a hundred entries, and a next page only when there is one more", () => {
  const rows = Array.from({ length: 101 }, (_, at) => ({ entry: String(at + 1) }));

  assert.deepEqual([pageOf(rows).rows.length, pageOf(rows).next], [100, "100"]);
  assert.deepEqual(
    [pageOf(rows.slice(1)).rows.length, pageOf(rows.slice(1)).next],
    [100, undefined],
  );
});

// biome-ignore format: a table
const trials = [
  ["",        "",            []],
  [" 3,7 ",   "",            ["rule=3,7"]],
  ["3",       "2030-01-31",  ["rule=3", "since=2030-01-31T00:00:00Z"]],
] as const;

for (const [rule, since, options] of trials) {
  test(`a trial of “${rule}” since “${since}” is sent as [${options}]`, () => {
    const sent = Object.entries(trialValues(rule, since)).map(
      ([name, value]) => `${name}=${value}`,
    );

    assert.deepEqual(sent, options);
  });
}

test("a report has the sums first, then each rule with its name or kind", () => {
  const counts = { orders: 4, paid: 3, refunded: 1, chargedBack: 0 };
  const rules = [
    { ...counts, rule: "3", kind: "velocity", noData: 0 },
    { ...counts, rule: "4", kind: "new-kind", noData: 0 },
  ];
  const report = { all: counts, blocked: counts, forced: counts, marked: counts, rules, notes: [] };

  const rows = reportRows(report, english);

  assert.deepEqual(
    rows.map(({ name }) => name),
    ["Looked at", "Blocked", "Sent to 3-D Secure", "Only marked", "Velocity 3", "new-kind 4"],
  );
  assert.equal(new Set(rows.map(({ key }) => key)).size, rows.length);
});
