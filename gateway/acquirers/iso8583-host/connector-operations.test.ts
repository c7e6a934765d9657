/** All operations besides the sale, against the sandbox in every dialect. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestBank } from "@tollgate/sandbox-bank/testing";
import type { Answer } from "../../orders/order.ts";
import type { Acquirer, AuthorizationRequest } from "../acquirer.ts";
import {
  type AttemptChanges,
  codeIn,
  makeAttempt,
  makeFollowUp,
  mtiIn,
} from "./testing/attempts.ts";
import { answerTimeoutMs, each, makeStartWorld, outstanding } from "./testing/connections.ts";

const startWorld = makeStartWorld(startTestBank);

// biome-ignore format: a table
const cards = {
  funds:           "4000004000000020",
  scaRequired:     "4000004000000111",
  noAnswer:        "4000004000000129",
  lateAnswer:      "4000004000000145",
  partialApproval: "4000004000000186",
  reversalRefused: "4000004000000210",
  captureRefused:  "4000004000000236",
  expiresSoon:     "4000004000000244",
  loyalty:         "4000004000000251",
  explained:       "4000004000000269",
  payoutSilent:    "4000004100000045",
};

const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
const cavv = "AAABBJg0VhI0VniQEjRWAAAAAAA=";

async function approve(acquirer: Acquirer, attempt: AuthorizationRequest): Promise<Answer> {
  const outcome = await acquirer.authorize(attempt);
  assert.ok(outcome.kind === "approved", outcome.kind);
  return outcome.answer;
}

each("a preauthorisation is captured in part and the rest refunded", async (t, kind) => {
  const { acquirer, sandbox } = await startWorld(t, kind);
  const attempt = makeAttempt({ kind: "preauth" });
  const answer = await approve(acquirer, attempt);
  assert.match(answer.networkId ?? "", /^\d{15}$/);

  const capture = makeFollowUp(attempt, answer, { minor: 700n });
  const part = { minor: 200n, remaining: 500n, captured: capture, traceNumber: "000779" };
  const refund = makeFollowUp(attempt, answer, part);
  assert.equal((await acquirer.capture(capture)).kind, "approved");
  assert.equal((await acquirer.refund(refund)).kind, "approved");

  const books = sandbox
    .ledger(attempt.identifiers.reference)
    .map((entry) => [entry.kind, entry.amount]);
  assert.deepEqual(books, [
    ["authorisation", 1015n],
    ["capture", 700n],
    ["reversal", 200n],
  ]);
});

each("a hold is cancelled, and a sale is refunded", async (t, kind) => {
  const { acquirer, sandbox } = await startWorld(t, kind);
  for (const [index, identifiers] of (["sale", "preauth"] as const).entries()) {
    const attempt = makeAttempt({ kind: identifiers, reference: `00000000AC0${index}` });
    const answer = await approve(acquirer, attempt);

    const returned = await acquirer.refund(makeFollowUp(attempt, answer));

    assert.ok(returned.kind === "approved");
    assert.equal(returned.answer.approvedAmount?.minor, 1015n);
    assert.equal(outstanding(sandbox, attempt.identifiers.reference), 0n);
  }
});

each("a capture or a return that the host refuses is refused", async (t, kind) => {
  const { acquirer } = await startWorld(t, kind);
  const held = makeAttempt({ kind: "preauth", card: cards.captureRefused });
  const sold = makeAttempt({ card: cards.reversalRefused, reference: "00000000AC01" });
  const unknown = makeAttempt({ reference: "00000000AD01" });

  const refusals = [
    await acquirer.capture(makeFollowUp(held, await approve(acquirer, held))),
    await acquirer.refund(makeFollowUp(sold, await approve(acquirer, sold))),
    await acquirer.capture(makeFollowUp(unknown, { approvalCode: "A1B2C3", networkId: undefined })),
  ];

  const codes = refusals.map((each) => each.kind === "refused" && each.answer.responseCode);
  assert.deepEqual(
    codes,
    ["05", "57", "25"].map((code) => codeIn(kind, code)),
  );
});

each(
  "captures and returns whose answers are lost are repeated and booked once",
  async (t, kind) => {
    const { acquirer, sandbox, clock } = await startWorld(t, kind);
    const attempt = makeAttempt({ kind: "preauth" });
    const answer = await approve(acquirer, attempt);
    const whole = { minor: 700n, remaining: 700n };
    const captured = makeFollowUp(attempt, answer, whole);
    const part = { minor: 200n, remaining: 500n, captured, traceNumber: "000779" };
    const operations = [
      { ask: acquirer.capture, mti: mtiIn(kind, "0220"), changes: whole },
      { ask: acquirer.refund, mti: mtiIn(kind, "0400"), changes: part },
    ];

    for (const { ask, mti, changes } of operations) {
      await sandbox.setSwitches({ lostAnswerShare: 1 });
      const first = ask(makeFollowUp(attempt, answer, changes));
      await sandbox.waitForMessage({ mti });
      clock.move(answerTimeoutMs);
      assert.deepEqual(await first, { kind: "unknown", cause: "timeout" });

      await sandbox.setSwitches({ lostAnswerShare: 0 });
      const again = makeFollowUp(attempt, answer, { ...changes, repeated: true });
      assert.equal((await ask(again)).kind, "approved");
    }

    const amounts = sandbox.ledger(attempt.identifiers.reference).map(({ amount }) => amount);
    assert.deepEqual(amounts, [1015n, 700n, 200n]);
  },
);

each("a card is verified without money", async (t, kind) => {
  const { acquirer, sandbox } = await startWorld(t, kind);
  const verification = { kind: "account-verification", minor: 0n } as const;

  const good = await approve(acquirer, makeAttempt(verification));
  const bad = await acquirer.authorize(makeAttempt({ ...verification, card: cards.funds }));

  assert.equal(good.approvedAmount?.minor, 0n);
  assert.ok(bad.kind === "refused");
  assert.equal(bad.answer.responseCode, codeIn(kind, "51"));
  assert.deepEqual(sandbox.ledger(), []);
});

each("the host is told of 3-D Secure and of stored cards", async (t, kind) => {
  const { acquirer, sandbox } = await startWorld(t, kind);
  const own = sandbox.makeAuthenticationValue(cards.scaRequired);
  const credential = { initiator: "MERCHANT", scenario: "REGULAR", networkId: undefined } as const;
  // biome-ignore format: a table
  const rows: readonly (readonly [AttemptChanges, code: string])[] = [
    [{ card: cards.scaRequired },                        "1A"],
    [{ card: cards.scaRequired, eci: "06", cavv },       "1A"],
    [{ card: cards.scaRequired, eci: "05" },             "1A"],
    [{ card: cards.scaRequired, eci: "05", cavv },       "1A"],
    [{ card: cards.scaRequired, eci: "05", cavv: own },  "00"],
    [{ card: cards.expiresSoon },                        "00"],
    [{ card: cards.expiresSoon, credential },            "54"],
  ];

  for (const [changes, code] of rows) {
    const outcome = await acquirer.authorize(makeAttempt(changes));
    assert.ok("answer" in outcome);
    assert.equal(outcome.answer.responseCode, codeIn(kind, code), JSON.stringify(changes));
  }
});

each("a later payment names the first one", async (t, kind) => {
  const { acquirer, sandbox } = await startWorld(t, kind);
  const first = await approve(acquirer, makeAttempt());
  const { networkId } = first;
  const credential = { initiator: "MERCHANT", scenario: "REGULAR", networkId } as const;

  const later = makeAttempt({ reference: "00000000AC01", credential });
  await approve(acquirer, { ...later, cvv: undefined });

  const [received] = sandbox.messages("00000000AC01");
  const told = `${received?.fields["48"] ?? ""} ${received?.fields["62"] ?? ""}`;
  assert.match(told, new RegExp(`=${networkId}\\b`));
});

each("words for the cardholder come with the answer", async (t, kind) => {
  const { acquirer } = await startWorld(t, kind);

  const thanked = await approve(acquirer, makeAttempt({ card: cards.loyalty }));
  const refused = await acquirer.authorize(makeAttempt({ card: cards.explained }));

  assert.deepEqual(thanked.loyalty, {
    balance: "1250",
    message: "Thank you for paying with us",
    bonus: "15",
    program: "Sandbox Bonus",
  });
  assert.equal("explanation" in thanked, false);
  assert.ok(refused.kind === "refused");
  assert.match(refused.answer.explanation ?? "", /^The balance of this card is too low\./);
});

each("a late approval of a preauthorisation is told too", async (t, kind) => {
  const { acquirer, sandbox, clock, late } = await startWorld(t, kind);
  const attempt = makeAttempt({ kind: "preauth", card: cards.lateAnswer });
  const preauth = acquirer.authorize(attempt);
  await sandbox.waitForMessage({ mti: mtiIn(kind, "0100") });
  clock.move(answerTimeoutMs);
  assert.deepEqual(await preauth, { kind: "unknown", cause: "timeout" });

  assert.deepEqual(await acquirer.reverse(attempt, advice), { kind: "reversed" });

  assert.equal(late.length, 1);
  assert.equal(late[0]?.reference, attempt.identifiers.reference);
  assert.match(late[0]?.answer.networkId ?? "", /^\d{15}$/);
});

each("a connection on which a payout is not answered is reset", async (t, kind) => {
  const { acquirer, sandbox, clock } = await startWorld(t, kind);
  const attempt = makeAttempt({ kind: "payout", card: cards.payoutSilent });
  const payout = acquirer.authorize(attempt);
  await sandbox.waitForMessage({ mti: mtiIn(kind, "0200") });
  assert.ok(acquirer.isReady());

  clock.move(answerTimeoutMs);

  assert.deepEqual(await payout, { kind: "unknown", cause: "timeout" });
  assert.equal(acquirer.isReady(), false);
});

test("a host with inquiries is asked what became of a charge", async (t) => {
  const { acquirer, sandbox, clock } = await startWorld(t, "iso87_binary");
  const { inquire } = acquirer;
  assert.ok(inquire !== undefined);
  const attempt = makeAttempt({ card: cards.noAnswer });
  const sale = acquirer.authorize(attempt);
  await sandbox.waitForMessage({ mti: "0200" });
  clock.move(answerTimeoutMs);
  assert.deepEqual(await sale, { kind: "unknown", cause: "timeout" });

  const found = await inquire(attempt);
  clock.move(10);
  const again = await inquire(attempt);

  assert.ok(found.kind === "approved");
  assert.match(found.answer.approvalCode ?? "", /^[0-9A-Z]{6}$/);
  assert.equal(found.answer.approvedAmount, attempt.amount);
  assert.equal(again.kind, "approved");
  const asked = sandbox.messages().filter(({ mti }) => mti === "0600");
  // A late answer to the first inquiry must not be taken for the answer to the second.
  assert.equal(new Set(asked.map(({ fields }) => fields["11"])).size, 2);
  await acquirer.reverse(attempt, advice);
  assert.deepEqual(await inquire(attempt), { kind: "not_found" });
});

test("an inquiry tells of a part, of nothing, and of a link that is down", async (t) => {
  const { acquirer, sandbox, journal } = await startWorld(t, "iso87_binary");
  const { inquire } = acquirer;
  assert.ok(inquire !== undefined);
  const part = makeAttempt({ card: cards.partialApproval });
  await acquirer.authorize(part);

  const found = await inquire(part);
  assert.ok(found.kind === "approved_in_part");
  assert.equal(found.answer.approvedAmount?.minor, 507n);
  const never = makeAttempt({ reference: "00000000AD01" });
  assert.deepEqual(await inquire(never), { kind: "not_found" });

  await sandbox.setSwitches({ hostDown: true });
  await journal.until("acquirer.link_down");
  assert.deepEqual(await inquire(part), { kind: "not_sent" });
});

test("a host without inquiries is not asked", async (t) => {
  const { acquirer } = await startWorld(t, "sandbox");

  assert.equal(acquirer.inquire, undefined);
});

test("a CAVV that cannot be sent sends nothing", async (t) => {
  const { acquirer, sandbox, journal } = await startWorld(t, "iso87_binary");

  const attempt = makeAttempt({ eci: "05", cavv: "AAAA" });
  const outcome = await acquirer.authorize(attempt);

  assert.ok(!acquirer.hasPlaceFor(attempt));
  assert.deepEqual(outcome, { kind: "not_sent" });
  await journal.until("acquirer.message_unsendable", {
    why: "field 126 has no place for the authentication value",
  });
  assert.deepEqual(sandbox.messages("00000000AB01"), []);
});

each(
  "a host says nothing about the charges of the one that the gate had before",
  async (t, kind) => {
    const { acquirer, sandbox } = await startWorld(t, kind);
    const attempt = makeAttempt();
    const { identifiers } = attempt;
    const gate = {
      ...identifiers.gate,
      hostChanges: 1,
      merchantCode: "FORMER",
      acquirerId: "499999",
    };
    const ofOther = { ...attempt, identifiers: { ...identifiers, gate } };

    const charged = await acquirer.authorize(ofOther);
    const reversed = await acquirer.reverse(ofOther, advice);
    const found = await acquirer.inquire?.(ofOther);

    assert.equal(charged.kind, "not_sent");
    assert.equal(reversed.kind, "refused");
    assert.equal(found?.kind ?? "other_answer", "other_answer");
    const sent = sandbox
      .messages(identifiers.reference)
      .filter(({ fields }) => fields["39"] !== "25");
    const [message] = sent;
    assert.deepEqual([message?.fields["42"]?.trim(), message?.fields["32"]], ["FORMER", "499999"]);
  },
);
