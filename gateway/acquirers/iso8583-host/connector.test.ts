/**
 * The acquirer and the sandbox over sockets, in every dialect: every ending that a charge can have.
 */
import assert from "node:assert/strict";
import { startTestBank } from "@tollgate/sandbox-bank/testing";
import { type AttemptChanges, codeIn, makeAttempt, mtiIn } from "./testing/attempts.ts";
import { answerTimeoutMs, each, makeStartWorld, outstanding } from "./testing/connections.ts";

const startWorld = makeStartWorld(startTestBank);

// biome-ignore format: a table
const cards = {
  approved:         "4000001000000018",
  funds:            "4000004000000020",
  stolen:           "4000004000000053",
  noAnswer:         "4000004000000129",
  lateAnswer:       "4000004000000145",
  linkDrop:         "4000004000000152",
  garbledAnswer:    "4000004000000160",
  duplicateAnswer:  "4000004000000178",
  partialApproval:  "4000004000000186",
  reversalNoAnswer: "4000004000000228",
};

const advice = { traceNumber: "000778", repeated: false, approvalCode: undefined };
const repeatedAdvice = { ...advice, repeated: true };

each("a sale is approved, with the host's numbers", async (t, kind) => {
  const { acquirer, sandbox, clock } = await startWorld(t, kind);
  const attempt = makeAttempt({ card: cards.approved });

  const outcome = await acquirer.authorize(attempt);

  assert.ok(outcome.kind === "approved");
  const { answer } = outcome;
  assert.match(answer.approvalCode ?? "", /^[0-9A-Z]{6}$/);
  assert.match(answer.networkId ?? "", /^\d{15}$/);
  assert.equal(answer.approvedAmount, attempt.amount);
  assert.equal(answer.processedAt, clock.now());
  assert.equal(outstanding(sandbox), 1015n);
});

each("a refusal carries the host's code", async (t, kind) => {
  const { acquirer, sandbox } = await startWorld(t, kind);
  const rows = [
    [{ card: cards.funds }, "51"],
    [{ card: cards.stolen }, "43"],
    [{ card: cards.approved, cvv: "999" }, "N7"],
  ] as const satisfies readonly (readonly [AttemptChanges, string])[];

  for (const [changes, code] of rows) {
    const outcome = await acquirer.authorize(makeAttempt(changes));
    assert.ok(outcome.kind === "refused");
    assert.equal(outcome.answer.responseCode, codeIn(kind, code));
  }
  assert.equal(sandbox.ledger().length, 0);
});

each("an approval of half the amount is told as such", async (t, kind) => {
  const { acquirer } = await startWorld(t, kind);

  const outcome = await acquirer.authorize(makeAttempt({ card: cards.partialApproval }));

  assert.ok(outcome.kind === "approved_in_part");
  assert.equal(outcome.answer.approvedAmount?.minor, 507n);
  assert.equal(outcome.answer.responseCode, codeIn(kind, "10"));
});

each(
  "a sale that is not answered is in doubt, and reversing it returns the money",
  async (t, kind) => {
    const { acquirer, sandbox, clock } = await startWorld(t, kind);
    const attempt = makeAttempt({ card: cards.noAnswer });

    const sale = acquirer.authorize(attempt);
    await sandbox.waitForMessage({ mti: mtiIn(kind, "0200") });
    clock.move(answerTimeoutMs);

    assert.deepEqual(await sale, { kind: "unknown", cause: "timeout" });
    assert.equal(outstanding(sandbox), 1015n);
    assert.deepEqual(await acquirer.reverse(attempt, advice), { kind: "reversed" });
    assert.equal(outstanding(sandbox), 0n);
  },
);

each("a reversal is repeated until it is answered, and booked once", async (t, kind) => {
  const { acquirer, sandbox, clock } = await startWorld(t, kind);
  const attempt = makeAttempt({ card: cards.reversalNoAnswer });
  await acquirer.authorize(attempt);

  const first = acquirer.reverse(attempt, advice);
  await sandbox.waitForMessage({ mti: mtiIn(kind, "0420") });
  clock.move(answerTimeoutMs);
  assert.deepEqual(await first, { kind: "unknown", cause: "timeout" });

  const second = acquirer.reverse(attempt, repeatedAdvice);
  await sandbox.waitForMessage({ mti: mtiIn(kind, "0421") });
  clock.move(answerTimeoutMs);
  assert.deepEqual(await second, { kind: "unknown", cause: "timeout" });

  assert.deepEqual(await acquirer.reverse(attempt, repeatedAdvice), { kind: "reversed" });
  assert.equal(outstanding(sandbox), 0n);
});

each(
  "a reversal of what the host does not know, or refuses, is not taken for done",
  async (t, kind) => {
    const { acquirer, sandbox, journal } = await startWorld(t, kind);
    const reverse = () => acquirer.reverse(makeAttempt(), advice);

    assert.deepEqual(await reverse(), { kind: "not_found", code: codeIn(kind, "25") });
    await journal.until("acquirer.reversal_not_approved", { 39: codeIn(kind, "25") });
    await sandbox.setSwitches({ reversalCode: "12" });
    assert.deepEqual(await reverse(), {
      kind: "refused",
      code: codeIn(kind, "12"),
      mayHelp: false,
    });
    await sandbox.setSwitches({ reversalCode: "96" });
    assert.deepEqual(await reverse(), { kind: "refused", code: codeIn(kind, "96"), mayHelp: true });
  },
);

each("an approval that comes too late is told by its reference", async (t, kind) => {
  const { acquirer, sandbox, clock, late } = await startWorld(t, kind);
  const attempt = makeAttempt({ card: cards.lateAnswer });
  const sale = acquirer.authorize(attempt);
  await sandbox.waitForMessage({ mti: mtiIn(kind, "0200") });
  clock.move(answerTimeoutMs);
  assert.deepEqual(await sale, { kind: "unknown", cause: "timeout" });

  // For the sandbox, the reversal is the sign that the gateway has given up, and it approves before
  // that.
  await acquirer.reverse(attempt, advice);

  const [approval] = late;
  assert.equal(late.length, 1);
  assert.equal(approval?.reference, attempt.identifiers.reference);
  assert.equal(approval?.answer.responseCode, codeIn(kind, "00"));
  assert.match(approval?.answer.approvalCode ?? "", /^[0-9A-Z]{6}$/);
});

each("an approval that is said twice is not a late one", async (t, kind) => {
  const { acquirer, journal, late } = await startWorld(t, kind);

  const outcome = await acquirer.authorize(makeAttempt({ card: cards.duplicateAnswer }));

  assert.equal(outcome.kind, "approved");
  await journal.until("acquirer.message_unmatched", { mti: mtiIn(kind, "0210") });
  assert.deepEqual(late, []);
});

each("bytes that say nothing leave the sale in doubt and the link as it is", async (t, kind) => {
  const { acquirer, clock, journal } = await startWorld(t, kind);

  const sale = acquirer.authorize(makeAttempt({ card: cards.garbledAnswer }));
  await journal.until("acquirer.message_unreadable");
  assert.ok(acquirer.isReady());
  clock.move(answerTimeoutMs);

  assert.deepEqual(await sale, { kind: "unknown", cause: "timeout" });
});

each("a dropped link leaves all its sales in doubt, and sales after it unsent", async (t, kind) => {
  const { acquirer, sandbox, clock, journal } = await startWorld(t, kind);
  const waiting = makeAttempt({ card: cards.noAnswer, reference: "00000000AC01" });

  const outcomes = await Promise.all([
    acquirer.authorize(waiting),
    acquirer.authorize(makeAttempt({ card: cards.linkDrop })),
  ]);
  const unsent = await acquirer.authorize(makeAttempt({ reference: "00000000AD01" }));

  const lost = { kind: "unknown", cause: "link_lost" };
  assert.deepEqual(outcomes, [lost, lost]);
  assert.deepEqual(unsent, { kind: "not_sent" });
  assert.equal(acquirer.isReady(), false);
  clock.move(1_000);
  await journal.until("acquirer.link_up");
  assert.deepEqual(await acquirer.reverse(waiting, advice), { kind: "reversed" });
  assert.equal(outstanding(sandbox, "00000000AC01"), 0n);
});

each("a message that cannot be written is not sent, and nothing is thrown", async (t, kind) => {
  const { acquirer, sandbox, journal } = await startWorld(t, kind);
  const attempt = makeAttempt({ minor: 10n ** 12n });

  assert.deepEqual(await acquirer.authorize(attempt), { kind: "not_sent" });
  assert.deepEqual(await acquirer.reverse(attempt, advice), { kind: "unknown", cause: "not_sent" });
  const { facts } = await journal.until("acquirer.message_unsendable");
  assert.match(String(facts["why"]), /field 4/);
  assert.equal(
    sandbox.messages().some(({ mti }) => !/^.8[01]/.test(mti)),
    false,
  );
});

each("answer times are told", async (t, kind) => {
  const { acquirer, sandbox, clock, observed } = await startWorld(t, kind);
  await sandbox.setSwitches({ latencyMedianMs: 20 });

  const sale = acquirer.authorize(makeAttempt());
  clock.move(15);
  await sale;

  assert.deepEqual(observed, [`${mtiIn(kind, "0200")} 15 ms`]);
});
