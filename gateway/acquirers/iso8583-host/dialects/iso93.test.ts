/** Every message of the dialect of ISO 8583:1993, field by field, and its bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encode, responseMti } from "@tollgate/protocols/iso8583";
import { failures } from "../../../values/failure.ts";
import { startsAt } from "../../../values/testing.ts";
import { asInstant } from "../../../values/time.ts";
import { makeMessages, makeNetworkMessage } from "../messages.ts";
import { type AttemptChanges, makeAttempt, makeFollowUp, settings } from "../testing/attempts.ts";
import { iso93 } from "./iso93.ts";

const messages = makeMessages(iso93, settings);
const answer = { approvalCode: "A1B2C3", networkId: "151121000000001" };
const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
const laterAt = asInstant(startsAt + 61_000);

function charge(changes: AttemptChanges = {}) {
  return messages.makeCharge(inAmsterdam(changes));
}

function inAmsterdam(changes: AttemptChanges = {}) {
  const { identifiers, ...rest } = makeAttempt(changes);
  const gate = { ...identifiers.gate, zone: "Europe/Amsterdam" };
  return { ...rest, identifiers: { ...identifiers, gate } };
}

test("a sale has the fields of the edition", () => {
  assert.deepEqual(charge({ eci: "05", cavv: "AAABBJg0VhI0VniQEjRWAAAAAAA=" }), {
    mti: "1200",
    fields: {
      2: "4000001000000018",
      3: "000000",
      4: "000000001015",
      7: "1115020406",
      11: "000777",
      12: "261115030406",
      14: "3904",
      19: "528",
      22: "100050100110",
      24: "200",
      26: "5999",
      32: "400123",
      37: "00000000AB01",
      41: "TERM01  ",
      42: "MERCHANT01     ",
      43: "Corner Shop           Springfield  NLD",
      48: "T420205" + "4328AAABBJg0VhI0VniQEjRWAAAAAAA=" + "9203123",
      49: "978",
    },
  });
});

test("what a charge is for, and how the card was given, are codes", () => {
  const credential = { initiator: "MERCHANT", scenario: "REGULAR", networkId: undefined } as const;
  const preauth = charge({ kind: "preauth", credential });
  const verification = charge({ kind: "account-verification", minor: 0n });
  const { card, ...rest } = makeAttempt();
  const wallet = messages.makeCharge({ ...rest, card: { ...card, isDevice: true } });

  assert.equal(charge({ isMoto: true }).fields[22], "100030100110");
  assert.deepEqual([preauth.mti, preauth.fields[24]], ["1100", "100"]);
  assert.equal(preauth.fields[22], "100050700110");
  assert.deepEqual([verification.mti, verification.fields[24]], ["1100", "108"]);
  assert.equal(wallet.fields[22], "100050S00110");
});

test("a reversal names its charge, and its repeats differ in type and transmission only", () => {
  const sale = inAmsterdam();
  const first = messages.makeReversal(sale, advice, laterAt);
  const again = messages.makeReversal(
    sale,
    { ...advice, repeated: true },
    asInstant(laterAt + 86_400_000),
  );
  const answered = messages.makeReversal(sale, { ...advice, approvalCode: "A1" }, laterAt);

  assert.equal(first.mti, "1420");
  assert.equal(first.fields[56], "1200" + "000777" + "261115030406" + "06400123");
  assert.deepEqual(
    [first.fields[12], first.fields[24], first.fields[25]],
    ["261115030406", "400", "4021"],
  );
  assert.deepEqual([answered.fields[25], answered.fields[38]], ["4007", "A1    "]);
  assert.equal(again.mti, "1421");
  assert.deepEqual({ ...again.fields, 7: first.fields[7] }, first.fields);
});

test("a capture says whether it is for the amount of the hold", () => {
  const hold = inAmsterdam({ kind: "preauth" });
  const whole = messages.makeCapture(makeFollowUp(hold, answer));
  const part = messages.makeCapture(makeFollowUp(hold, answer, { minor: 700n, repeated: true }));

  assert.deepEqual([whole.mti, whole.fields[24], whole.fields[30]], ["1220", "201", undefined]);
  assert.deepEqual([part.mti, part.fields[24], part.fields[4]], ["1221", "202", "000000000700"]);
  assert.equal(part.fields[30], "000000001015000000000000");
  assert.match(part.fields[56] ?? "", /^1100000777261115030406/);
  assert.equal(part.fields[12], "261115030507");
});

test("a return states the amount that remains beside the original one", () => {
  const sale = inAmsterdam();
  const full = messages.makeReturn(makeFollowUp(sale, answer));
  const part = messages.makeReturn(makeFollowUp(sale, answer, { minor: 400n, remaining: 615n }));
  const rest = messages.makeReturn(makeFollowUp(sale, answer, { minor: 615n, remaining: 0n }));

  const said = [full, part, rest].map(({ mti, fields }) => {
    return [mti, fields[24], fields[25], fields[4], fields[30]];
  });
  const original = "000000001015000000000000";
  assert.deepEqual(said, [
    ["1420", "400", "4000", "000000001015", original],
    ["1420", "401", "4000", "000000000615", original],
    ["1420", "400", "4000", "000000000615", original],
  ]);
});

test("a return after a capture names the capture, and states its amount as the original one", () => {
  const hold = inAmsterdam({ kind: "preauth" });
  const took = makeFollowUp(hold, answer, { minor: 700n, traceNumber: "000776" });
  const captured = { captured: took, traceNumber: "000779" };
  const full = messages.makeReturn(makeFollowUp(hold, answer, { ...captured, minor: 700n }));
  const half = { ...captured, minor: 300n, remaining: 400n };
  const part = messages.makeReturn(makeFollowUp(hold, answer, half));
  const refund = messages.makeReturn({ ...makeFollowUp(hold, answer, half), reference: "R1" });

  const original = "000000000700000000000000";
  const capture = "1220" + "000776" + "261115030507" + "06400123";
  const said = [full, part, refund].map(({ fields }) => [
    fields[24],
    fields[4],
    fields[30],
    fields[56],
  ]);
  assert.deepEqual(said, [
    ["400", "000000000700", original, capture],
    ["401", "000000000400", original, capture],
    ["200", "000000000300", undefined, capture],
  ]);
});

test("an echo is written as the edition wants it", () => {
  const zone = "Europe/Amsterdam";
  const echo = makeNetworkMessage(iso93.network, iso93.network.codes.echo, "000001", {
    at: startsAt,
    zone,
  });

  const bytes = encode(iso93.specification, echo).toString("latin1");

  // Bits 7, 11, 12 and 24.
  const bitmap = "0230010000000000";
  assert.equal(bytes, `1804${bitmap}1115020406000001261115030406831`);
});

test("answers carry the types of the edition", () => {
  const types = ["1100", "1200", "1220", "1221", "1420", "1421", "1804"].map(responseMti);

  assert.deepEqual(types, ["1110", "1210", "1230", "1230", "1430", "1430", "1814"]);
});

test("an action code that is a number of ours has its meaning, or is an approval", () => {
  for (const [code, meaning, reason] of iso93.codes.rows) {
    const own = Object.entries(failures).find(([, { number }]) => number === Number(code));
    if (meaning === "refused" && own !== undefined) {
      assert.equal(reason, own[0], code);
    }
  }
  assert.deepEqual(
    ["400", "000", "914", "480", "909", "902", "116"].map(iso93.codes.meaningOfReversal),
    ["reversed", "reversed", "not_found", "not_found", "retry", "refused", "refused"],
  );
});

test("a payout is an original credit that says nothing of a cardholder, and so is its repeat", () => {
  const sale = charge({ cvv: "123" });
  const payout = charge({ kind: "payout", eci: "05" });
  const repeat = messages.makeCharge({ ...inAmsterdam({ kind: "payout" }), repeated: true });

  const { 48: _, ...fields } = sale.fields;
  assert.deepEqual(payout, { mti: "1200", fields: { ...fields, 3: "260000" } });
  assert.deepEqual(repeat, { ...payout, mti: "1201" });
});
