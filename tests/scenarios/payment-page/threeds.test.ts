/**
 * 3-D Secure on the payment page: a failed challenge is a refused try, and messages of one try
 * never decide the next. Charges of earlier tries that are approved late are reversed while the
 * page waits, and after the next try has its result.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusReply } from "@tollgate/client";
import { dialects } from "../../support/bank/dialects.ts";
import { kindOf, makeResult, notPassed, passed, postResult } from "../../support/bank/results.ts";
import {
  answerChallenge,
  answerPareq,
  passChallenge,
  readForms,
} from "../../support/cardholder.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused, bookedFor, received } from "../../support/expect.ts";
import { look, openPage, pay } from "../../support/posted-page.ts";
import {
  cards,
  forgeCres,
  proofAtHost,
  standingOf,
  startPatientWorld,
  untilNothingHeld,
} from "../../support/threeds.ts";
import { until } from "../../support/until.ts";

const world = await startPatientWorld(endOfFile);
const [ascii = assert.fail()] = dialects;
const merchant = world.merchant("secure");
const answerTimeoutMs = 30_000;
const longestGapMs = 300_000;
const methodDeadlineMs = 600_000;
const paresDeadlineMs = 900_000;
const waiting = ["sale_3d_validating", undefined, undefined, undefined];
const onPage = ["sale_processing", undefined, undefined, undefined];
const approved = ["sale_approved", undefined, "AUTHENTICATED", "05"];
const plain = world.merchant();
const term = "https://shop.example/term";

type Opened = Awaited<ReturnType<typeof openPage>>;
const open = () => openPage(merchant, {}, "secure");

/** Enters a card whose try then waits for its cardholder at the issuer. */
async function enter(page: Opened, number: string) {
  await pay(page, { "cc-number": number });
  await world.settle();
  return merchant.status(page);
}

test("a failed challenge is a refused try, and its late result does not affect the next try", async () => {
  const page = await open();
  const first = await enter(page, cards.challengeNoMethod);
  const late = await makeResult(world, first);
  await answerChallenge(first, { action: "cancel" });
  await world.settle();
  const between = await merchant.status(page);
  const atRest = await postResult(world, first, late);
  const second = await enter(page, cards.challengeNoMethod);
  const toNext = await postResult(world, first, late);
  await assertRefused(merchant.uploadCres(page, forgeCres(first)), 5);
  await world.settle();
  const still = await merchant.status(page);
  const { cres } = await passChallenge(second);
  await merchant.uploadCres(page, cres);
  await world.settle();
  const paid = await merchant.status(page);

  assert.deepEqual(standingOf(between), onPage);
  assert.deepEqual(
    [kindOf(atRest), kindOf(toNext)],
    [
      ["Erro", "301"],
      ["Erro", "301"],
    ],
  );
  assert.deepEqual(standingOf(still), waiting);
  assert.deepEqual(standingOf(paid), approved);
  assert.notEqual((await proofAtHost(world, paid))?.value, passed.authenticationValue);
  assert.deepEqual(bookedFor(world, paid), ["sale 1015"]);
  await untilNothingHeld(world);
});

test("the repeated result of an ended try is answered as before, even during the next try", async () => {
  const page = await open();
  const first = await enter(page, cards.challengeNoMethod);
  const failed = await makeResult(world, first, notPassed);
  const answers = [await postResult(world, first, failed)];
  await world.settle();
  const between = await merchant.status(page);
  answers.push(await postResult(world, first, failed));
  const second = await enter(page, cards.challengeNoMethod);
  answers.push(await postResult(world, first, failed));
  const still = await merchant.status(page);

  for (const answer of answers) assert.deepEqual(kindOf(answer), ["RRes", ""]);
  assert.deepEqual(standingOf(between), onPage);
  assert.deepEqual(standingOf(still), waiting);
  assert.deepEqual(standingOf(second), waiting);
});

test("a tab that still shows the method of an ended try does not report for the next", async () => {
  const page = await open();
  const first = await enter(page, cards.challenge);
  const [stale = assert.fail()] = await openStep(first);
  await world.pass(methodDeadlineMs);
  const between = await merchant.status(page);
  const second = await enter(page, cards.challenge);
  const [own = assert.fail()] = await openStep(second);
  await report(stale);
  const still = await merchant.status(page);
  await report(own);
  const next = await merchant.status(page);

  assert.deepEqual(standingOf(between), onPage);
  assert.equal(still["tds-status"], second["tds-status"]);
  assert.equal(next["tds-status"], "CReqForm");
});

/** Opens the order's own page and returns its forms. */
async function openStep({ "redirect-to": address = "" }: StatusReply) {
  return readForms(await (await fetch(address)).text(), address);
}

async function report({ action, fields }: Awaited<ReturnType<typeof openStep>>[number]) {
  const body = new URLSearchParams({ ...fields, threeDSCompInd: "Y" });
  const answer = await fetch(action, { method: "POST", body, redirect: "manual" });
  assert.equal(answer.status, 303);
  await world.settle();
}

test("1.0.2: the answer to an expired try does not end the next try", async () => {
  const page = await open();
  const first = await enter(page, cards.v1Authenticated);
  const stale = await answerPareq(first, term);
  await world.pass(paresDeadlineMs);
  const between = await merchant.status(page);
  const second = await enter(page, cards.v1Authenticated);
  await assertRefused(merchant.uploadPares(page, stale), 5);
  await world.settle();
  const still = await merchant.status(page);
  await merchant.uploadPares(page, await answerPareq(second, term));
  await world.settle();
  const paid = await merchant.status(page);

  assert.deepEqual(standingOf(between), onPage);
  assert.equal(still["tds-status"], "PaReqForm");
  assert.deepEqual(standingOf(paid), approved);
  assert.deepEqual(bookedFor(world, paid), ["sale 1015"]);
});

/** Makes a first try that is proved not to be charged, and that the bank approves later. */
async function refuseInDoubt(page: Opened) {
  await world.bank.setSwitches({ approveLate: true });
  await pay(page);
  const { "processor-rrn": first = "" } = await plain.status(page);
  await world.bank.waitForMessage({ mti: ascii.mti("0200"), reference: first });
  world.clock.advance(answerTimeoutMs);
  await world.settle();
  await world.pass(answerTimeoutMs);
  assert.equal((await plain.status(page))["order-stage"], "sale_processing");
  return { "processor-rrn": first };
}

const reversed = ["sale 1015", "reversal 1015"];

test("a charge of the first try that is approved while the page waits is reversed before the next", async () => {
  const page = await openPage(plain);
  const first = await refuseInDoubt(page);
  await world.bank.setSwitches({ approveLate: false, reversalCode: "96" });
  await until("the page takes no card", async () => !(await look(page)).takesCard || undefined);
  await world.settle();
  const charges = received(world, "0200");
  await pay(page);
  await world.settle();
  const during = [received(world, "0200"), (await plain.status(page))["order-stage"]];
  await world.bank.setSwitches({ reversalCode: null });
  await world.pass(longestGapMs);
  await pay(page);
  await world.settle();
  const paid = await plain.status(page);

  assert.deepEqual(during, [charges, "sale_processing"]);
  assert.deepEqual(bookedFor(world, first), reversed);
  assert.equal(paid["order-stage"], "sale_approved");
  assert.deepEqual(bookedFor(world, paid), ["sale 1015"]);
});

test("a first charge that is approved during the second, or after its refund, is reversed too", async () => {
  const page = await openPage(plain);
  const first = await refuseInDoubt(page);
  await pay(page, { "cc-number": "4000000000000002" });
  const { "processor-rrn": second = "" } = await plain.status(page);
  await world.bank.waitForMessage({ mti: ascii.mti("0200"), reference: second });
  await world.bank.setSwitches({ approveLate: false, reversalCode: "96" });
  await world.settle();
  const paid = await plain.status(page);
  await plain.return(page, { amount: "2.00" });
  await world.settle();
  await world.bank.setSwitches({ reversalCode: null });
  await world.pass(longestGapMs);
  const registered = await plain.register(page);
  const card = await plain.cardInfo(registered["card-ref-id"]);
  const returned = await plain.status(page);

  assert.deepEqual([paid["order-stage"], paid["last-four-digits"]], ["sale_approved", "0002"]);
  assert.deepEqual(bookedFor(world, first), reversed);
  assert.deepEqual(bookedFor(world, paid), ["sale 1015", "reversal 200"]);
  assert.equal(returned["last-four-digits"], "0002");
  assert.equal(card["last-four-digits"], "0002");
});
