/** Each usual mistake with a checksum is named, and neither the key nor a checksum is revealed. */
import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import { test } from "node:test";
import { Secret } from "../values/secret.ts";
import { findMistakes, holdsKey } from "./checksum-mistakes.ts";
import { capture, makeRebill, sale } from "./operations/payments.ts";
import { signedParts } from "./signed-parts.ts";
import { entryPoint } from "./testing.ts";

const key = "top-secret-key";
const fields = {
  client_orderid: "order-7",
  amount: "10.4",
  currency: "USD",
  email: "Jane.Dvořák@example.com",
};
const right = `1001order-71040${fields.email}`;
const sha1 = (text: string) => hash("sha1", text, "hex");

function mistakesOf(control: string, changed: object = {}, operation = sale) {
  const raw = new Map(Object.entries<string>({ ...fields, ...changed, control }));
  const sent = new Map([...raw].map(([name, value]) => [name, value.trim()]));
  const others = { otherIds: ["1007", "1002"], otherKeys: [new Secret("another-merchants-key")] };
  return findMistakes({ terms: operation.control, sent, raw, entryPoint, ...others });
}

// biome-ignore format: a table
const table: readonly (readonly [kind: string, detail: string, control: string])[] = [
  ["amount_form",    "10.4",    sha1(`1001order-710.4${fields.email}${key}`)],
  ["amount_form",    "10,40",   sha1(`1001order-710,40${fields.email}${key}`)],
  ["amount_form",    "10.40",   sha1(`1001order-710.40${fields.email}${key}`)],
  ["amount_form",    "104",     sha1(`1001order-7104${fields.email}${key}`)],
  ["amount_form",    "10",      sha1(`1001order-710${fields.email}${key}`)],
  ["other_id",       "1007",    sha1(`1007order-71040${fields.email}${key}`)],
  ["login_for_id",   "",        sha1(`acmeorder-71040${fields.email}${key}`)],
  ["no_id",          "",        sha1(`order-71040${fields.email}${key}`)],
  ["missing",        "email",   sha1(`1001order-71040${key}`)],
  ["missing",        "amount",  sha1(`1001order-7${fields.email}${key}`)],
  ["extra",          "currency", sha1(`1001order-71040USD${fields.email}${key}`)],
  ["extra",          "login",   sha1(`acme${right}${key}`)],
  ["order",          "client_orderid, {id}, amount, email", sha1(`order-710011040${fields.email}${key}`)],
  ["url_encoded",    "",        sha1(`1001order-71040${encodeURIComponent(fields.email)}${key}`)],
  ["letter_case",    "",        sha1(`1001order-71040${fields.email.toLowerCase()}${key}`)],
  ["key_first",      "",        sha1(key + right)],
  ["no_key",         "",        sha1(right)],
  ["key_form",       "upper case", sha1(right + key.toUpperCase())],
  ["key_form",       "no hyphens", sha1(`${right}topsecretkey`)],
  ["key_as_control", "",        key],
  ["other_key",      "",        sha1(`${right}another-merchants-key`)],
  ["line_end",       "\\n",     sha1(`${right}${key}\n`)],
  ["line_end",       "space",   sha1(`${right}${key} `)],
  ["latin1",         "",        hash("sha1", Buffer.from(right + key, "latin1"), "hex")],
  ["digest",         "MD5",     hash("md5", right + key, "hex")],
  ["digest",         "SHA-256", hash("sha256", right + key, "hex").slice(0, 40)],
  ["digest",         "SHA-512", hash("sha512", right + key, "hex")],
  ["digest",         "HMAC-SHA1", createHmac("sha1", key).update(right).digest("hex")],
  ["base64",         "",        hash("sha1", right + key, "base64")],
  ["separator",      "|",       sha1(`1001|order-7|1040|${fields.email}|${key}`)],
];

for (const [kind, detail, control] of table) {
  test(`${kind} ${detail} is named`, () => {
    assert.deepEqual(mistakesOf(control), [{ kind, detail }]);
    if (!["base64", "key_as_control"].includes(kind)) {
      assert.deepEqual(mistakesOf(control.toUpperCase()), [{ kind, detail }]);
    }
  });
}

test("two mistakes are named together", () => {
  const control = sha1(`1007order-710.4${fields.email}${key}`);

  assert.deepEqual(mistakesOf(control), [
    { kind: "amount_form", detail: "10.4" },
    { kind: "other_id", detail: "1007" },
  ]);
});

test("values with white space around them are tried as they were sent", () => {
  const client_orderid = "order-7 \n";
  const control = sha1(`1001${client_orderid}1040${fields.email}${key}`);

  assert.deepEqual(mistakesOf(control, { client_orderid }), [{ kind: "untrimmed", detail: "" }]);
});

test("an amount with a comma is read as one with a point, and its form is named", () => {
  assert.deepEqual(mistakesOf(sha1(`1001order-710,42${fields.email}${key}`), { amount: "10,42" }), [
    { kind: "amount_form", detail: "10,42" },
  ]);
});

test("a right checksum has no mistake, whichever case and whichever of two forms", () => {
  assert.equal(mistakesOf(sha1(right + key)), undefined);
  assert.equal(mistakesOf(sha1(right + key).toUpperCase()), undefined);
  const rebill = { login: "acme", cardrefid: "55" };
  const text = `acmeorder-7551040USD${key}`;
  assert.equal(mistakesOf(sha1(`1001${text}`), rebill, makeRebill), undefined);
  assert.equal(mistakesOf(sha1(text), rebill, makeRebill), undefined);
});

test("what is right but for its login, or for the version, is told apart", () => {
  const login = "somebody";
  assert.deepEqual(mistakesOf(sha1(right + key), { login }), [{ kind: "other_login", detail: "" }]);
});

test("a checksum of something else is explained by nothing", () => {
  assert.deepEqual(mistakesOf(sha1("anything")), []);
  assert.deepEqual(mistakesOf(""), []);
});

test("a value in which the key was sent is recognised in any case", () => {
  assert.ok(holdsKey(entryPoint.merchant, `x${key.toUpperCase()}y`));
  assert.ok(!holdsKey(entryPoint.merchant, "top-secret"));
});

test("the parts are shown in the order of the formula, an amount only where one was sent", () => {
  const named = (sent: Readonly<Record<string, string>>) =>
    signedParts(capture.control, new Map(Object.entries(sent)), entryPoint);
  const ids = { login: "acme", client_orderid: "a", orderid: "9" };

  assert.deepEqual(
    named(ids).map(({ value }) => value),
    ["acme", "a", "9"],
  );
  const money = { ...ids, amount: "1.5", currency: "USD" };
  assert.deepEqual(
    named(money).map(({ value }) => value),
    ["acme", "a", "9", "150", "USD"],
  );
});
