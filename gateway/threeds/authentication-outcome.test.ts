/** The meaning of each status for an order, and the indicator of each network. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draft } from "../orders/testing.ts";
import type { Network } from "../values/card-number.ts";
import { eciOf, eciOfToken, outcomeOf, type ThreeDSecurePolicy } from "./authentication-outcome.ts";

// biome-ignore format: a table
const outcomes: readonly (readonly [status: string, policy: ThreeDSecurePolicy, isDemanded: boolean, outcome: string, detail: string | undefined])[] = [
  ["Y", "when_possible", false, "authenticated",         "05"],
  ["A", "when_possible", false, "authenticated",         "06"],
  ["N", "when_possible", false, "authentication_failed", "authentication_failed"],
  ["R", "when_possible", false, "authentication_failed", "authentication_rejected"],
  ["U", "when_possible", false, "left_unauthenticated",  "07"],
  ["?", "when_possible", false, "left_unauthenticated",  "07"],
  ["U", "always",        false, "authentication_failed", "authentication_missing"],
  ["U", "when_possible", true,  "authentication_failed", "declined"],
  ["Y", "always",        true,  "authenticated",         "05"],
];

for (const [status, policy, isDemanded, expected, detail] of outcomes) {
  const demand = isDemanded ? " that the issuer has demanded" : "";
  test(`status ${status} of an authentication${demand}, policy ${policy}: ${expected}`, () => {
    const demanded = isDemanded ? ({ demanded: { code: "declined", detail: "65" } } as const) : {};
    const order = { ...draft, transaction: { ...draft.transaction, ...demanded } };

    const outcome = outcomeOf(order, { status }, policy);

    assert.equal(outcome.kind, expected);
    const failed = outcome.kind === "authentication_failed";
    assert.equal(failed ? outcome.reason.code : outcome.authentication.eci, detail);
  });
}

test("the issuer's own indicator and proof are kept", () => {
  const result = { status: "Y", eci: "02", value: "AAA=", directoryTransactionId: "d-1" };

  const outcome = outcomeOf(draft, result, "always");

  assert.deepEqual(outcome.authentication, { ...result, status: "AUTHENTICATED" });
});

// biome-ignore format: a table
const indicators: readonly (readonly [network: Network | undefined, full: string, attempt: string, none: string | undefined])[] = [
  ["VISA",       "05", "06", "07"],
  ["MASTERCARD", "02", "01", "00"],
  ["MAESTRO",    "02", "01", "00"],
  ["MIR",        "02", "01", undefined],
  [undefined,    "05", "06", "07"],
];

test("each network has its own indicators", () => {
  for (const [network, ...expected] of indicators) {
    const found = (["full", "attempt", "none"] as const).map((each) => eciOf(network, each));
    assert.deepEqual(found, expected, String(network));
  }
});

// biome-ignore format: a table
const tokens: readonly (readonly [network: Network | undefined, walleta: string, walletb: string])[] = [
  ["VISA",       "07", "07"],
  ["MASTERCARD", "02", "06"],
  ["MAESTRO",    "02", "06"],
  ["AMEX",       "05", "05"],
  [undefined,    "05", "05"],
];

test("a wallet's token without an indicator is the merchant's risk where its table says so", () => {
  for (const [network, walleta, walletb] of tokens) {
    assert.equal(eciOfToken("walleta", network), walleta, String(network));
    assert.equal(eciOfToken("walletb", network), walletb, String(network));
  }
});
