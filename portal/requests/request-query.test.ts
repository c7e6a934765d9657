/** Tests the filters in the URL of refused requests, and which pasted values leave the browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  filledIn,
  filters,
  hasControl,
  namesIn,
  readPasted,
  readRequestsQuery,
  splitFault,
} from "./request-query.ts";

// biome-ignore format: a table
const queries = [
  ["",                                        {}],
  ["search=%20cup-1%20",                      { search: "cup-1" }],
  ["code=control_mismatch,access_denied",     { code: ["control_mismatch", "access_denied"] }],
  ["operation=sale&endpoint=3&merchant=demo", { operation: ["sale"], endpoint: ["3"], merchant: "demo" }],
  ["after=7&row=x",                           { after: "7" }],
  ["until=2030-01-31",                        { until: new Date(2030, 1, 1).getTime() }],
  ["code=,&from=soon",                        {}],
] as const;

for (const [query, input] of queries) {
  test(`the address “${query}” asks for ${JSON.stringify(input)}`, () => {
    assert.deepEqual(readRequestsQuery(new URLSearchParams(query)), input);
  });
}

test("clearing the filters removes each filter that can be set", () => {
  for (const name of ["search", "operation", "code", "endpoint", "merchant", "from", "until"]) {
    assert.ok(filters.isFiltered(new URLSearchParams(`${name}=x`)), name);
    assert.ok(Object.hasOwn(filters.withoutFilters, name), name);
  }
  assert.ok(!filters.isFiltered(new URLSearchParams("after=7")));
});

// biome-ignore format: a table
const formulas = [
  [["{id}", "client_orderid", "amount", "email"],  ["client_orderid", "amount", "email", "currency", "control"]],
  [["{id}", "client_orderid", "amount", "currency"], ["client_orderid", "amount", "currency", "control"]],
  [["login", "client_orderid", "orderid"],         ["login", "client_orderid", "orderid", "control"]],
  [[],                                             ["control"]],
] as const;

for (const [formula, names] of formulas) {
  test(`a checksum over ${formula.join(", ") || "nothing"} asks for ${names.join(", ")}`, () => {
    assert.deepEqual(namesIn(formula), names);
  });
}

const names = namesIn(["{id}", "client_orderid", "amount", "email"]);
const card = "credit_card_number=4000004000000020&cvv2=123";

// biome-ignore format: a table
const pasted = [
  ["a form",             `client_orderid=cup-3&${card}&amount=10.42&control=ab`],
  ["lines",              `client_orderid=cup-3\r\namount=10.42\n${card}\ncontrol=ab\n`],
  ["an address",         `https://gw.example/sale/3?client_orderid=cup-3&${card}&amount=10.42&control=ab`],
  ["a form with space",  `\n client_orderid=cup-3&amount=10.42&control=ab \n`],
] as const;

for (const [kind, text] of pasted) {
  test(`the signed values of a request pasted as ${kind} are read, and the card is not`, () => {
    assert.deepEqual(readPasted(text, names), {
      client_orderid: "cup-3",
      amount: "10.42",
      control: "ab",
    });
  });
}

test("values of a pasted form are decoded, and an empty one is not sent", () => {
  const fields = readPasted("email=a%40b.example&client_orderid=&control=ab", names);

  assert.equal(fields.email, "a@b.example");
  assert.deepEqual(filledIn(fields, names), { email: "a@b.example", control: "ab" });
});

test("a value of another operation's formula is not sent", () => {
  assert.deepEqual(filledIn({ control: "ab", email: "a@b.example" }, ["control"]), {
    control: "ab",
  });
});

test("a request is unsigned without a checksum, and with an empty one", () => {
  assert.equal(hasControl([{ name: "control", length: 40 }]), true);
  assert.equal(hasControl([{ name: "control", length: 0 }]), false);
  assert.equal(hasControl([{ name: "amount", length: 4 }]), false);
});

test("a fault begins with the field that has it, and keeps the rest of its sentence", () => {
  assert.deepEqual(splitFault("expire_month: takes 01 to 12: it is 13"), [
    ...["expire_month", "takes 01 to 12: it is 13"],
  ]);
  assert.deepEqual(splitFault("unreadable"), ["unreadable", ""]);
});
