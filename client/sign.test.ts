/** Checksums against values that another program computed, and amounts of every exponent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operationFacts, syncOperationFacts } from "./operations.generated.ts";
import { sign, toMinorUnits } from "./sign.ts";

// biome-ignore format: a table
const amounts: readonly (readonly [amount: string, currency: string, minor: string])[] = [
  ["0.94",     "USD", "94"],
  ["10.15",    "EUR", "1015"],
  ["10.5",     "EUR", "1050"],
  ["10",       "EUR", "1000"],
  ["19.99",    "USD", "1999"],
  ["00.01",    "USD", "1"],
  ["0",        "USD", "0"],
  ["0.00",     "USD", "0"],
  ["90071992547409.93", "USD", "9007199254740993"],
  ["500",      "JPY", "500"],
  ["500.0",    "JPY", ""],
  ["1.234",    "KWD", "1234"],
  ["1.2",      "BHD", "1200"],
  ["1.2345",   "CLF", "12345"],
  ["1.234",    "USD", ""],
  [".5",       "USD", ""],
  ["5.",       "USD", ""],
  ["1e3",      "USD", ""],
  ["-1",       "USD", ""],
  ["1,50",     "USD", ""],
  ["",         "USD", ""],
];

test("an amount becomes minor units by its currency's digits; what is none becomes nothing", () => {
  for (const [amount, currency, minor] of amounts) {
    assert.equal(toMinorUnits(amount, currency), minor, `${amount} ${currency}`);
  }
});

const values = new Map(
  Object.entries({
    client_orderid: "invoice-1",
    amount: "10.42",
    currency: "USD",
    email: "jane@example.com",
  }),
);
const merchant = { id: "1001", login: "acme", controlKey: "top-secret-key" };

test("a sale is signed over endpoint, order, minor units, email and key", () => {
  const control = sign(operationFacts.sale.control, { ...merchant, values });

  assert.equal(control, "00e6bdeba6a1bb0729d0d92b361bb8dc5bfb092d");
});

test("a status request is signed over login, order, order id and key", () => {
  const asked = new Map([...values, ["orderid", "77000001"]]);

  const control = sign(operationFacts.status.control, { ...merchant, values: asked });
  assert.equal(control, "9757ba4c1e8cbfb2347e660619f65de9a5e54001");
});

// biome-ignore format: a table
const followUps: readonly (readonly [sent: Record<string, string>, control: string])[] = [
  [{ amount: "4.2", currency: "USD" },  "1a9c019b9522837120631daf6da2b30866190376"],
  [{ amount: "500", currency: "JPY" },  "48dd7a06aa9501f80b7809f0da6007f22997f494"],
  [{},                                  "9757ba4c1e8cbfb2347e660619f65de9a5e54001"],
  [{ amount: "", currency: "USD" },     "9757ba4c1e8cbfb2347e660619f65de9a5e54001"],
];

test("captures and returns sign minor units and currency, or neither without an amount", () => {
  const ids = { client_orderid: "invoice-1", orderid: "77000001" };
  for (const [sent, expected] of followUps) {
    const asked = new Map(Object.entries({ ...ids, ...sent }));

    for (const { control } of [operationFacts.capture, operationFacts.return]) {
      assert.equal(sign(control, { ...merchant, values: asked }), expected);
    }
  }
});

test("an account verification is signed over endpoint, order, email and key", () => {
  const control = sign(operationFacts.accountVerification.control, { ...merchant, values });

  assert.equal(control, "1a7c1233ba1f381f384cbd324a2cc1a8ab9b1c89");
});

test("a synchronous request is signed as its twin", () => {
  for (const name of ["sale", "preauth", "capture", "return", "accountVerification"] as const) {
    assert.deepEqual(syncOperationFacts[name].control, operationFacts[name].control);
  }
});

test("a signed field that is not sent counts as empty", () => {
  const control = sign(operationFacts.status.control, { ...merchant, values });

  assert.equal(control, "c46b39cf8e3485b098993b77803a3eff1b6f0f96");
});

test("text is signed as UTF-8", () => {
  const asked = new Map([["client_orderid", "Größe-ß"]]);

  const control = sign(operationFacts.status.control, { ...merchant, values: asked });
  assert.equal(control, "795f16fbde5d3c6d6b6e487efe8de5694f850fee");
});
