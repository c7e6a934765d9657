/**
 * The checksum: the values that it covers, and wrong checksums, which are all refused in the same
 * way.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { checkControl } from "./control.ts";
import { sale } from "./operations/payments.ts";
import { status } from "./operations/status.ts";
import { rebillControl } from "./recurring.ts";
import { entryPoint, group } from "./testing.ts";

const request = {
  client_orderid: "invoice-1",
  amount: "10.42",
  currency: "USD",
  email: "jane@example.com",
};

/** The SHA-1 of `1001invoice-11042jane@example.comtop-secret-key`, computed by another program. */
const control = "00e6bdeba6a1bb0729d0d92b361bb8dc5bfb092d";

test("a sale is signed over endpoint, order, minor units, email and key", () => {
  assert.equal(check({ control }), undefined);
});

test("upper and lower case of the checksum are the same, and so are equal amounts", () => {
  assert.equal(check({ control: control.toUpperCase() }), undefined);
  assert.equal(check({ control, amount: "010.42" }), undefined);
});

test("the merchant's own login may be sent with a sale, and no other", () => {
  assert.equal(check({ control, login: "acme" }), undefined);
  assert.equal(check({ control, login: "other" }), "control_mismatch");
  assert.equal(check({ control, login: "ACME" }), "control_mismatch");
});

// biome-ignore format: a table
const wrong: readonly (readonly [what: string, change: Readonly<Record<string, string>>])[] = [
  ["another order",      { client_orderid: "invoice-2" }],
  ["another amount",     { amount: "10.43" }],
  ["another exponent",   { currency: "KWD" }],
  ["another email",      { email: "joe@example.com" }],
  ["no email",           { email: "" }],
  ["no checksum",        { control: "" }],
  ["one digit off",      { control: control.replace(/.$/, "e") }],
  ["too short",          { control: control.slice(2) }],
  ["not hexadecimal",    { control: "z".repeat(40) }],
  ["half hexadecimal",   { control: `${control.slice(0, 38)}zz` }],
];

test("a request that is not what was signed is refused", () => {
  for (const [what, change] of wrong) {
    assert.equal(check({ control, ...change }), "control_mismatch", what);
  }
});

test("a checksum of an endpoint is not one of a group", () => {
  const sent = new Map(Object.entries({ ...request, control }));

  assert.equal(checkControl(sale.control, sent, group)?.code, "control_mismatch");
});

test("a recurrent payment may be signed with the endpoint id or without it", () => {
  const values = { ...request, login: "acme", cardrefid: "7302946158017725431" };
  const signed = (text: string) => createHash("sha1").update(text).digest("hex");
  const rest = "acmeinvoice-173029461580177254311042USDtop-secret-key";
  const verdict = (sent: string) =>
    checkControl(rebillControl, new Map(Object.entries({ ...values, control: sent })), entryPoint);

  assert.equal(verdict(signed(`1001${rest}`)), undefined);
  assert.equal(verdict(signed(rest)), undefined);
  assert.equal(verdict(signed(`1002${rest}`))?.code, "control_mismatch");
});

test("more fraction digits than the currency has are said to be so", () => {
  const sent = new Map(Object.entries({ ...request, amount: "10.421", control }));

  const failure = checkControl(sale.control, sent, entryPoint);
  assert.equal(failure?.code, "invalid_parameter");
  assert.match(failure?.detail ?? "", /^amount: /);
});

test("status is signed over login, order, order id and key; an absent order id is empty", () => {
  const ids = { login: "acme", client_orderid: "invoice-1" };
  const withId = {
    ...ids,
    orderid: "77000001",
    control: "9757ba4c1e8cbfb2347e660619f65de9a5e54001",
  };
  const without = { ...ids, control: "c46b39cf8e3485b098993b77803a3eff1b6f0f96" };

  for (const sent of [withId, without]) {
    assert.equal(
      checkControl(status.control, new Map(Object.entries(sent)), entryPoint),
      undefined,
    );
  }
});

test("the serial number that a status request asks about is not signed", () => {
  const sent = {
    login: "acme",
    client_orderid: "invoice-1",
    "by-request-sn": "anything",
    control: "c46b39cf8e3485b098993b77803a3eff1b6f0f96",
  };

  assert.equal(checkControl(status.control, new Map(Object.entries(sent)), entryPoint), undefined);
});

function check(change: Readonly<Record<string, string>>) {
  const sent = new Map(Object.entries({ ...request, ...change }));
  return checkControl(sale.control, sent, entryPoint)?.code;
}
