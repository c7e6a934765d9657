/** The messages of a gate, field by field, as a log would show them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decode,
  describe,
  encode,
  iso87Ascii,
  type Message,
  readSubelements,
} from "@tollgate/protocols/iso8583";
import { asInstant } from "../../values/time.ts";
import type { Attempt } from "../acquirer.ts";
import { makeMessages, makeNetworkMessage } from "./messages.ts";
import { makeAttempt, settings, startsAt } from "./testing.ts";

const { makeSale, makeReversal } = makeMessages(settings);
const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
const reversedAt = asInstant(startsAt + 61_000);

function elementsOf({ fields }: Message): object | undefined {
  if (fields[48] === undefined) return undefined;
  const read = readSubelements(fields[48]);
  assert.ok("elements" in read);
  return { category: read.category, ...Object.fromEntries(read.elements) };
}

test("a sale says what was asked, field by field", () => {
  const sale = makeSale(makeAttempt({ eci: "05" }));

  // biome-ignore format: a table
  assert.deepEqual(describe(sale), {
    mti: "0200",
    2:   "400000****0018",
    3:   "000000",
    4:   "000000001015",
    7:   "1115020406",
    11:  "000777",
    12:  "020406",
    13:  "1115",
    14:  "****",
    18:  "5999",
    19:  "528",
    22:  "010",
    25:  "59",
    32:  "400123",
    37:  "00000000AB01",
    41:  "TERM01  ",
    42:  "MERCHANT01     ",
    43:  "Corner Shop           Springfield  NLD  ",
    48:  "T 42=05 92=****",
    49:  "978",
  });
  assert.equal(sale.fields[2], "4000001000000018");
  assert.equal(sale.fields[14], "3904");
});

test("the private field holds the CVV and the ECI when they are there, or is left out", () => {
  const attempt = makeAttempt();
  const without: Attempt = { ...attempt, cvv: undefined };

  assert.deepEqual(elementsOf(makeSale(makeAttempt({ eci: "02", cvv: "1234" }))), {
    category: "T",
    42: "02",
    92: "1234",
  });
  assert.deepEqual(elementsOf(makeSale(attempt)), { category: "T", 92: "123" });
  assert.deepEqual(elementsOf(makeSale({ ...without, eci: "07" })), { category: "T", 42: "07" });
  assert.equal(elementsOf(makeSale(without)), undefined);
});

test("a reversal repeats the charge, names it, and never carries the CVV", () => {
  const reversal = makeReversal(makeAttempt({ eci: "05" }), advice, reversedAt);

  // biome-ignore format: a table
  assert.deepEqual(describe(reversal), {
    mti: "0420",
    2:   "400000****0018",
    3:   "000000",
    4:   "000000001015",
    7:   "1115020507",
    11:  "000778",
    14:  "****",
    18:  "5999",
    19:  "528",
    22:  "010",
    25:  "59",
    32:  "400123",
    37:  "00000000AB01",
    39:  "68",
    41:  "TERM01  ",
    42:  "MERCHANT01     ",
    49:  "978",
    90:  "0200000777111502040600000400123" + "00000000000",
  });
});

test("a repeated reversal differs in its type and its time, and names the same original", () => {
  const first = makeReversal(makeAttempt(), advice, reversedAt);
  const later = asInstant(reversedAt + 60_000);
  const repeat = makeReversal(makeAttempt(), { ...advice, repeated: true }, later);

  assert.equal(repeat.mti, "0421");
  assert.deepEqual(repeat.fields, { ...first.fields, 7: "1115020607" });
});

test("a reversal of a known approval names its code at full width", () => {
  const reversal = makeReversal(makeAttempt(), { ...advice, approvalCode: "A1" }, reversedAt);

  assert.equal(reversal.fields[38], "A1    ");
});

test("every message can be written and read back", () => {
  const messages = [
    makeSale(makeAttempt({ eci: "05" })),
    makeReversal(makeAttempt(), { ...advice, approvalCode: "A1B2C3" }, reversedAt),
    makeNetworkMessage("301", "000001", startsAt),
  ];

  for (const message of messages) {
    assert.deepEqual(decode(iso87Ascii, encode(iso87Ascii, message)), message);
  }
});

test("a gate whose settings do not fit the message is refused when it is made", () => {
  assert.throws(() => makeMessages({ ...settings, categoryCode: "59" }), /field 18/);
  assert.throws(() => makeMessages({ ...settings, merchantCode: "M".repeat(16) }), /field 42/);
});
