/**
 * The part of messages that is common to all dialects: how they are filled and how they are read.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode } from "@tollgate/protocols/iso8583";
import { startsAt } from "../../values/testing.ts";
import { asInstant } from "../../values/time.ts";
import type { AuthorizationRequest } from "../acquirer.ts";
import { gateKinds } from "../gates.ts";
import { dialects } from "./connector.ts";
import { makeMessages, makeNetworkMessage } from "./messages.ts";
import { makeAttempt, makeFollowUp, mtiIn, settings } from "./testing/attempts.ts";

const advice = { traceNumber: "000778", repeated: false, approvalCode: "A1B2C3" };
const reversedAt = asInstant(startsAt + 61_000);
const answer = { approvalCode: "A1B2C3", networkId: "151121000000001" };
const whole = makeAttempt({
  eci: "05",
  cavv: "AAABBJg0VhI0VniQEjRWAAAAAAA=",
  credential: { initiator: "MERCHANT", scenario: "REGULAR", networkId: "151121000000001" },
});

for (const kind of gateKinds) {
  const dialect = dialects[kind];
  const messages = makeMessages(dialect, settings);

  test(`every message can be written and read back, ${kind}`, () => {
    const bare: AuthorizationRequest = { ...makeAttempt(), cvv: undefined };
    const made = [
      messages.makeCharge(whole),
      messages.makeCharge(bare),
      messages.makeCharge(makeAttempt({ kind: "preauth" })),
      messages.makeCharge(makeAttempt({ kind: "account-verification", minor: 0n })),
      messages.makeInquiry(whole, "000779", reversedAt),
      messages.makeReversal(whole, advice, reversedAt),
      messages.makeCapture(makeFollowUp(whole, answer)),
      messages.makeReturn(makeFollowUp(whole, answer)),
      makeNetworkMessage(dialect.network, dialect.network.codes.echo, "000001", {
        at: startsAt,
        zone: "UTC",
      }),
    ];

    for (const message of made) {
      const read = decode(dialect.specification, encode(dialect.specification, message));
      assert.deepEqual(read, message);
    }
  });

  test(`a repeat differs in its type, and a reversal's in its time too, ${kind}`, () => {
    const laterAt = asInstant(reversedAt + 60_000);
    const again = { repeated: true };
    const reversal = messages.makeReversal(whole, advice, reversedAt);
    const reversalAgain = messages.makeReversal(whole, { ...advice, ...again }, laterAt);
    const capture = messages.makeCapture(makeFollowUp(whole, answer));
    const captureAgain = messages.makeCapture(makeFollowUp(whole, answer, again));
    const refund = messages.makeReturn(makeFollowUp(whole, answer));
    const refundAgain = messages.makeReturn(makeFollowUp(whole, answer, again));

    assert.deepEqual(
      [reversal.mti, capture.mti, refund.mti],
      ["0420", "0220", "0400"].map((mti) => mtiIn(kind, mti)),
    );
    const sentAt = { 7: "1115020607" };
    const reversalFields = { ...reversal.fields, ...sentAt };
    assert.deepEqual(reversalAgain, { mti: mtiIn(kind, "0421"), fields: reversalFields });
    assert.deepEqual(captureAgain, { ...capture, mti: mtiIn(kind, "0221") });
    assert.deepEqual(refundAgain, { ...refund, mti: mtiIn(kind, "0401") });
  });

  test(`what follows a preauthorisation names its type, ${kind}`, () => {
    const preauth = makeAttempt({ kind: "preauth" });
    const verification = makeAttempt({ kind: "account-verification", minor: 0n });

    const made = [
      messages.makeReversal(preauth, advice, reversedAt),
      messages.makeReversal(verification, advice, reversedAt),
      messages.makeCapture(makeFollowUp(preauth, answer)),
      messages.makeReturn(makeFollowUp(preauth, answer)),
      messages.makeInquiry(preauth, "000779", reversedAt),
    ];

    const original = kind === "iso93_ascii" ? /^1100000777261115020406/ : /^01000007771115020406/;
    const about = made.filter(({ mti }) => mti !== "1600");
    for (const { fields } of about) assert.match(fields[90] ?? fields[56] ?? "", original);
  });

  test(`an approval code is told at full width, or not at all, ${kind}`, () => {
    const short = { ...advice, approvalCode: "A1" };
    const none = { ...advice, approvalCode: undefined };

    assert.equal(messages.makeReversal(whole, short, reversedAt).fields[38], "A1    ");
    assert.equal(messages.makeReversal(whole, none, reversedAt).fields[38], undefined);
  });

  test(`a charge has the terminal's local time beside GMT, ${kind}`, () => {
    const { identifiers, ...rest } = makeAttempt();
    const gate = { ...identifiers.gate, zone: "America/New_York" };

    const { fields } = messages.makeCharge({ ...rest, identifiers: { ...identifiers, gate } });

    assert.equal(fields[7], "1115020406");
    // In the edition of 1987 the date is field 13. In that of 1993 it is before the time.
    assert.match(`${fields[13] ?? ""}${fields[12]}`, /^(26)?1114210406$/);
  });

  test(`a gate whose settings do not fit the message is refused when made, ${kind}`, () => {
    const make = (changes: object) => () => makeMessages(dialect, { ...settings, ...changes });

    assert.throws(make({ categoryCode: "59" }), /field (18|26)/);
    assert.throws(make({ merchantCode: "M".repeat(16) }), /field 42/);
  });
}
