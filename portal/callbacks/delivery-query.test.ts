/** Tests callbacks: filters in the page's URL, ids, and the request that sends again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DeliveryFilter,
  filters,
  idOf,
  maySendAgain,
  readDeliveryQuery,
  readId,
  resendRequest,
  resentBy,
  resultOf,
  stateOf,
  verdictOf,
} from "./delivery-query.ts";

const day = (month: number, date: number) => new Date(2030, month - 1, date).getTime();

// biome-ignore format: a table
const queries: readonly (readonly [query: string, filter: DeliveryFilter, isNarrow: boolean])[] = [
  ["",                                  {},                                        false],
  ["after=5&row=12-1",                  {},                                        false],
  ["state=due",                         { state: "due" },                          true],
  ["state=failing",                     { state: "failing" },                      true],
  ["state=lost",                        {},                                        true],
  ["endpoint=3&merchant=demo",          { endpoint: "3", merchant: "demo" },       true],
  ["host=%20shop.example%20",           { host: "shop.example" },                  true],
  ["order=12",                          { order: "12" },                           true],
  ["order=0",                           {},                                        true],
  ["order=12-1",                        {},                                        true],
  ["from=2030-02-01&until=2030-02-28",  { since: day(2, 1), until: day(3, 1) },    true],
];

for (const [query, filter, isNarrow] of queries) {
  test(`the address “${query}” asks for ${JSON.stringify(filter)}`, () => {
    assert.deepEqual(readDeliveryQuery(new URLSearchParams(query)), filter);
    assert.equal(filters.isFiltered(new URLSearchParams(query)), isNarrow);
  });
}

test("clearing removes every filter, the page and the selected row from the address", () => {
  const set = ["state", "endpoint", "merchant", "host", "order", "from", "until"];
  const names = [...set, "after", "row"];

  assert.deepEqual(Object.keys(filters.withoutFilters).sort(), names.sort());
});

test("the id of a callback has its order and sequence number, and is read back", () => {
  const callback = { order: "9007199254740993", sequence: 12 };

  assert.equal(idOf(callback), "9007199254740993-12");
  assert.deepEqual(readId(idOf(callback)), callback);
});

// biome-ignore format: a table
const chosen = [
  [{},                                      false],
  [{ state: "due", merchant: "demo" },      false],
  [{ until: 9 },                            false],
  [{ since: 0 },                            true],
  [{ order: "12" },                         true],
] as const;

for (const [filter, may] of chosen) {
  test(`${JSON.stringify(filter)} is ${may ? "" : "not "}narrow enough to send callbacks again`, () => {
    assert.equal(maySendAgain(filter), may);
  });
}

test("a request to send again has texts only, and a merchant's user selects own callbacks", () => {
  const chosen = { host: "shop.example", merchant: "other", since: 0, sequence: 2 };

  const { values } = resendRequest(chosen, { merchant: "demo" }, "back");

  const since = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(values, { host: "shop.example", merchant: "demo", since, sequence: "2" });
  assert.deepEqual(resentBy({ result: { "to be sent again": 3 }, at: 5 }), {
    count: 3,
    resentAt: 5,
  });
});

test("only a signature with the merchant's current key is shown as right", () => {
  const results = ["current_key", "old_key", "other", "absent"] as const;

  assert.deepEqual(results.map(verdictOf), ["right", "unknown", "wrong", "unknown"]);
});

test("a callback that is due after a failed attempt is failing, and each attempt shows its result", () => {
  assert.equal(stateOf({ state: "due", tries: 0 }), "due");
  assert.equal(stateOf({ state: "due", tries: 2 }), "failing");
  assert.equal(stateOf({ state: "delivered", tries: 2 }), "delivered");
  const results = [{ status: 204 }, { status: 302 }, { failure: "timeout" }, {}].map(resultOf);
  assert.deepEqual(
    results.map(({ text, isFailed }) => [text, isFailed]),
    [
      ["204", false],
      ["302", true],
      ["timeout", true],
      ["", false],
    ],
  );
});
