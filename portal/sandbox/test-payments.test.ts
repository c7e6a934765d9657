/** Tests the sandbox's payments against the bank's catalogue, and the comparison of ledgers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scenarios } from "../../sandbox-bank/scenarios.ts";
import {
  comparisonOf,
  describeCard,
  endpointFor,
  endpointNamed,
  payments,
} from "./test-payments.ts";

const sandbox = {
  endpoints: [
    { id: "3", name: "plain", currency: "USD" },
    { id: "4", name: "secure", currency: "USD" },
  ],
};

for (const [name, { card, endpoint }] of Object.entries(payments)) {
  test(`the payment ${name} uses a card of the bank, at an endpoint where that card has its effect`, () => {
    const scenario = scenarios.find((each) => each.name === card);

    assert.ok(scenario !== undefined, card);
    assert.equal(endpointNamed(endpoint, sandbox), endpointFor(scenario.group, sandbox));
  });
}

test("every test card of 3-D Secure is used at an endpoint with 3-D Secure", () => {
  for (const { name, group, emv3ds, threeds102 } of scenarios) {
    const isSecure = emv3ds !== undefined || threeds102?.kind.startsWith("enrolled");
    if (isSecure) assert.equal(endpointFor(group, sandbox), "4", name);
  }
  assert.equal(endpointFor("Acquirer behaviour", sandbox), "3");
  assert.equal(endpointNamed("missing", sandbox), "");
});

// biome-ignore format: a table
const described = [["51", "declined with code 51"], ["N7", "declined with code N7"], ["ARes Y", "ARes Y"], ["no answer", "no answer"]] as const;

test("a plain decline shows its response code, and other cards show the bank's description", () => {
  for (const [what, text] of described) assert.equal(describeCard(what), text);
});

// biome-ignore format: a table
const booked = [
  [false, false, "approved",   "agrees"],
  [false, true,  "declined",   "differs"],
  [true,  true,  "processing", "open"],
] as const;

for (const [isOpen, differs, colour, word] of booked) {
  test(`an order reads “${word}” when it is ${isOpen ? "open" : "ended"} and ${differs ? "differs" : "agrees"}`, () => {
    assert.deepEqual(comparisonOf({ isOpen, differs }), [colour, word]);
  });
}
