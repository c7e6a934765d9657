/** 3-D Secure 1.0.2: the issuer's signature decides, and only for its own order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import { answerPareq } from "../../support/cardholder.ts";
import { assertRefused } from "../../support/expect.ts";
import {
  beginPares,
  cards,
  chargesAt,
  joinPatientWorld,
  standingOf,
  statusOf,
  stepFieldsOf,
} from "../../support/threeds.ts";

const term = "https://shop.example/term";
const shapes = ["inclusive", "exclusive", "repeated-namespace"] as const;
const refused = ["sale_declined", "2014", "NOT_AUTHENTICATED", undefined];
const approved = ["sale_approved", undefined, "AUTHENTICATED", "05"];

test("an answer that is not signed by the issuer ends the payment, and nothing is charged", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginPares(world, cards.v1BadSignature);
  const { paRes, md } = await answerPareq(pending.status, term);

  await pending.merchant.uploadPares(pending.order, { paRes, md });
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual(standingOf(final), refused);
  assert.deepEqual(stepFieldsOf(final), []);
  assert.equal(chargesAt(world), 0);
});

test("a genuine answer about another order ends the payment to which it is posted, and no other", async (t) => {
  const world = await joinPatientWorld(t);
  const [first, second] = [await beginPares(world), await beginPares(world)];
  const genuine = await answerPareq(first.status, term);
  const md = second.status["tds-pareq-form-md"] ?? "";

  await second.merchant.uploadPares(second.order, { paRes: genuine.paRes, md });
  await world.settle();
  const fooled = await statusOf(second);
  const charged = chargesAt(world);
  await first.merchant.uploadPares(first.order, genuine);
  await world.settle();

  assert.deepEqual(standingOf(fooled), refused);
  assert.equal(charged, 0);
  assert.deepEqual(standingOf(await statusOf(first)), approved);
});

test("an issuer's answer is accepted in every form that issuers sign, and only unchanged", async (t) => {
  const world = await joinPatientWorld(t);
  for (const paresShape of shapes) {
    await world.bank.setSwitches({ paresShape });
    const [genuine, forged] = [await beginPares(world), await beginPares(world)];
    const [answer, other] = [
      await answerPareq(genuine.status, term),
      await answerPareq(forged.status, term),
    ];
    const changed = pack(unpack(other.paRes).replace("<eci>05</eci>", "<eci>06</eci>"));

    await genuine.merchant.uploadPares(genuine.order, answer);
    await forged.merchant.uploadPares(forged.order, { ...other, paRes: changed });
    await world.settle();

    assert.deepEqual(standingOf(await statusOf(genuine)), approved, paresShape);
    assert.deepEqual(standingOf(await statusOf(forged)), refused, paresShape);
  }
  assert.equal(chargesAt(world), shapes.length);
});

test("an invalid answer, or one with another order's MD, is refused, and the order still waits", async (t) => {
  const world = await joinPatientWorld(t);
  const [pending, other] = [await beginPares(world), await beginPares(world)];
  const { merchant, order } = pending;
  const { paRes, md } = await answerPareq(pending.status, term);
  const foreign = other.status["tds-pareq-form-md"] ?? "";

  await assertRefused(merchant.uploadPares(order, { paRes, md: foreign }), 5);
  await assertRefused(merchant.uploadPares(order, { paRes, md: "made-up" }), 5);
  await assertRefused(merchant.uploadPares(order, { paRes: "garbage", md }), 5);
  await assertRefused(merchant.uploadPares(order, { paRes: "AAAA", md }), 5);
  await assertRefused(merchant.uploadPares(order, { paRes: "", md }), 4);
  const still = await statusOf(pending);
  await merchant.uploadPares(order, { paRes, md });
  await world.settle();

  assert.equal(still["tds-status"], "PaReqForm");
  assert.deepEqual(standingOf(await statusOf(pending)), approved);
});

test("the same answer twice, even simultaneously, is acknowledged and charged once", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginPares(world);
  const answer = await answerPareq(pending.status, term);
  const upload = () => pending.merchant.uploadPares(pending.order, answer);

  const replies = await Promise.all(Array.from({ length: 10 }, upload));
  await world.settle();
  replies.push(await upload());
  await world.settle();

  assert.deepEqual([...new Set(replies.map(({ type }) => type))], ["async-response"]);
  assert.deepEqual(standingOf(await statusOf(pending)), approved);
  assert.equal(chargesAt(world), 1);
});

test("a plus that a form turned into a space is read as a plus", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginPares(world);
  const { paRes, md } = await answerPareq(pending.status, term);
  assert.match(paRes, /\+/);

  const spoilt = paRes.replaceAll("+", " ");
  await pending.merchant.uploadPares(pending.order, { paRes: spoilt, md });
  await world.settle();

  assert.deepEqual(standingOf(await statusOf(pending)), approved);
});

test("an answer with a single changed letter ends the payment", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginPares(world, "4000003000000022");
  const { paRes, md } = await answerPareq(pending.status, term);
  const xml = unpack(paRes);
  assert.match(xml, /<status>N<\/status>/);

  const forged = pack(xml.replace("<status>N</status>", "<status>Y</status>"));
  await pending.merchant.uploadPares(pending.order, { paRes: forged, md });
  await world.settle();

  assert.deepEqual(standingOf(await statusOf(pending)), refused);
  assert.equal(chargesAt(world), 0);
});

function unpack(packed: string): string {
  return inflateSync(Buffer.from(packed, "base64")).toString();
}

function pack(xml: string): string {
  return deflateSync(Buffer.from(xml)).toString("base64");
}
