/**
 * Soft declines: an issuer that refuses a charge until the cardholder has been challenged gets a
 * challenge, once, and then a second charge under another reference.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusReply } from "@tollgate/client";
import { answerChallenge, passChallenge } from "../../support/cardholder.ts";
import { bookedFor } from "../../support/expect.ts";
import {
  beginOnly,
  beginWith,
  cards,
  chargesAt,
  joinPatientWorld,
  type Pending,
  passDirectoryTimeout,
  proofAtHost,
  standingOf,
  startPatientWorld,
  statusOf,
  transactionIdOf,
  untilNothingHeld,
  uploadMethod,
  uploadMethodOnly,
} from "../../support/threeds.ts";
import type { World } from "../../support/world.ts";

/**
 * Begins an order while the directory server is down, which is up again when the host has refused
 * the charge.
 */
async function beginSoftDeclined(world: World): Promise<Pending> {
  await world.bank.setSwitches({ directoryDown: true });
  const pending = await beginOnly(world, cards.scaRequired);
  await uploadMethodOnly(pending);
  await passDirectoryTimeout(world);
  await world.bank.waitForMessage({ mti: "0200" });
  return pending;
}

/**
 * Begins an order that the host refuses, after the directory server has authenticated the card
 * without a challenge.
 */
async function beginRefusedByAmount(world: World): Promise<Pending & { status: StatusReply }> {
  const fields = { amount: "10.65" };
  const pending = await beginWith(world, cards.amountDriven, { fields });
  return { ...pending, status: await uploadMethod(pending) };
}

test("a charge that was refused for lack of a challenge is repeated after one", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginRefusedByAmount(world);
  const { status } = pending;
  const asked = await world.bank.waitForThreeDsMessage({
    type: "AReq",
    transactionId: transactionIdOf(status),
  });

  assert.deepEqual([status.status, status["tds-status"]], ["processing", "CReqForm"]);
  assert.equal(asked["threeDSRequestorChallengeInd"], "04");
  assert.equal(asked["threeDSCompInd"], "N");
  assert.equal(chargesAt(world), 1);
  const all = world.bank.threeDsMessages().filter(({ type }) => type === "AReq");
  assert.equal(all.length, 2);
  assert.equal(all[0]?.fields["threeDSRequestorChallengeInd"], undefined);
});

test("with the directory server back in time the payment is challenged and approved", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginSoftDeclined(world);
  await world.bank.setSwitches({ directoryDown: false });
  await world.settle();
  const status = await statusOf(pending);
  const references = new Set(world.bank.messages().map(({ fields }) => fields["37"]));

  const { cres } = await passChallenge(status);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual(standingOf(final), ["sale_approved", undefined, "AUTHENTICATED", "05"]);
  assert.ok(!references.has(final["processor-rrn"]), "the second charge has the first's reference");
  assert.equal((await proofAtHost(world, final))?.eci, "05");
  assert.equal(chargesAt(world), 2);
  assert.deepEqual(bookedFor(world, final), ["sale 1015"]);
  assert.equal(world.bank.ledger().length, 1);
});

test("it is challenged once only: the second refusal is final", async (t) => {
  const world = await startPatientWorld(t);
  const pending = await beginRefusedByAmount(world);

  const { cres } = await passChallenge(pending.status);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual(standingOf(final), ["sale_declined", "123", "AUTHENTICATED", "05"]);
  assert.equal(final["tds-status"], undefined);
  assert.equal(chargesAt(world), 2);
  assert.equal(world.bank.ledger().length, 0);
  await untilNothingHeld(world);
});

test("a cardholder who then fails, or leaves, is declined without another charge", async (t) => {
  const world = await startPatientWorld(t);
  const [failing, leaving] = [await beginRefusedByAmount(world), await beginRefusedByAmount(world)];

  await answerChallenge(failing.status, { code: "9999" });
  await world.pass(600_000);

  assert.deepEqual(
    [(await statusOf(failing))["error-code"], (await statusOf(leaving))["error-code"]],
    ["2000", "2011"],
  );
  assert.equal(chargesAt(world), 2);
  await untilNothingHeld(world);
});

test("if the directory server is unreachable for the challenge too, the host's refusal stands", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginSoftDeclined(world);

  await passDirectoryTimeout(world);
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual(standingOf(final).slice(0, 3), ["sale_declined", "161", "UNSUPPORTED"]);
  assert.match(final["error-message"] ?? "", /^AUTHENTICATION_REQUIRED: .*\[1A\]/);
  assert.equal(chargesAt(world), 1);
});

test("a card that is charged without a CVV the second time is still the right card", async (t) => {
  const world = await startPatientWorld(t);
  const pending = await beginSoftDeclined(world);
  await world.bank.setSwitches({ directoryDown: false });
  await world.settle();
  await untilNothingHeld(world);

  const { cres } = await passChallenge(await statusOf(pending));
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();

  assert.equal((await statusOf(pending)).status, "approved");
});

test("without 3-D Secure, or without a cardholder, the refusal is final at once", async (t) => {
  const world = await joinPatientWorld(t);
  const cardrefid = await world.registerCard(cards.amountDriven);
  const charged = chargesAt(world);

  const off = await beginWith(world, cards.scaRequired, { through: "plain" });
  const merchant = world.merchant("secure");
  const rebill = await merchant.rebill({ cardrefid, amount: "10.65" });
  const unenrolled = await beginWith(world, cards.notEnrolled, { fields: { cvv2: "999" } });
  await world.settle();

  assert.deepEqual(standingOf(await statusOf(off)).slice(0, 2), ["sale_declined", "161"]);
  assert.deepEqual(standingOf(await merchant.status(rebill)).slice(0, 2), ["sale_declined", "123"]);
  assert.equal((await statusOf(unenrolled)).status, "declined");
  assert.equal(chargesAt(world), charged + 3);
  assert.equal(world.bank.threeDsMessages().filter(({ type }) => type === "AReq").length, 0);
});

test("an authenticated cardholder at the first try needs no second one", async (t) => {
  const world = await joinPatientWorld(t);

  const final = await uploadMethod(await beginWith(world, cards.scaRequired));

  assert.deepEqual(standingOf(final), ["sale_approved", undefined, "AUTHENTICATED", "05"]);
  assert.equal(chargesAt(world), 1);
});

test("a cardholder who pays with a registered card is challenged as well", async (t) => {
  const world = await joinPatientWorld(t);
  const cardrefid = await world.registerCard(cards.amountDriven);
  const merchant = world.merchant("secure");
  const redirect_url = "https://shop.example/return";
  const order = await merchant.rebill({
    cardrefid,
    amount: "10.65",
    recurrent_initiator: "CARDHOLDER",
    redirect_url,
    cvv2: "123",
  });
  await world.settle();

  const status = await uploadMethod({ world, merchant, order });

  assert.equal(status["tds-status"], "CReqForm");
});
