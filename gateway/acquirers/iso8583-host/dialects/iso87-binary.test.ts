/** The dialect of hosts close to the networks: each message as a log would show it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describe as describeMessage,
  encode,
  type IsoMessage,
  payment62,
  readComposite,
  security126,
  writeComposite,
} from "@tollgate/protocols/iso8583";
import { startsAt } from "../../../values/testing.ts";
import { asInstant } from "../../../values/time.ts";
import type { AuthorizationRequest } from "../../acquirer.ts";
import { makeMessages } from "../messages.ts";
import { makeAttempt, makeFollowUp, settings } from "../testing/attempts.ts";
import { iso87Binary } from "./iso87-binary.ts";

const { specification } = iso87Binary;
const messages = makeMessages(iso87Binary, settings);
const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
const laterAt = asInstant(startsAt + 61_000);
const cavv = "AAABBJg0VhI0VniQEjRWAAAAAAA=";
const cavvBytes = "0000010498345612345678901234560000000000";
const answer = { approvalCode: "A1B2C3", networkId: "151121000000001" };
const original = "0200000777111502040600000400123" + "00000000000";

function describe(message: IsoMessage) {
  return describeMessage(message, specification);
}

function securityOf({ fields }: IsoMessage): object | undefined {
  return fields[126] === undefined ? undefined : readComposite(security126, fields[126]);
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
  49:  "978",
  60:  "0000000005",
  126: "9=**** 10=****",
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

  assert.deepEqual(describe(identifiers), sale);
  assert.equal(identifiers.fields[2], "4000001000000018");
  assert.deepEqual(describe(preauth), { ...sale, mti: "0100" });
  const asked = { ...sale, mti: "0100", 4: "000000000000", 25: "51" };
  assert.deepEqual(describe(verification), asked);
});

test("digits go two to a byte, and private fields as their bytes", () => {
  const identifiers = messages.makeCharge(makeAttempt({ eci: "05", cavv }));

  const hex = encode(specification, identifiers).toString("hex").toUpperCase();

  const [cardAndAmount, indicator] = ["164000001000000018000000000000001015", "100000000005"];
  assert.ok(hex.startsWith("0200"));
  assert.ok(hex.includes(cardAndAmount));
  assert.ok(hex.endsWith(`${indicator}2200C0000000000000${cavvBytes}313120313233`));
});

test("an inquiry names the charge and nothing of its card", () => {
  const inquiry = messages.makeInquiry(makeAttempt(), "000779", laterAt);

  // biome-ignore format: a table
  assert.deepEqual(describe(inquiry), {
    mti: "0600",
    7:   "1115020507",
    11:  "000779",
    32:  "400123",
    37:  "00000000AB01",
    41:  "TERM01  ",
    42:  "MERCHANT01     ",
    90:  original,
  });
});

test("a reversal repeats the charge, names it, and never carries its secrets", () => {
  const reversal = messages.makeReversal(makeAttempt({ eci: "05", cavv }), advice, laterAt);

  assert.deepEqual(describe(reversal), { mti: "0420", ...followUp, 22: "010", 39: "68" });
});

test("a capture takes its amount from the charge that it names", () => {
  const attempt = makeAttempt({ kind: "preauth" });
  const capture = messages.makeCapture(makeFollowUp(attempt, answer, { minor: 700n }));

  assert.deepEqual(describe(capture), {
    mti: "0220",
    ...followUp,
    4: "000000000700",
    38: "A1B2C3",
    62: "2=151121000000001",
    90: original.replace("0200", "0100"),
  });
});

test("a return says what was charged before it and what remains after it", () => {
  const part = makeFollowUp(makeAttempt(), answer, { minor: 300n, remaining: 715n });

  assert.deepEqual(describe(messages.makeReturn(part)), {
    mti: "0400",
    ...followUp,
    38: "A1B2C3",
    62: "2=151121000000001",
    95: "000000000715".padEnd(42, "0"),
  });
});

test("126 holds what there is of CAVV and CVV, or is left out", () => {
  const without: AuthorizationRequest = { ...makeAttempt(), cvv: undefined };
  const proved = makeAttempt({ eci: "05", cavv, cvv: "1234" });
  const indicated = { ...without, authentication: { eci: "07", value: undefined } };

  assert.deepEqual(securityOf(messages.makeCharge(proved)), { 9: cavvBytes, 10: "111234" });
  assert.deepEqual(securityOf(messages.makeCharge(makeAttempt())), { 10: "11 123" });
  const bare = messages.makeCharge(indicated);
  assert.deepEqual([bare.fields[60], securityOf(bare)], ["0000000007", undefined]);
  const nothing = messages.makeCharge(without);
  assert.deepEqual([nothing.fields[60], nothing.fields[62]], [undefined, undefined]);
});

test("123 has the postal code and the street, in capitals and without accents", () => {
  const payer = { address: "Königsallee 1, Haus 12345", zipCode: "SW1A 1AA" };
  const charge = messages.makeCharge(makeAttempt({ payer }));
  const only = messages.makeCharge(makeAttempt({ payer: { ...payer, zipCode: undefined } }));
  const unreadable = { address: "北京市朝阳区", zipCode: " - " };

  assert.equal(charge.fields[123], "SW1A1AA  KONIGSALLEE 1, HAUS");
  assert.equal(describe(charge)[123], "****");
  assert.equal(only.fields[123], "         KONIGSALLEE 1, HAUS");
  assert.equal(messages.makeCharge(makeAttempt({ payer: unreadable })).fields[123], undefined);
  const reversal = messages.makeReversal(makeAttempt({ payer }), advice, laterAt);
  assert.equal(reversal.fields[123], undefined);
});

test("an order by mail or telephone has its indicator, of every network", () => {
  for (const card of ["4000001000000018", "5200000000000015"]) {
    const { fields } = messages.makeCharge(makeAttempt({ card, isMoto: true }));
    assert.deepEqual([fields[25], fields[60]], ["08", "0000000001"]);
  }
  assert.deepEqual(iso87Binary.exemptions, []);
});

test("a stored card is told with how it is used and its first payment", () => {
  const rows = [
    ["IRREGULAR", "C"],
    ["REGULAR", "R"],
  ] as const;
  for (const [scenario, code] of rows) {
    const credential = { initiator: "MERCHANT", scenario, networkId: answer.networkId } as const;
    const { fields } = messages.makeCharge({ ...makeAttempt({ credential }), cvv: undefined });
    assert.equal(fields[22], "100");
    assert.deepEqual(securityOf({ mti: "", fields }), { 13: code });
    assert.equal(fields[62], "4000000000000000" + "0151121000000001");
  }
});

test("another network's id of the first payment is left out", () => {
  const other = { initiator: "MERCHANT", scenario: "REGULAR", networkId: "MCC1234561115" } as const;

  const identifiers = messages.makeCharge(makeAttempt({ credential: other }));
  const capture = messages.makeCapture(makeFollowUp(makeAttempt(), { ...answer, ...other }));

  assert.deepEqual([identifiers.fields[62], capture.fields[62]], [undefined, undefined]);
});

test("Mastercard's id of the first payment has its own place, both ways", () => {
  const networkId = "MCC1234561115";
  const card = "5200000000000015";
  const credential = { initiator: "MERCHANT", scenario: "REGULAR", networkId } as const;

  const charge = messages.makeCharge(makeAttempt({ card, credential }));
  const capture = messages.makeCapture(
    makeFollowUp(makeAttempt({ card }), { ...answer, networkId }),
  );

  const expected = writeComposite(payment62, { 17: "MCC1234561115  " });
  assert.deepEqual([charge.fields[62], capture.fields[62]], [expected, expected]);
  assert.equal(iso87Binary.readNetworkId({ 62: expected }), networkId);
  assert.equal(iso87Binary.readNetworkId({ 62: writeComposite(payment62, { 1: "A" }) }), undefined);
});

test("an authentication value or an indicator of another shape makes no message", () => {
  const wrong = ["", cavv.slice(0, -2), "not base64 but of some length", "AAAA", `${cavv}AAAA`];
  for (const value of wrong) {
    const attempt = makeAttempt({ eci: "05", cavv: value });
    assert.throws(
      () => messages.makeCharge(attempt),
      /field 126 has no place for the authentication value/,
    );
  }
  const indicated = makeAttempt({ eci: "0103212" });
  assert.throws(() => messages.makeCharge(indicated), /field 60.8 has the wrong width/);
  const long = makeAttempt({ cvv: "12345" });
  assert.throws(() => messages.makeCharge(long), /field 126.10 is too long/);
});

test("a payout is an original credit that says nothing of a cardholder, and so is its repeat", () => {
  const attempt = makeAttempt({ kind: "payout", eci: "05", cavv });
  const undated = { ...attempt.card, expiryMonth: "", expiryYear: "" };
  const { 60: _, 126: __, ...fields } = sale;
  const expected = { ...fields, 3: "260000" };

  assert.deepEqual(describe(messages.makeCharge(attempt)), expected);
  const repeat = messages.makeCharge({ ...attempt, repeated: true });
  assert.deepEqual(describe(repeat), { ...expected, mti: "0201" });
  assert.equal(messages.makeCharge({ ...attempt, card: undated }).fields[14], undefined);
});
