/** The result as a shop receives it: its fields, its signature, and its address. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import type { ChargebackStage, Order, ReturnUrls, Stage } from "../orders/order.ts";
import { approved, asks, events, inStage, meet } from "../orders/testing.ts";
import { findNamed } from "../orders/transactions.ts";
import { browserReturnOf, isOver, printResult } from "./result.ts";
import { makeStatusReader } from "./status.ts";

const key = "1F4C6A90-0A7D-4D6C-9B0D-0F6E2C6F0A11";
const sign = (text: string) => hash("sha1", text + key);
const print = (order: Order) => printResult({ order, transaction: order.transaction }, { sign });

test("an approved sale tells its fields in the documented order, signed", () => {
  const sale = withMerchantData(approved(), "cart 7");

  const fields = print(sale);

  assert.deepEqual(fields, [
    ["status", "approved"],
    ["orderid", "42000001"],
    ["client_orderid", "invoice-1"],
    ["merchant_order", "invoice-1"],
    ["type", "sale"],
    ["amount", "10.42"],
    ["currency", "USD"],
    ["descriptor", "SHOP"],
    ["processor-tx-id", "107073092653001"],
    ["processor-rrn", sale.transaction.identifiers?.reference],
    ["approval-code", "731904"],
    ["bin", "400000"],
    ["last-four-digits", "0018"],
    ["card-type", "VISA"],
    ["card-holder-name", "JANE DOE"],
    ["gate-partial-reversal", "enabled"],
    ["gate-partial-capture", "enabled"],
    ["serial-number", "s-1"],
    ["merchantdata", "cart 7"],
    ["control", hash("sha1", `approved42000001invoice-1${key}`)],
  ]);
});

test("an approved sale without an id of the network has the reference in its place", () => {
  const sale = approved();
  const { answer, identifiers } = sale.transaction;
  assert.ok(answer !== undefined);
  const transaction = { ...sale.transaction, answer: { ...answer, networkId: undefined } };

  const fields = new Map(print({ ...sale, transaction }));

  assert.equal(fields.get("processor-tx-id"), identifiers?.reference);
});

test("a decline tells why", () => {
  const declined = ended("declined");

  const fields = new Map(print(declined));

  assert.equal(fields.get("status"), "declined");
  assert.equal(fields.get("error_code"), "116");
  assert.equal(fields.get("error_message"), "INSUFFICIENT_FUNDS: [51]");
  assert.equal(fields.get("control"), sign("declined42000001invoice-1"));
});

test("a stage of a dispute is told as a transaction of its own, with the control of the approved sale", () => {
  const types: readonly (readonly [ChargebackStage, string])[] = [
    ["retrieval", "retrieval"],
    ["first", "chargeback"],
    ["representment", "dispute"],
    ["pre-arbitration", "chargeback"],
    ["arbitration", "chargeback"],
    ["reversed", "chargeback-reversal"],
    ["fraud", "fraud"],
  ];
  const sale = approved();
  for (const [stage, type] of types) {
    const chargeback = { ...events.charged_back.chargeback, stage };
    const disputed = meet(sale, { ...events.charged_back, chargeback });
    const found = findNamed(disputed, chargeback.serialNumber);
    assert.ok(found !== undefined);

    const fields = new Map(printResult(found, { sign }));

    assert.equal(fields.get("type"), type);
    assert.equal(makeStatusReader(found)("order-stage"), `${type}_approved`);
    assert.equal(fields.get("serial-number"), "d-1");
    assert.equal(fields.get("case-id"), "C1");
    assert.equal(fields.get("chargeback-stage"), stage);
    assert.equal(fields.get("amount"), "10.42");
    assert.equal(fields.get("reason-code"), undefined);
    assert.equal(fields.get("control"), new Map(print(sale)).get("control"));
  }
});

test("a later return does not change what the browser brings back", () => {
  const returned = meet(approved(), asks("return"));

  const brought = browserReturnOf(returned, { sign, merchantName: "Shop" });

  assert.ok(isOver(returned));
  assert.equal(brought.status, "approved");
  assert.equal(new Map(brought.fields).get("type"), "sale");
  assert.equal(new Map(print(returned)).get("type"), "reversal");
});

const all = { redirect: "https://a", redirectSuccess: "https://b", redirectFail: "https://c" };
const success = { redirectSuccess: "https://b" };
const fail = { redirectFail: "https://c" };
const any = { redirect: "https://a" };

// biome-ignore format: a table
const returns: readonly (readonly [stage: Stage, urls: Partial<ReturnUrls>, url: string | undefined])[] = [
  ["approved", all,     "https://b"],
  ["approved", any,     "https://a"],
  ["approved", fail,    undefined],
  ["declined", all,     "https://c"],
  ["declined", any,     "https://a"],
  ["declined", success, undefined],
  ["filtered", all,     "https://c"],
  ["filtered", any,     "https://a"],
  ["error",    all,     "https://a"],
  ["error",    fail,    undefined],
  ["error",    {},      undefined],
];

test("the result decides which of the shop's addresses the browser is sent to", () => {
  for (const [stage, urls, url] of returns) {
    const order = ended(stage);
    const purchase = { ...order.purchase, urls: { ...order.purchase.urls, ...urls } };

    const brought = browserReturnOf({ ...order, purchase }, { sign, merchantName: "Shop" });

    assert.equal(brought.url, url, `${stage} ${Object.keys(urls)}`);
    assert.equal(brought.amount, "10.42 USD");
    assert.equal(brought.cardMask, "400000****0018");
  }
});

function ended(stage: Stage): Order {
  const order = inStage(stage);
  const { reason } = events.refused;
  return stage === "approved" ? order : { ...order, transaction: { ...order.transaction, reason } };
}

function withMerchantData(order: Order, merchantData: string): Order {
  return { ...order, purchase: { ...order.purchase, merchantData } };
}
