/** Tests the query in the order list's URL, choices of filters, saved views and the export. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  configured,
  exportedRowsMax,
  filters,
  kindsOfSearch,
  mayBeShared,
  type OrdersInput,
  rangeSince,
  readOrdersQuery,
  readParts,
  readViews,
  startOfDay,
  toggle,
  viewOf,
} from "./order-query.ts";

// biome-ignore format: a table
const queries: readonly (readonly [query: string, input: OrdersInput])[] = [
  ["",                                       {}],
  ["search=carla%40example.com",             { search: "carla@example.com" }],
  ["status=declined,error&type=sale",        { status: ["declined", "error"], type: ["sale"] }],
  ["status=,&currency=&search=",             {}],
  ["merchant=demo&after=7&row=3",            { merchant: "demo", after: "7" }],
  ["network=VISA&gate=1&endpoint=2&stage=sale_unknown", { network: ["VISA"], gate: ["1"], endpoint: ["2"], stage: ["sale_unknown"] }],
  ["from=yesterday&until=2030-1-1",          {}],
];

for (const [query, input] of queries) {
  test(`the address “${query}” asks for ${JSON.stringify(input)}`, () => {
    assert.deepEqual(readOrdersQuery(new URLSearchParams(query)), input);
  });
}

test("a range of days covers its first and its last day in the user's time zone", () => {
  const input = readOrdersQuery(new URLSearchParams("from=2030-01-30&until=2030-01-31"));

  assert.equal(input.from, new Date(2030, 0, 30).getTime());
  assert.equal(input.until, new Date(2030, 1, 1).getTime());
  assert.equal(startOfDay("2030-01-31", 1), new Date("2030-02-01T00:00").getTime());
});

// biome-ignore format: a table
const ranges = [[0, "2030-03-01"], [6, "2030-02-23"], [29, "2030-01-31"], [60, "2029-12-31"]] as const;

for (const [days, from] of ranges) {
  test(`${days} days before the first of March begin on ${from}`, () => {
    const range = rangeSince(days, new Date(2030, 2, 1, 23, 59));

    assert.deepEqual(range, { from, until: undefined });
  });
}

// biome-ignore format: a table
const searches = [
  ["doe",          "name email order reference"],
  ["Jane D",       "name email order reference"],
  ["jane@exam",    "email"],
  ["@example.com", "email"],
  [" 0018 ",       "lastFour amount order reference"],
  ["10.42",        "amount order reference"],
] as const;

for (const [text, kinds] of searches) {
  test(`a search for “${text}” is described as one for ${kinds}`, () => {
    assert.deepEqual(kindsOfSearch(text), kinds.split(" "));
  });
}

test("a user with the right may share a view of filters, and never a search", () => {
  const [user, auditor] = [{ rights: ["see_orders", "share_views"] }, { rights: ["see_orders"] }];

  assert.equal(mayBeShared("status=declined", user), true);
  assert.equal(mayBeShared("status=declined", auditor), false);
  assert.equal(mayBeShared("search=doe&status=declined", user), false);
});

test("a view has the search and the filters, without the page and the row", () => {
  const query = new URLSearchParams("row=3&after=7&status=declined,error&search=a b&merchant=");

  assert.equal(viewOf(query), "search=a+b&status=declined,error");
});

test("clearing the filters also removes the page and the row, and nothing else", () => {
  assert.ok(filters.isFiltered(new URLSearchParams("status=declined")));
  assert.ok(!filters.isFiltered(new URLSearchParams("after=7&row=3&tab=keys")));
  for (const name of ["status", "search", "from", "merchant", "after", "row"]) {
    assert.ok(Object.hasOwn(filters.withoutFilters, name), name);
  }
  assert.ok(!Object.hasOwn(filters.withoutFilters, "tab"));
});

// biome-ignore format: a table
const clicks = [
  [[],         "a", false, ["a"]],
  [["a"],      "b", false, ["a", "b"]],
  [["a", "b"], "a", false, ["b"]],
  [["a"],      "b", true,  ["b"]],
  [["a"],      "a", true,  []],
] as const;

for (const [chosen, value, isSingle, expected] of clicks) {
  const kind = isSingle ? "single" : "several";
  test(`a click on ${value} turns [${chosen}] into [${expected}] where ${kind} may be chosen`, () => {
    assert.deepEqual(toggle(chosen, value, isSingle), expected);
  });
}

test("choices have names, or ids if they have no name", () => {
  const { endpoint, gate, merchant } = configured({
    endpoints: [
      { id: "1", name: "shop", currency: "EUR" },
      { id: "2", name: "", currency: "USD" },
    ],
    gates: [
      { id: "7", name: "north" },
      { id: "8", name: "" },
    ],
    merchants: [
      { login: "demo", name: "Demo Ltd" },
      { login: "acme", name: "" },
    ],
    currencies: [],
  });

  const labels = [endpoint, gate, merchant].map((each) => each.map(({ label }) => label));
  assert.deepEqual(labels, [
    ["shop EUR", "2 USD"],
    ["north", "8"],
    ["Demo Ltd", "acme"],
  ]);
  assert.deepEqual(configured(undefined), { endpoint: [], gate: [], merchant: [] });
});

// biome-ignore format: a table
const stored = [
  [null,                                     []],
  ['[{"name":"a","query":"status=error"}]',  [{ name: "a", query: "status=error" }]],
  ['[{"name":"a"},null,7,{"query":"x"}]',    []],
  ['{"name":"a","query":"b"}',               []],
  ["not JSON",                               []],
] as const;

for (const [text, views] of stored) {
  test(`the stored views “${text}” have ${views.length} valid ones`, () => {
    assert.deepEqual(readViews(text), views);
  });
}

test("an export reads every part from the beginning, and reports its progress", async () => {
  const asked: OrdersInput[] = [];
  const told: number[] = [];
  const answers = [
    { csv: "one", rows: 2, next: "b" },
    { csv: "two", rows: 1, next: "c" },
    { csv: "", rows: 0 },
  ];
  const read = async (input: OrdersInput) => {
    asked.push(input);
    return answers[asked.length - 1] ?? { csv: "", rows: 0 };
  };

  const input = { search: "x", after: "old", limit: 5 };
  const { parts, rows } = await readParts(input, read, (count) => told.push(count));

  assert.deepEqual([parts, rows, told], [["one", "two", ""], 3, [2, 3, 3]]);
  const search = "x";
  assert.deepEqual(asked, [{ search }, { search, after: "b" }, { search, after: "c" }]);
});

test("an export ends at the maximum number of rows of a file", async () => {
  let count = 0;
  const read = async () => {
    count += 1;
    return { csv: "", rows: exportedRowsMax / 2, next: "more" };
  };

  const { rows } = await readParts({}, read, () => undefined);

  assert.deepEqual([count, rows], [2, exportedRowsMax]);
});
