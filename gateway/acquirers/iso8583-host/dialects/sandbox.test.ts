/** The sandbox's dialect: each message as a log would show it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describe,
  type IsoMessage,
  iso87Ascii,
  readSubelements,
} from "@tollgate/protocols/iso8583";
import type { Credential } from "../../../orders/order.ts";
import { startsAt } from "../../../values/testing.ts";
import { asInstant } from "../../../values/time.ts";
import type { AuthorizationRequest } from "../../acquirer.ts";
import { makeMessages } from "../messages.ts";
import { makeAttempt, makeFollowUp, settings } from "../testing/attempts.ts";
import { sandbox } from "./sandbox.ts";

const messages = makeMessages(sandbox, settings);
const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
const laterAt = asInstant(startsAt + 61_000);
const cavv = "AAABBJg0VhI0VniQEjRWAAAAAAA=";
const answer = { approvalCode: "A1B2C3", networkId: "151121000000001" };
const original = "0200000777111502040600000400123" + "00000000000";

function elementsOf({ fields }: IsoMessage): object | undefined {
  if (fields[48] === undefined) return undefined;
  const read = readSubelements(fields[48]);
  assert.ok("elements" in read);
  return { category: read.category, ...Object.fromEntries(read.elements) };
}

// biome-ignore format: a table
const sale = {
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
  48:  "T 42=05 43=**** 92=****",
  49:  "978",
};

// biome-ignore format: a table
const followUp = {
  2:   "400000****0018",
  3:   "000000",
  4:   "000000001015",
  7:   "1115020507",
  11:  "000778",
  14:  "****",
  18:  "5999",
  19:  "528",
  25:  "59",
  32:  "400123",
  37:  "00000000AB01",
  41:  "TERM01  ",
  42:  "MERCHANT01     ",
  49:  "978",
  90:  original,
};

test("a sale, a preauthorisation and a verification say what was asked", () => {
  const proof = { eci: "05", cavv };
  const identifiers = messages.makeCharge(makeAttempt(proof));
  const preauth = messages.makeCharge(makeAttempt({ ...proof, kind: "preauth" }));
  const verify = { ...proof, kind: "account-verification", minor: 0n } as const;
  const verification = messages.makeCharge(makeAttempt(verify));

  assert.deepEqual(describe(identifiers, iso87Ascii), sale);
  assert.equal(identifiers.fields[2], "4000001000000018");
  assert.equal(identifiers.fields[14], "3904");
  assert.deepEqual(describe(preauth, iso87Ascii), { ...sale, mti: "0100" });
  const asked = { ...sale, mti: "0100", 4: "000000000000", 25: "51" };
  assert.deepEqual(describe(verification, iso87Ascii), asked);
});

test("a reversal repeats the charge, names it, and never carries its secrets", () => {
  const reversal = messages.makeReversal(makeAttempt({ eci: "05", cavv }), advice, laterAt);

  assert.deepEqual(describe(reversal, iso87Ascii), {
    mti: "0420",
    ...followUp,
    22: "010",
    39: "68",
  });
});

test("a capture takes its amount from the charge that it names", () => {
  const attempt = makeAttempt({ kind: "preauth" });
  const capture = messages.makeCapture(makeFollowUp(attempt, answer, { minor: 700n }));

  assert.deepEqual(describe(capture, iso87Ascii), {
    mti: "0220",
    ...followUp,
    4: "000000000700",
    38: "A1B2C3",
    62: "151121000000001",
    90: original.replace("0200", "0100"),
  });
});

test("a return says what was charged before it and what remains after it", () => {
  const part = makeFollowUp(makeAttempt(), answer, { minor: 300n, remaining: 715n });

  assert.deepEqual(describe(messages.makeReturn(part), iso87Ascii), {
    mti: "0400",
    ...followUp,
    38: "A1B2C3",
    62: "151121000000001",
    95: "000000000715".padEnd(42, "0"),
  });
  const all = messages.makeReturn(makeFollowUp(makeAttempt(), answer));
  assert.deepEqual([all.fields[4], all.fields[95]], ["000000001015", "0".repeat(42)]);
});

test("the private field holds what there is of CVV, ECI and CAVV, or is left out", () => {
  const without: AuthorizationRequest = { ...makeAttempt(), cvv: undefined };
  const indicated = { ...without, authentication: { eci: "07", value: undefined } };
  const proved = makeAttempt({ eci: "02", cavv, cvv: "1234" });

  const all = { category: "T", 42: "02", 43: cavv, 92: "1234" };
  assert.deepEqual(elementsOf(messages.makeCharge(proved)), all);
  assert.deepEqual(elementsOf(messages.makeCharge(makeAttempt())), { category: "T", 92: "123" });
  assert.deepEqual(elementsOf(messages.makeCharge(indicated)), { category: "T", 42: "07" });
  assert.equal(elementsOf(messages.makeCharge(without)), undefined);
});

test("an address goes with the wish to verify it, and a log shows the wish alone", () => {
  const payer = { address: "1 Main Street", zipCode: "62701-1234" };
  const charge = messages.makeCharge({ ...makeAttempt({ payer }), cvv: undefined });

  assert.equal(charge.fields[120], "0122627011234" + "1 MAIN STREET");
  const { 48: wish, 120: address } = describe(charge, iso87Ascii);
  assert.deepEqual([wish, address], ["T 82=52", "****"]);
});

// biome-ignore format: a table
type Use = readonly [Credential["initiator"], Credential["scenario"], code: string];
const credentials: readonly Use[] = [
  ["CARDHOLDER", "IRREGULAR", "0504C101"],
  ["CARDHOLDER", "REGULAR", "0504C102"],
  ["MERCHANT", "IRREGULAR", "0504M101"],
  ["MERCHANT", "REGULAR", "0504M102"],
];

test("a stored card is told with who uses it, why, and its first payment", () => {
  for (const [initiator, scenario, code] of credentials) {
    const first = { initiator, scenario, networkId: undefined };
    const later = { initiator, scenario, networkId: "151121000000001" };
    const begun = messages.makeCharge({ ...makeAttempt({ credential: first }), cvv: undefined });
    const made = messages.makeCharge({ ...makeAttempt({ credential: later }), cvv: undefined });

    assert.equal(made.fields[22], "100");
    assert.deepEqual(elementsOf(begun), { category: "T", 22: code });
    assert.deepEqual(elementsOf(made), { category: "T", 22: code, 63: "151121000000001" });
  }
});

// biome-ignore format: a table
const exemptions = [
  ["low_value",           "010204"],
  ["tra",                 "010202"],
  ["secure_corporate",    "010206"],
  ["trusted_beneficiary", undefined],
] as const;

test("a charge states an exemption that has a code, beside the use of a stored card", () => {
  const credential = {
    initiator: "CARDHOLDER",
    scenario: "REGULAR",
    networkId: undefined,
  } as const;
  for (const [exemption, code] of exemptions) {
    const alone = messages.makeCharge(makeAttempt({ exemption }));
    const stored = messages.makeCharge(makeAttempt({ exemption, credential }));

    const use = { 22: `${code ?? ""}0504C102` };
    assert.deepEqual(elementsOf(alone), { category: "T", ...(code && { 22: code }), 92: "123" });
    assert.deepEqual(elementsOf(stored), { category: "T", ...use, 92: "123" });
    assert.equal(sandbox.exemptions.includes(exemption), code !== undefined);
  }
});

test("an order by mail or telephone has its condition, and so have later messages about it", () => {
  const attempt = makeAttempt({ isMoto: true });
  const capture = messages.makeCapture({ ...makeFollowUp(attempt, answer), isMoto: true });
  const reversal = messages.makeReversal(attempt, advice, laterAt);

  const conditions = [messages.makeCharge(attempt), capture, reversal].map(
    ({ fields }) => fields[25],
  );
  assert.deepEqual(conditions, ["08", "08", "08"]);
});

test("this host has no inquiry", () => {
  assert.equal(sandbox.hasInquiry, false);
});

test("a payout is an original credit that says nothing of a cardholder, and so is its repeat", () => {
  const attempt = makeAttempt({ kind: "payout", eci: "05", cavv });
  const undated = { ...attempt.card, expiryMonth: "", expiryYear: "" };
  const { 48: _, ...fields } = sale;
  const expected = { ...fields, 3: "260000" };

  assert.deepEqual(describe(messages.makeCharge(attempt)), expected);
  const repeat = messages.makeCharge({ ...attempt, repeated: true });
  assert.deepEqual(describe(repeat), { ...expected, mti: "0201" });
  assert.equal(messages.makeCharge({ ...attempt, card: undated }).fields[14], undefined);
});
