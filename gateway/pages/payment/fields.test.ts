/** What a cardholder may type, and what the gateway makes of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCard, readCustomer, refill } from "./fields.ts";
import { filled, now } from "./testing.ts";

const reading = { now, needsCvv: true };

function read(changes: Readonly<Record<string, string>>, needsCvv = true) {
  return readCard(new Map(Object.entries({ ...filled, ...changes })), { ...reading, needsCvv });
}

test("a card is read however its digits are split and whichever keyboard typed them", () => {
  // biome-ignore format: a table
  const numbers = [
    "4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", " 4111 1111 1111 1111 ",
    "٤١١١١١١١١١١١١١١١", "۴۱۱۱ ۱۱۱۱ ۱۱۱۱ ۱۱۱۱", "\u200e4111 1111 1111 1111",
  ];

  for (const number of numbers) {
    const card = read({ "cc-number": number });
    assert.ok("data" in card, number);
    assert.equal(card.data.number.reveal(), "4111111111111111");
    assert.deepEqual([card.data.expiryMonth, card.data.expiryYear], ["04", "30"]);
    assert.equal(card.data.cvv?.reveal(), "123");
  }
});

test("each field says whether it is missing or wrong", () => {
  // biome-ignore format: a table
  const faults = [
    ["cc-number",    "",                     "number", "missing"],
    ["cc-number",    "4111 1111 1111 1112",  "number", "wrong"],
    ["cc-number",    "4111",                 "number", "wrong"],
    ["cc-number",    "4".repeat(60_000),     "number", "wrong"],
    ["cc-number",    "4111x1111y1111z1111",  "number", "wrong"],
    ["cc-exp-month", "",                     "month",  "missing"],
    ["cc-exp-month", "13",                   "month",  "wrong"],
    ["cc-exp-month", "00",                   "month",  "wrong"],
    ["cc-exp-year",  "",                     "year",   "missing"],
    ["cc-exp-year",  "3",                    "year",   "missing"],
    ["cc-exp-year",  "25",                   "year",   "wrong"],
    ["cc-csc",       "",                     "cvv",    "missing"],
    ["cc-csc",       "12",                   "cvv",    "wrong"],
    ["cc-csc",       "12345",                "cvv",    "wrong"],
    ["cc-name",      "  ",                   "name",   "missing"],
    ["cc-name",      "A".repeat(129),        "name",   "wrong"],
    ["cc-name",      "Anna\u0000Example",    "name",   "wrong"],
  ] as const;

  for (const [word, typed, field, fault] of faults) {
    const card = read({ [word]: typed });
    assert.ok("faults" in card, `${word} ${typed.slice(0, 20)}`);
    assert.deepEqual([...card.faults], [[field, fault]]);
  }
  assert.ok("data" in read({ "cc-csc": "" }, false), "a gate may work without the code");
});

test("a card number in another field is masked before anything is done with it", () => {
  const typed = { "cc-name": "4111 1111 1111 1111", "email": "4111111111111111@example.com" };
  const posted = new Map(Object.entries({ ...filled, ...typed }));

  const card = readCard(posted, reading);
  const shown = refill(posted, new Map());

  assert.ok("data" in card);
  assert.equal(card.holderName, "**** **** **** 1111");
  assert.doesNotMatch(JSON.stringify([...shown.values]), /4111|\b123\b/);
});

test("of the customer only what is wanted is read, and a state only where one is needed", () => {
  // biome-ignore format: a table
  const customers: readonly (readonly [fields: Readonly<Record<string, string>>, result: unknown])[] = [
    [{ "country": "DE" },                           { country: "DE" }],
    [{ "country": "US", "address-level1": "NY" },   { country: "US", state: "NY" }],
    [{ "country": "US" },                           [["state", "missing"]]],
    [{ "country": "US", "address-level1": "NSW" },  [["state", "wrong"]]],
    [{ "country": "XX" },                           [["country", "wrong"]]],
    [{},                                            [["country", "missing"]]],
  ];

  for (const [fields, result] of customers) {
    const posted = new Map(Object.entries({ ...fields, email: "not-wanted" }));
    const read = readCustomer(posted, ["country", "state"]);
    assert.deepEqual("faults" in read ? [...read.faults] : read, result);
  }
  const email = (address: string) => readCustomer(new Map([["email", address]]), ["email"]);
  assert.deepEqual(email(" anna@example.com "), { email: "anna@example.com" });
  for (const wrong of ["anna", "anna@", "@example.com", "a b@example.com", "anna@example"]) {
    assert.ok("faults" in email(wrong), wrong);
  }
});
