/**
 * The messages for a comparison of totals, in bytes and fields, and the meanings of their answers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encode, type IsoFields } from "@tollgate/protocols/iso8583";
import { getCurrency } from "../../values/iso-codes.ts";
import { startsAt } from "../../values/testing.ts";
import { asInstant } from "../../values/time.ts";
import type { GateKind } from "../gates.ts";
import { dialects } from "./connector.ts";
import { makeRequest, readBalance } from "./own-link.ts";
import { settings } from "./testing/attempts.ts";

const totals = {
  currency: getCurrency("EUR"),
  credits: { count: 1, minor: 200n },
  debits: { count: 3, minor: 3_015n },
  debitReversals: { count: 2, minor: 300n },
};
const day = asInstant(Date.UTC(2030, 0, 31));

function messageOf(kind: GateKind) {
  const { totals: message } = dialects[kind];
  assert.ok(message !== undefined);
  return message;
}

function ask(kind: GateKind, given = totals) {
  const asked = { day, totals: given, at: asInstant(startsAt), index: 0 };
  const request = makeRequest(messageOf(kind), settings, asked);
  return { ...request, hex: encode(dialects[kind].specification, request).toString("hex") };
}

// biome-ignore format: a table
const shared = {
  7:  "1115020406",
  32: "400123",
  41: "TERM01  ",
  42: "MERCHANT01     ",
  50: "978",
  74: "0000000001",
  75: "0000000000",
  76: "0000000003",
  77: "0000000002",
  86: "0000000000000200",
  87: "0000000000000000",
  88: "0000000000003015",
  89: "0000000000000300",
};

test("1987: 0500 with the settlement date, and a letter before the packed net amount", () => {
  const { mti, fields, hex } = ask("iso87_binary");

  const { 11: trace = "", ...others } = fields;
  assert.equal(mti, "0500");
  assert.match(trace, /^\d{6}$/);
  assert.deepEqual(others, { ...shared, 15: "0131", 97: "440000000000002515" });
  assert.ok(hex.endsWith("0000000000003015" + "0000000000000300" + "44" + "0000000000002515"));
});

test("1993: 1500, a checkpoint in one currency with the date of reconciliation", () => {
  const { mti, fields } = ask("iso93_ascii");

  const { 11: _, 12: at = "", ...others } = fields;
  assert.equal(mti, "1500");
  assert.match(at, /1115020406$/);
  assert.deepEqual(others, { ...shared, 24: "503", 28: "300131", 97: "D0000000000002515" });
});

test("refunds above the day's sales are a net credit; sums without room make no message", () => {
  const debits = { count: 1, minor: 100n };
  const huge = { count: 1, minor: 10n ** 16n };

  assert.equal(ask("iso93_ascii", { ...totals, debits }).fields[97], "C0000000000000400");
  assert.equal(ask("iso87_binary", { ...totals, debits }).fields[97], "430000000000000400");
  assert.throws(() => ask("iso87_binary", { ...totals, debits: huge }), /field 88/);
});

// biome-ignore format: a table
const answers: readonly (readonly [GateKind, IsoFields, string | undefined])[] = [
  ["iso87_binary", { 39: "00" },           "in balance"],
  ["iso87_binary", { 39: "00", 66: "1" },  "in balance"],
  ["iso87_binary", { 39: "00", 66: "2" },  "out of balance"],
  ["iso87_binary", { 39: "95" },           "out of balance"],
  ["iso87_binary", { 39: "95", 66: "1" },  "out of balance"],
  ["iso87_binary", { 39: "00", 66: "3" },  undefined],
  ["iso87_binary", { 39: "96", 66: "1" },  undefined],
  ["iso87_binary", { 66: "1" },            undefined],
  ["iso87_binary", {},                     undefined],
  ["iso93_ascii",  { 39: "500" },          "in balance"],
  ["iso93_ascii",  { 39: "500", 66: "2" }, "in balance"],
  ["iso93_ascii",  { 39: "501" },          "out of balance"],
  ["iso93_ascii",  { 39: "000" },          undefined],
];

test("in balance only when the whole answer says so", () => {
  for (const [kind, fields, expected] of answers) {
    const balance = readBalance(messageOf(kind), fields);
    assert.equal(balance, expected, `${kind} ${JSON.stringify(fields)}`);
  }
});

test("the sandbox's own dialect has no such message", () => {
  assert.equal(dialects.sandbox.totals, undefined);
});
