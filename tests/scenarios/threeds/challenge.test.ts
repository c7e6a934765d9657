/**
 * The end of challenges: the directory server's result decides, the browser's return only hastens
 * it, and a forged return has no effect.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerChallenge, passChallenge } from "../../support/cardholder.ts";
import { bookedFor } from "../../support/expect.ts";
import {
  beginChallenge,
  cards,
  chargesAt,
  forgeCres,
  joinPatientWorld,
  standingOf,
  statusOf,
  stepFieldsOf,
  transactionIdOf,
} from "../../support/threeds.ts";

const graceMs = 60_000;
const waitMs = 60_000;
const approved = ["sale_approved", undefined, "AUTHENTICATED", "05"];
const failed = ["sale_declined", "2000", "NOT_AUTHENTICATED", undefined];

test("if the result comes first, the order waits for the browser before it continues", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);

  const { cres } = await passChallenge(pending.status);
  await world.settle();
  const between = [await statusOf(pending), chargesAt(world)] as const;
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual([between[0]["order-stage"], between[1]], ["sale_3d_validating", 0]);
  assert.deepEqual(standingOf(final), approved);
  assert.deepEqual(bookedFor(world, final), ["sale 1015"]);
});

test("if the browser comes first, the order waits for the result, and shows no step", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world, cards.resultLate);
  const transactionId = transactionIdOf(pending.status);

  const { cres } = await passChallenge(pending.status);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  const between = [await statusOf(pending), chargesAt(world)] as const;
  await world.bank.waitForThreeDsMessage({ type: "RRes", transactionId });
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual([between[0]["order-stage"], between[1]], ["sale_3d_validating", 0]);
  assert.deepEqual(stepFieldsOf(between[0]), []);
  assert.deepEqual(standingOf(final), approved);
  assert.deepEqual(bookedFor(world, final), ["sale 1015"]);
});

test("the result of the challenge overrides what the browser says", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world, cards.resultDiffers);

  const { cres } = await passChallenge(pending.status);
  await world.settle();
  const decided = await statusOf(pending);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  const final = await statusOf(pending);

  assert.match(Buffer.from(cres, "base64url").toString(), /"transStatus":"Y"/);
  assert.deepEqual(standingOf(decided), failed);
  assert.deepEqual(standingOf(final), failed);
  assert.equal(chargesAt(world), 0);
});

test("a cardholder who closed the window has paid a minute after the result", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const { cres } = await passChallenge(pending.status);

  await world.pass(graceMs - 1);
  const before = [await statusOf(pending), chargesAt(world)] as const;
  await world.pass(1);
  const final = await statusOf(pending);
  const late = await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();

  assert.deepEqual([before[0]["tds-status"], before[1]], ["CReqForm", 0]);
  assert.deepEqual(standingOf(final), approved);
  assert.equal(late.type, "async-response");
  assert.equal(chargesAt(world), 1);
});

// biome-ignore format: a table
const failures = [
  ["who gives a wrong code",    cards.challenge,          { code: "9999" }],
  ["who presses cancel",        cards.challenge,          { action: "cancel" }],
  ["whose bank refuses",        cards.challengeFailed,    {}],
  ["whose bank sees a cancel",  cards.challengeCancelled, {}],
] as const;

for (const [who, card, answer] of failures) {
  test(`a cardholder ${who} is declined at once, without waiting for the browser`, async (t) => {
    const world = await joinPatientWorld(t);
    const pending = await beginChallenge(world, card);

    const { cres } = await answerChallenge(pending.status, answer);
    await world.settle();
    const final = await statusOf(pending);
    const late = await pending.merchant.uploadCres(pending.order, cres);
    await world.settle();

    assert.deepEqual(standingOf(final), failed);
    assert.deepEqual(stepFieldsOf(final), []);
    assert.equal(late.type, "async-response");
    assert.deepEqual(standingOf(await statusOf(pending)), failed);
    assert.equal(chargesAt(world), 0);
  });
}

for (const version of ["2.2.0", "2.3.1"]) {
  test(`${version}: a forged return never leads to a charge`, async (t) => {
    const world = await joinPatientWorld(t);
    const card = version === "2.2.0" ? cards.challenge : cards.challenge231;
    const pending = await beginChallenge(world, card);
    assert.equal(JSON.parse(decode(pending.status["tds-creq-form-creq"])).messageVersion, version);

    await pending.merchant.uploadCres(pending.order, forgeCres(pending.status));
    await world.settle();
    const waiting = await statusOf(pending);
    await world.pass(waitMs - 1);
    const still = await statusOf(pending);
    await world.pass(1);
    const final = await statusOf(pending);

    assert.deepEqual(standingOf(waiting), ["sale_3d_validating", undefined, undefined, undefined]);
    assert.equal(still.status, "processing");
    assert.deepEqual(standingOf(final), ["sale_declined", "2013", undefined, undefined]);
    assert.equal(chargesAt(world), 0);
  });
}

test("a forged return does not keep the cardholder from paying", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  await pending.merchant.uploadCres(pending.order, forgeCres(pending.status));

  await passChallenge(pending.status);
  await world.settle();

  assert.deepEqual(standingOf(await statusOf(pending)), approved);
  assert.equal(chargesAt(world), 1);
});

test("an issuer's failure in the browser does not end the wait for the result", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginChallenge(world);
  const erro = {
    messageType: "Erro",
    messageVersion: "2.2.0",
    errorCode: "403",
    errorComponent: "A",
    errorDescription: "Transient system failure",
    errorDetail: "later",
    threeDSServerTransID: transactionIdOf(pending.status),
  };

  const packed = Buffer.from(JSON.stringify(erro)).toString("base64url");
  await pending.merchant.uploadCres(pending.order, packed);
  await world.pass(waitMs);

  assert.deepEqual(standingOf(await statusOf(pending)).slice(0, 2), ["sale_declined", "2013"]);
  assert.equal(chargesAt(world), 0);
});

function decode(packed = ""): string {
  return Buffer.from(packed, "base64url").toString();
}
