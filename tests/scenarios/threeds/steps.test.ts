/** The fields of a status response at each step of 3-D Secure, which are absent afterwards. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusReply } from "@tollgate/client";
import { answerPareq, passChallenge, readForms } from "../../support/cardholder.ts";
import { bookedFor } from "../../support/expect.ts";
import { about, saleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import {
  beginChallenge,
  beginPares,
  beginWith,
  cards,
  type Kind,
  proofAtHost,
  standingOf,
  statusOf,
  stepFieldsOf,
  transactionIdOf,
  uploadMethod,
} from "../../support/threeds.ts";
import { giveKey, makeKeyPair, postSigned } from "../../support/wire.ts";
import { startWorld, type World } from "../../support/world.ts";

const methodFields = [
  ...["html", "redirect-to", "tds-method-url-frame-3ds-method-url"],
  ...["tds-method-url-frame-3ds-server-trans-id", "tds-status"],
];
const challengeFields = [
  ...["html", "redirect-to", "tds-creq-form-acs-url", "tds-creq-form-creq", "tds-status"],
];
const paresFields = [
  ...["html", "redirect-to", "tds-pareq-form-acs-url", "tds-pareq-form-md"],
  ...["tds-pareq-form-pareq", "tds-status"],
];

/** Asserts what a merchant reads when it polls, because a later answer shows a later step. */
function assertWaits(status: StatusReply, stage: string, step: string, fields: readonly string[]) {
  assert.equal(status.status, "processing");
  assert.equal(status["order-stage"], stage);
  assert.equal(status["tds-status"], step);
  assert.deepEqual(stepFieldsOf(status), fields);
  assert.equal(readForms(status.html ?? "").length, 1);
  assert.equal(status["processor-tx-id"], undefined);
}

function assertDone(status: StatusReply, stage: string): void {
  assert.deepEqual(standingOf(status), [stage, undefined, "AUTHENTICATED", "05"]);
  assert.deepEqual(stepFieldsOf(status), []);
  assert.match(status["processor-tx-id"] ?? "", /^\w+$/);
  assert.equal(status.descriptor, "TOLLGATE*DEMO");
}

// biome-ignore format: a table
const kinds: readonly (readonly [kind: Kind, prefix: string, booked: readonly string[]])[] = [
  ["sale",    "sale", ["sale 1015"]],
  ["preauth", "auth", ["authorisation 1015"]],
  ["verify",  "av",   []],
];

for (const [kind, prefix, booked] of kinds) {
  test(`${kind}: a challenge goes from method to form to approval, and the status shows each`, async (t) => {
    const world = await joinWorld(t);
    const pending = await beginWith(world, cards.challenge, { kind });
    const first = await statusOf(pending);
    const second = await uploadMethod(pending);

    const { cres } = await passChallenge(second);
    const passed = await statusOf(pending);
    await pending.merchant.uploadCres(pending.order, cres);
    await world.settle();
    const final = await statusOf(pending);

    assertWaits(first, `${prefix}_3d_validating`, "MethodUrlFrame", methodFields);
    assertWaits(second, `${prefix}_3d_validating`, "CReqForm", challengeFields);
    assertWaits(passed, `${prefix}_3d_validating`, "CReqForm", challengeFields);
    assertDone(final, `${prefix}_approved`);
    assert.deepEqual(bookedFor(world, final), booked);
    assert.equal((await proofAtHost(world, final))?.eci, "05");
    assert.equal(final["card-ref-id"] === undefined, kind !== "verify");
  });

  test(`${kind}: without a challenge the method's upload is the last step`, async (t) => {
    const world = await joinWorld(t);
    const pending = await beginWith(world, cards.frictionless, { kind });
    const first = await statusOf(pending);

    const final = await uploadMethod(pending);

    assertWaits(first, `${prefix}_3d_validating`, "MethodUrlFrame", methodFields);
    assertDone(final, `${prefix}_approved`);
    assert.deepEqual(bookedFor(world, final), booked);
  });

  test(`${kind}: 1.0.2 has one step, and its answer leads to approval`, async (t) => {
    const world = await joinWorld(t);
    const { merchant, order, status: first } = await beginPares(world, undefined, { kind });

    await merchant.uploadPares(order, await answerPareq(first, "https://shop.example/term"));
    await world.settle();
    const final = await merchant.status(order);

    assertWaits(first, `${prefix}_3d_validating`, "PaReqForm", paresFields);
    assertDone(final, `${prefix}_approved`);
    assert.deepEqual(bookedFor(world, final), booked);
  });
}

test("the form of each step posts the fields of the status to the address in the status", async (t) => {
  const world = await joinWorld(t);
  const first = await statusOf(await beginWith(world, cards.challenge));
  const second = (await beginChallenge(world)).status;
  const third = (await beginPares(world)).status;

  const [method, challenge, pareq] = [first, second, third].map(
    ({ html = "" }) => readForms(html)[0],
  );

  assert.equal(method?.action, first["tds-method-url-frame-3ds-method-url"]);
  const packed = method?.fields["threeDSMethodData"] ?? "";
  const asked = JSON.parse(Buffer.from(packed, "base64url").toString());
  assert.equal(asked.threeDSServerTransID, first["tds-method-url-frame-3ds-server-trans-id"]);
  assert.equal(challenge?.action, second["tds-creq-form-acs-url"]);
  assert.deepEqual(challenge?.fields, { creq: second["tds-creq-form-creq"] });
  assert.equal(pareq?.action, third["tds-pareq-form-acs-url"]);
  assert.equal(pareq?.fields["PaReq"], third["tds-pareq-form-pareq"]);
  assert.equal(pareq?.fields["MD"], third["tds-pareq-form-md"]);
});

test("the method's upload contains the return address and the browser's properties", async (t) => {
  const world = await joinWorld(t);
  const { status } = await beginChallenge(world);

  const asked = await world.bank.waitForThreeDsMessage({
    type: "AReq",
    transactionId: transactionIdOf(status),
  });
  const { postTo } = await passChallenge(status);

  assert.equal(postTo, "https://shop.example/3ds");
  assert.equal(asked["threeDSCompInd"], "Y");
  assert.equal(asked["browserTZ"], "-60");
  assert.equal(asked["browserScreenWidth"], "1920");
  assert.equal(asked["browserJavaEnabled"], false);
  assert.equal(asked["purchaseAmount"], "1015");
  assert.equal(asked["purchaseCurrency"], "840");
});

test("without a method the issuer sends the browser to our own page", async (t) => {
  const world = await joinWorld(t);
  const { status } = await beginChallenge(world, cards.challengeNoMethod);

  const asked = await world.bank.waitForThreeDsMessage({
    type: "AReq",
    transactionId: transactionIdOf(status),
  });
  const { postTo } = await passChallenge(status);

  assert.ok(postTo.startsWith(`${world.gateway.url}/gw/form/challenge/`), postTo);
  assert.equal(asked["threeDSCompInd"], "U");
});

test("a group accepts the sale of its currency and its uploads, in both forms of the path", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant("secureGbp");
  const inPlaceOfAnEndpoint = merchant.client().endpoint(merchant.set.group);

  for (const at of [merchant.group(), inPlaceOfAnEndpoint]) {
    const fields = { credit_card_number: cards.challenge, currency: "GBP" };
    const order = await merchant.group().sale(saleFields(fields));
    await world.settle();
    const named = { "client-order-id": order["merchant-order-id"], orderid: order["gw-order-id"] };
    const first = await merchant.group().status(about(order, {}));
    const threeDSServerTransID = first["tds-method-url-frame-3ds-server-trans-id"] ?? "";
    await at.uploadMethodUrlResult({ ...named, threeDSServerTransID, threeDSCompInd: "Y" });
    await world.settle();
    const { cres } = await passChallenge(await merchant.group().status(about(order, {})));
    const acknowledged = await at.uploadCresResult({ ...named, cres });
    await world.settle();

    assert.equal(acknowledged.type, "async-response");
    assert.equal(acknowledged["gw-order-id"], order["gw-order-id"]);
    assertDone(await merchant.status(order), "sale_approved");
  }
});

test("v4 accepts only uploads that are signed with OAuth", async (t) => {
  const world = await startWorld(t);
  const pair = makeKeyPair();
  await giveKey(world, "demo", pair);
  const signer = { consumerKey: "demo", privateKey: pair.privateKey };
  const pending = await beginWith(world, cards.challenge);
  const named = namesOf(pending.order);
  const id = (await statusOf(pending))["tds-method-url-frame-3ds-server-trans-id"] ?? "";
  const at = world.set.endpoints["secure"];

  const method = { ...named, threeDSServerTransID: id, threeDSCompInd: "Y" };
  const path = `/gw/api/v4/upload-method-url-result/${at}`;
  const wrong = { privateKey: makeKeyPair().privateKey };
  const denied = await postSigned(world, signer, path, method, wrong);
  const unmoved = await statusOf(pending);
  const taken = await postSigned(world, signer, path, method);
  await world.settle();
  const { cres } = await passChallenge(await statusOf(pending));
  const cresPath = `/gw/api/v4/upload-cres-result/${at}`;
  const brought = await postSigned(world, signer, cresPath, { ...named, cres });
  await world.settle();

  assert.equal(denied.status, 403);
  assert.equal(unmoved["tds-status"], "MethodUrlFrame");
  assert.deepEqual([unmoved["processor-rrn"], unmoved["terminal-id"]], [undefined, undefined]);
  assert.match(taken.text, /^type=async-response&/);
  assert.match(brought.text, /^type=async-response&/);
  assertDone(await statusOf(pending), "sale_approved");
});

function namesOf(order: { "merchant-order-id": string; "gw-order-id": string }) {
  return { "client-order-id": order["merchant-order-id"], orderid: order["gw-order-id"] };
}

test("the proof also reaches a host of the other dialect, which verifies it", async (t) => {
  const world: World = await startWorld(t);
  await world.changeEndpoint("binary", { threeDSecure: "always" });

  const final = await uploadMethod(
    await beginWith(world, cards.scaRequired, { through: "binary" }),
  );

  assertDone(final, "sale_approved");
});
