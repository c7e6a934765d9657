/** Values that cardholders type, and what the gateway reads from them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type EnteredFault, readCard, readCustomer, refill, spreadExpiry } from "./form-fields.ts";
import { filled } from "./testing.ts";

function read(changes: Readonly<Record<string, string>>) {
  const card = readCard(spreadExpiry(new Map(Object.entries({ ...filled, ...changes }))));
  return card.kind === "card" ? card : assert.fail(card.kind);
}

test("a card is read however its digits are split and whichever keyboard typed them", () => {
  // biome-ignore format: a table
  const numbers = [
    "4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", " 4111 1111 1111 1111 ",
    "٤١١١١١١١١١١١١١١١", "۴۱۱۱ ۱۱۱۱ ۱۱۱۱ ۱۱۱۱", "\u200e4111 1111 1111 1111",
  ];

  for (const number of numbers) {
    const card = read({ "cc-number": number });
    assert.equal(card.number.reveal(), "4111111111111111", number);
    assert.deepEqual([card.expiryMonth, card.expiryYear, card.cvv?.reveal()], ["04", "30", "123"]);
  }
  assert.equal(read({ "cc-number": "4111x1111" }).number.reveal(), "4111x1111");
  for (const year of ["", "3", "193", "1930"])
    assert.equal(read({ "cc-exp-year": year }).expiryYear, "");
});

test("a whole expiry date in the field of the month is read in each form that browsers fill in", () => {
  // biome-ignore format: a table
  const dates = [
    "12/31", "12/2031", "1231", "122031", "12 / 31", "12 / 2031", "2031-12", "12-31", " 12.31 ", "١٢/٣١",
  ];

  for (const date of dates) {
    for (const year of ["", "30"]) {
      const { expiryMonth, expiryYear } = read({ "cc-exp-month": date, "cc-exp-year": year });
      assert.deepEqual([expiryMonth, expiryYear], ["12", "31"], date);
    }
  }
  assert.equal(read({ "cc-exp-month": "3/2031" }).expiryMonth, "03");
  for (const none of ["12", "1", "12/", "12/1", "4111 1111 1111 1111"]) {
    assert.equal(read({ "cc-exp-month": none }).expiryYear, "30", none);
  }
});

test("a card number in another field is masked before anything is done with it", () => {
  const typed = { "cc-name": "4111 1111 1111 1111", "email": "4111111111111111@example.com" };
  const posted = new Map(Object.entries({ ...filled, ...typed }));

  const shown = refill(posted, []);

  assert.equal(read(typed).holderName, "**** **** **** 1111");
  assert.deepEqual(readCustomer(posted, ["email"]), { email: "************1111@example.com" });
  assert.doesNotMatch(JSON.stringify([...shown.values]), /4111|\b123\b/);
});

test("of the customer only what is wanted is read", () => {
  const posted = new Map(
    Object.entries({ "email": " a@example.com ", "tel": "+49 30 1234567", "city": "" }),
  );

  assert.deepEqual(readCustomer(posted, ["email", "city"]), { email: "a@example.com" });
  assert.deepEqual(readCustomer(posted, ["phone"]), { phone: "+49 30 1234567" });
});

test("each fault stands at one field; of the expiry date at month or year", () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [fault: EnteredFault, typed: Readonly<Record<string, string>>, at: readonly [string, string]])[] = [
    [{ field: "number",     problem: "missing" }, {},                                          ["number", "missing"]],
    [{ field: "number",     problem: "invalid" }, {},                                          ["number", "wrong"]],
    [{ field: "holderName", problem: "missing" }, {},                                          ["name", "missing"]],
    [{ field: "expiry",     problem: "missing" }, {},                                          ["month", "missing"]],
    [{ field: "expiry",     problem: "missing" }, { "cc-exp-month": "4" },                     ["year", "missing"]],
    [{ field: "expiry",     problem: "invalid" }, { "cc-exp-month": "13", "cc-exp-year": "30" }, ["month", "wrong"]],
    [{ field: "expiry",     problem: "expired" }, { "cc-exp-month": "04", "cc-exp-year": "20" }, ["year", "wrong"]],
    [{ field: "state",      problem: "invalid" }, {},                                          ["state", "wrong"]],
  ];

  for (const [fault, typed, at] of rows) {
    assert.deepEqual([...refill(new Map(Object.entries(typed)), [fault]).faults], [at]);
  }
});
