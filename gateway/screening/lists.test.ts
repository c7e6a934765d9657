/**
 * Allow and block lists: the values of each kind, the orders that they match, and which entry
 * decides.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Customer } from "../orders/order.ts";
import { draft } from "../orders/testing.ts";
import { asEndpointId, asMerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { later } from "../values/time.ts";
import { findKind, type ListEntry, type ListedOrder, type ListKind, makeLists } from "./lists.ts";

type Changes = Partial<Customer> & {
  readonly ip?: string;
  readonly bin?: string;
  readonly hashId?: string;
  readonly issuer?: string;
  readonly purpose?: string;
  readonly cardDigest?: string;
  readonly prefix?: string;
};

function orderWith(changes: Changes): ListedOrder {
  const { ip, bin, hashId, issuer, purpose, cardDigest, prefix, ...customer } = changes;
  return {
    ...draft,
    cardDigest,
    prefix,
    card: {
      ...draft.card,
      ...(bin !== undefined && { bin }),
      ...(hashId !== undefined && { hashId }),
      ...(issuer !== undefined && { issuer: { country: issuer } }),
    },
    purchase: {
      ...draft.purchase,
      ipAddress: ip ?? draft.purchase.ipAddress,
      purpose,
      customer: { ...draft.purchase.customer, ...customer },
    },
  };
}

let ids = 0;

function entry(kind: ListKind, text: string, more: Partial<ListEntry> = {}): ListEntry {
  const value = findKind(kind)?.read(text);
  assert.ok(typeof value === "string", `${kind} ${text}`);
  ids += 1;
  return { id: String(ids), list: "block", kind, value, reason: "", ...more };
}

function listsOf(...entries: readonly ListEntry[]) {
  const lists = makeLists();
  for (const each of entries) lists.put(each);
  return lists;
}

const digest = "0123456789abcdef";

// biome-ignore format: a table
const found: readonly (readonly [kind: ListKind, text: string, order: Changes, isFound: boolean])[] = [
  ["card",  "613942",                  {},                                    true],
  ["card",  "613943",                  {},                                    false],
  ["card",  `all:${digest}`,              { cardDigest: digest },                      true],
  ["card",  `all:${digest}`,              { cardDigest: "fedcba9876543210" },       false],
  ["email", "Jane.Doe@Example.COM",    { email: "JANE.doe@example.com" },     true],
  ["email", "janedoe@gmail.com",       { email: "jane.doe@gmail.com" },       false],
  ["email", "jane@gmail.com",          { email: "jane+shop@gmail.com" },      false],
  ["email", "jane@bücher.example",     { email: "jane@XN--bcher-KVA.example" }, true],
  ["phone", "+49 (0) 30 1234567",      { phone: "+49(30)1234567" },           true],
  ["phone", "0049301234567",           { cellPhone: "+49 30 1234567" },       true],
  ["phone", "+49301234567",            { phone: "+49301234568" },             false],
  ["ip",    "203.0.113.7",             {},                                    true],
  ["ip",    "203.0.113.0/29",          {},                                    true],
  ["ip",    "203.0.113.8/29",          {},                                    false],
  ["ip",    "203.0.113.7",             { ip: "::ffff:203.0.113.7" },          true],
  ["ip",    "::ffff:203.0.113.0/120",  {},                                    true],
  ["ip",    "2001:db8::/32",           { ip: "2001:0DB8:ffff::1" },           true],
  ["ip",    "2001:db8::/32",           { ip: "2001:db9::1" },                 false],
  ["email-domain", "@example.com",     { email: "a@mail.EXAMPLE.com" },       true],
  ["email-domain", "example.com",      { email: "a@notexample.com" },         false],
  ["email-domain", "example.com",      { email: "a@example.com.evil.net" },   false],
  ["email-domain", "BÜCHER.example.",  { email: "a@xn--bcher-kva.example" },  true],
  ["bin",   "400000",                  {},                                    true],
  ["bin",   "40000010",                { prefix: "40000010001" },             true],
  ["bin",   "40000010",                { prefix: "40000011001" },             false],
  ["bin",   "399990-400009",           {},                                    true],
  ["bin",   "400001-499999",           {},                                    false],
  ["bin",   "000000-399999",           {},                                    false],
  ["purpose", " Wallet  42 ",          { purpose: "WALLET  42" },             true],
  ["purpose", "wallet",                { purpose: "wallet 42" },              false],
  ["issuer-country", "de",             { issuer: "DEU" },                     true],
  ["issuer-country", "DEU",            { issuer: "AUT" },                     false],
  ["payer-country",  "DEU",            { country: "DE" },                     true],
  ["payer-country",  "AT",             {},                                    false],
];

for (const [kind, text, changes, isFound] of found) {
  test(`${kind} ${text} ${isFound ? "names" : "leaves"} ${JSON.stringify(changes)}`, () => {
    const lists = listsOf(entry(kind, text));

    assert.equal(lists.find(orderWith(changes)) !== undefined, isFound);
  });
}

// biome-ignore format: a table
const refused: readonly (readonly [ListKind, string])[] = [
  ["card", ""], ["card", "abc"], ["card", "all:short"], ["card", "4000001000000018 "],
  ["email", "jane"], ["email", "a@b@example.com"], ["email", "jane@localhost"], ["email", "j e@example.com"],
  ["phone", "12345"], ["phone", "+49 call me"], ["phone", "1234567890123456"],
  ["ip", "203.0.113.7/24"], ["ip", "203.0.113.0/33"], ["ip", "0.0.0.0/0"], ["ip", "203.0.113"],
  ["ip", "0xcb.0.113.7"], ["ip", "0203.0.113.7"], ["ip", "2001:db8::/129"], ["ip", "2001:db8::1/64"], ["ip", "::/0"],
  ["ip", "fe80::1%eth0"], ["ip", "203.0.113.0/24/8"], ["ip", "203.0.113.0/ 24"], ["ip", "::ffff:0.0.0.0/96"],
  ["email-domain", "com"], ["email-domain", "exa mple.com"], ["email-domain", "-.com"], ["email-domain", ""],
  ["bin", "40000"], ["bin", "400000100000"], ["bin", "400009-400000"], ["bin", "400000-4000999"], ["bin", "4000x0"],
  ["purpose", " "], ["purpose", "a\u0000b"], ["purpose", "x".repeat(129)],
  ["issuer-country", "XX"], ["payer-country", "Germany"],
];

for (const [kind, text] of refused) {
  test(`${kind} refuses ${JSON.stringify(text)} without repeating it`, () => {
    const problem = findKind(kind)?.read(text);

    assert.ok(problem instanceof Problem);
    assert.ok(text.length < 10 || !problem.sentence.includes(text));
  });
}

test("an entry counts at its merchant or endpoint alone, and until it expires", () => {
  const elsewhere = { merchantId: asMerchantId("8") };
  const here = { merchantId: draft.merchantId, endpointId: draft.endpointId };
  const other = { ...here, endpointId: asEndpointId("9") };
  const order = orderWith({ email: "a@example.com" });
  const isFound = (more: Partial<ListEntry>) =>
    listsOf(entry("email", "a@example.com", more)).find(order) !== undefined;

  assert.equal(isFound(elsewhere), false);
  assert.equal(isFound(other), false);
  assert.equal(isFound(here), true);
  assert.equal(isFound({ expiresAt: order.acceptedAt }), false);
  assert.equal(isFound({ expiresAt: later(order.acceptedAt, 1) }), true);
});

test("the narrowest kind decides, and within a kind the block", () => {
  const order = orderWith({ email: "a@example.com", country: "DE" });
  const allowEmail = entry("email", "a@example.com", { list: "allow" });
  const blockDomain = entry("email-domain", "example.com");
  const blockEmail = entry("email", "a@example.com");
  const blockCountry = entry("payer-country", "DE");
  const allowCard = entry("card", "613942", { list: "allow" });

  assert.equal(listsOf(blockCountry, blockDomain, allowEmail).find(order), allowEmail);
  assert.equal(listsOf(allowEmail, blockEmail).find(order), blockEmail);
  assert.equal(listsOf(blockEmail, allowEmail).find(order), blockEmail);
  assert.equal(listsOf(blockEmail, allowCard).find(order), allowCard);
  const wide = entry("ip", "203.0.113.0/24");
  const narrow = entry("ip", "203.0.113.7", { list: "allow" });
  const blocked = entry("ip", "203.0.113.7");
  assert.equal(listsOf(wide, narrow).find(order), narrow);
  assert.equal(listsOf(narrow, wide).find(order), narrow);
  assert.equal(listsOf(narrow, wide, blocked).find(order), blocked);
});

test("an entry that is replaced or removed leaves nothing behind", () => {
  const lists = listsOf(entry("bin", "400000-400099"), entry("card", `all:${digest}`));
  const order = orderWith({ cardDigest: digest });
  const [card, bin] = [String(ids), String(ids - 1)];

  assert.equal(lists.find(order)?.id, card);
  lists.remove(card);
  assert.equal(lists.needsCardDigest, false);
  assert.equal(lists.find(order)?.id, bin);
  lists.put({ id: bin, list: "block", kind: "bin", value: "500000", reason: "" });
  assert.equal(lists.find(order), undefined);
  lists.remove(bin);
  lists.remove(bin);
  assert.equal(lists.size, 0);
});

test("hundreds of thousands of entries are found as few are", () => {
  const lists = makeLists();
  for (let at = 0; at < 300_000; at += 1) {
    const value = `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`;
    lists.put({ id: String(at), list: "block", kind: "ip", value, reason: "" });
  }

  assert.equal(lists.size, 300_000);
  assert.equal(lists.find(orderWith({ ip: "10.4.147.223" }))?.id, "299999");
  assert.equal(lists.find(orderWith({ ip: "10.4.147.224" })), undefined);
});
