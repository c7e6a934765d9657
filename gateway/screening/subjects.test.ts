/**
 * Payments of the same payer, address or device are counted together, however these are written.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draft } from "../orders/testing.ts";
import { networkOf, type Subject, subjectOf } from "./rule.ts";

// biome-ignore format: a table
const addresses: readonly (readonly [address: string, network: string])[] = [
  ["203.0.113.7",                "203.0.113.7"],
  ["::ffff:203.0.113.7",         "203.0.113.7"],
  ["::ffff:cb00:7107",           "203.0.113.7"],
  ["2001:db8::1",                "2001:db8:0:0::/64"],
  ["2001:0DB8:0:0:ffff::1",      "2001:db8:0:0::/64"],
  ["2001:db8:0:1::1",            "2001:db8:0:1::/64"],
  ["::1",                        "0:0:0:0::/64"],
];

test("an IPv6 subscriber is one, whichever address of the network is used", () => {
  for (const [address, network] of addresses) assert.equal(networkOf(address), network);
});

test("an email counts without regard to case, and a device by its browser and address", () => {
  const { purchase } = draft;
  const customer = { ...purchase.customer, email: " Jane@Example.com" };
  const browser = { customer_browser_user_agent: "a", customer_browser_time_zone: "60" };
  const seen = { ...purchase, customer, browser };
  const reordered = { ...seen, browser: Object.fromEntries(Object.entries(browser).reverse()) };
  const elsewhere = { ...seen, ipAddress: "203.0.113.8" };

  const of = (subject: Subject, known: typeof purchase) =>
    subjectOf(subject, { ...draft, purchase: known }, undefined);
  assert.equal(of("email", seen), "jane@example.com");
  const purpose = { ...purchase, purpose: " Rent " };
  assert.equal(of("purpose", purpose), "rent");
  assert.equal(of("device", reordered), of("device", seen));
  assert.notEqual(of("device", elsewhere), of("device", seen));
  for (const subject of ["card", "email", "device", "purpose"] as const) {
    assert.equal(of(subject, purchase), undefined);
  }
  const noCard = { ...draft, card: { ...draft.card, bin: "" } };
  assert.equal(of("bin", purchase), draft.card.bin);
  assert.equal(subjectOf("bin", noCard, undefined), undefined);
});
