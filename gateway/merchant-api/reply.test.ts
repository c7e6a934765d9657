/** The form of replies as they are sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { approved, events, inStage, meet } from "../orders/testing.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import type { CalledParts } from "./operation.ts";
import { formatFor, pollReply, type ReplyFormat, writeReply } from "./reply.ts";

const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const plain = { fieldWord: "gw", lineFeeds: false };
const reply = {
  type: "status-response",
  orderId: "77",
  clientOrderId: "a&b=c",
  fields: [
    ["status", "approved"],
    ["name", "Jürgen Doe"],
    ["eci", undefined],
    ["state", ""],
    ["gw-processing-date", "d"],
  ],
} as const;

test("fields come in the fixed order, encoded, and absent ones are left out", () => {
  assert.equal(
    writeReply(reply, serialNumber, "form", plain),
    `type=status-response&serial-number=${serialNumber}&merchant-order-id=a%26b%3Dc` +
      "&gw-order-id=77&status=approved&name=J%C3%BCrgen+Doe&gw-processing-date=d",
  );
});

test("the operator's word stands in the two names that have one", () => {
  const form = writeReply(reply, serialNumber, "form", { ...plain, fieldWord: "acme" });

  assert.match(form, /&acme-order-id=77&.*&acme-processing-date=d$/);
  assert.doesNotMatch(form, /gw-/);
});

test("a reply that is sent again has the same text, but for its serial number", () => {
  const next = asSerialNumber("0195933a-7c48-7000-8000-000000000002");
  for (const wire of [plain, { ...plain, lineFeeds: true }]) {
    const cached = { ...reply, texts: {} };
    for (const format of ["form", "json"] as const) {
      for (const serial of [serialNumber, next, next]) {
        const written = writeReply(cached, serial, format, wire);
        assert.equal(written, writeReply(reply, serial, format, wire));
      }
    }
  }
});

test("an ended order is printed once, an open one and a verification each time", async () => {
  let settings = { tellsChargebacks: false };
  const services = {
    threeds: { stepOf: () => undefined },
    cards: { register: async () => new Failure("card_reference_removed") },
    settingsOf: () => settings,
    printDate: () => "",
  } as unknown as CalledParts;
  const poll = (order: Order) => pollReply({ order, transaction: order.transaction }, services);
  const isPrintedOnce = async (order: Order) => {
    const [first, second] = [await poll(order), await poll(order)];
    return first === second;
  };
  const disputed = meet(approved(), events.charged_back);
  const tellsOf = async () =>
    JSON.stringify(await poll(disputed)).includes('"chargeback-reason","10.4"');

  assert.equal(await isPrintedOnce(disputed), true);
  assert.equal(await isPrintedOnce(inStage("authorizing")), false);
  assert.equal(await isPrintedOnce(approved("account-verification")), false);
  assert.equal(await tellsOf(), false);
  settings = { tellsChargebacks: true };
  assert.equal(await tellsOf(), true);
});

test("with line feeds every value ends with one", () => {
  const form = writeReply(reply, serialNumber, "form", { ...plain, lineFeeds: true });

  assert.equal(form.split("\n").length - 1, 7);
  assert.match(form, /^type=status-response\n&serial-number=.*\n&/);
  assert.ok(form.endsWith("=d\n"));
});

test("a refusal has its type, serial number, message and number, and nothing else", () => {
  const failure = new Failure("invalid_parameter", "email: not an email address", "the cause");

  assert.equal(
    writeReply(failure, serialNumber, "form", plain),
    `type=validation-error&serial-number=${serialNumber}` +
      "&error-message=INVALID_PARAMETER%3A+email%3A+not+an+email+address&error-code=5",
  );
});

test("JSON has the same fields as strings", () => {
  const json = JSON.parse(writeReply(reply, serialNumber, "json", plain));

  assert.deepEqual(json, {
    type: "status-response",
    "serial-number": serialNumber,
    "merchant-order-id": "a&b=c",
    "gw-order-id": "77",
    status: "approved",
    name: "Jürgen Doe",
    "gw-processing-date": "d",
  });
});

/** The `Accept` headers that get JSON. */
// biome-ignore format: a table
const wishes: readonly (readonly [accept: string | undefined, format: ReplyFormat])[] = [
  [undefined,                                              "form"],
  ["",                                                     "form"],
  ["*/*",                                                  "form"],
  ["text/html",                                            "form"],
  ["application/xml",                                      "form"],
  ["application/*",                                        "form"],

  ["application/json",                                     "json"],
  ["APPLICATION/JSON",                                     "json"],
  ["application/json;charset=utf-8",                       "json"],
  ["application/json, application/xml",                    "json"],
  ["application/json, application/*",                      "json"],
  ["application/json, text/javascript, */*; q=0.01",       "json"],
  ["text/html;q=0.8, application/json",                    "json"],
  ["text/html;q=0.8, application/json ; q=0.9 , */*;q=0.1", "json"],
  ["application/json;q=0.001",                             "json"],
  ["application/json;Q=1.000, text/*;q=0.999",             "json"],
  ["application/json;profile=\"a;b,c\"",                   "json"],

  // Headers that HTTP libraries send by default, and headers with ties.
  ["application/json, text/plain, */*",                    "form"],
  ["application/json, */*;q=1.0",                          "form"],
  ["application/json;q=0.9, */*",                          "form"],
  ["application/json;q=0.5, text/*;q=0.5",                 "form"],
  ["text/html, application/json",                          "form"],
  ["application/xml, application/json;q=0.9",              "form"],
  ["text/html, application/xhtml+xml, application/xml;q=0.9, application/json;q=0.8", "form"],

  // Headers without weights, and with malformed ones.
  ["application/json;q=0",                                 "form"],
  ["application/json;q=0.000",                             "form"],
  ["application/json;q=0, application/xml;q=0",            "form"],
  ["application/json;q=2",                                 "form"],
  ["application/json;q=-1",                                "form"],
  ["application/json;q=0.1234",                            "form"],
  ["application/json;q=high",                              "form"],
  ["application/json;q=",                                  "form"],
  ["application/jsonp",                                    "form"],
  ["json",                                                 "form"],
  ["text/html;q=high, application/json;q=0.5",             "json"],
  [",,;;, application/json,",                              "json"],

  ["application/vnd.pay+json",                             "json"],
  ["Application/Vnd.Pay+JSON;q=0.1, */*",                  "json"],
  ["text/html, application/vnd.pay+json",                  "json"],
  ["application/vnd.pay+json;q=0, */*",                    "form"],
  ["application/vnd.pay+json;q=0, application/json",       "json"],
  ["application/vnd.other+json",                           "form"],
];

test("JSON is for clients that prefer it to every type the form could pass for", () => {
  for (const [accept, format] of wishes) assert.equal(formatFor(accept), format, String(accept));
});
