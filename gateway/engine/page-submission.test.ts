/**
 * The fields that the payment page asks for, and the submissions that it refuses before a try
 * begins.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Customer } from "../orders/order.ts";
import { draft, start } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { Secret } from "../values/secret.ts";
import { findSubmissionFaults, wantedFieldsOf } from "./page-submission.ts";

const usual = ["email", "phone", "address", "city", "zipCode", "country", "state"];
const allOptional = ["email", "phone", "address1", "city", "zip_code", "country"];

// biome-ignore format: a table
const asked: readonly (readonly [settings: Partial<EndpointSettings>, sent: Partial<Customer>, wanted: readonly string[]])[] = [
  [{},                                          {},                                usual],
  [{},                                          { email: "a@b.example" },          usual.slice(1)],
  [{},                                          { country: "DE" },                 usual.slice(0, 5)],
  [{},                                          { country: "US" },                 [...usual.slice(0, 5), "state"]],
  [{},                                          { country: "US", state: "IL" },    usual.slice(0, 5)],
  [{ optionalFields: allOptional },             {},                                []],
  [{ optionalFields: ["state"] },               {},                                usual.slice(0, 6)],
  [{ optionalFields: allOptional },             { country: "US" },                 []],
  [{ pageFields: ["email"] },                   {},                                ["email"]],
  [{ pageFields: ["first_name", "country"] },   {},                                ["firstName", "country", "state"]],
  [{ pageFields: ["country"], optionalFields: ["state"] }, {},                     ["country"]],
  [{ optionalFields: ["state"] },               { country: "US" },                 usual.slice(0, 5)],
  [{ pageFields: ["email"], optionalFields: allOptional }, {},                     ["email"]],
];

test("a payment link asks for the email alone, unless the endpoint names fields or waives it", () => {
  // biome-ignore format: a table
  const rows = [
    [{},                                        ["email"]],
    [{ optionalFields: allOptional },           []],
    [{ pageFields: ["phone", "country"] },      ["phone", "country", "state"]],
  ] as const;
  const order = { ...draft, page: { linkId: "100000000000001" } };

  for (const [own, wanted] of rows) {
    assert.deepEqual(wantedFieldsOf(order, { settings: { threeDSecure: "off", ...own } }), wanted);
  }
});

for (const [own, sent, wanted] of asked) {
  test(`${JSON.stringify(own)} with ${JSON.stringify(sent)} asks for ${wanted}`, () => {
    const customer = { ...draft.purchase.customer, ...sent };
    const settings = { threeDSecure: "off", ...own } as const;

    assert.deepEqual(
      wantedFieldsOf({ purchase: { ...draft.purchase, customer } }, { settings }),
      wanted,
    );
  });
}

const plain = { number: "4111111111111111", month: "12", year: "31", cvv: "123", name: "JANE DOE" };

// biome-ignore format: a table
const entered: readonly (readonly [change: Partial<typeof plain>, faults: readonly string[]])[] = [
  [{},                                 []],
  [{ number: "" },                     ["number missing"]],
  [{ number: "4111111111111112" },     ["number invalid"]],
  [{ number: "41111111111" },          ["number invalid"]],
  [{ number: "4111 1111 1111 1111" },  ["number invalid"]],
  [{ month: "13" },                    ["expiry invalid"]],
  [{ month: "" },                      ["expiry missing"]],
  [{ year: "2031" },                   ["expiry invalid"]],
  [{ year: "20" },                     ["expiry expired"]],
  [{ cvv: "" },                        ["cvv missing"]],
  [{ cvv: "12" },                      ["cvv invalid"]],
  [{ cvv: "12a" },                     ["cvv invalid"]],
  [{ name: "" },                       ["holderName missing"]],
  [{ name: "x".repeat(129) },          ["holderName invalid"]],
  [{ name: "JANE\u0000" },             ["holderName invalid"]],
];

for (const [change, faults] of entered) {
  test(`a card with ${JSON.stringify(change).slice(0, 40)} has faults: ${faults}`, () => {
    const { number, month, year, cvv, name } = { ...plain, ...change };
    const paid = {
      ...({ kind: "card", number: new CardNumber(number), holderName: name } as const),
      expiryMonth: month,
      expiryYear: year,
      cvv: cvv === "" ? undefined : new Secret(cvv),
    };
    const submission = { paid, customer: {}, ipAddress: "203.0.113.7", browser: undefined };
    const page = { order: draft, wanted: [], needsCvv: true };

    assert.deepEqual(
      findSubmissionFaults(page, submission, start).map((each) => `${each.field} ${each.problem}`),
      faults,
    );
  });
}
