/** Uploads that are repeated, simultaneous, too early, too late, or from another party. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import {
  beginChallenge,
  beginPares,
  beginWith,
  cards,
  chargesAt,
  forgeCres,
  joinPatientWorld,
  type Pending,
  startPatientWorld,
  statusOf,
  uploadMethod,
  uploadMethodOnly,
} from "../../support/threeds.ts";
import { formOf, post, sha1 } from "../../support/wire.ts";
import type { World } from "../../support/world.ts";

const someId = "8a880dc0-d2d2-4067-bcb1-b08d1690b26e";

test("a repeated upload is acknowledged at any time, and changes nothing", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, cards.challenge);
  const { merchant, order } = pending;
  const threeDSServerTransID = await methodIdOf(pending);
  const method = () => merchant.uploadMethod(order, { threeDSServerTransID });

  const replies = [await method(), await method()];
  await world.settle();
  replies.push(await method());
  const { cres } = await passChallenge(await statusOf(pending));
  const challenge = () => merchant.uploadCres(order, cres);
  replies.push(await challenge(), await challenge());
  await world.settle();
  replies.push(await method(), await challenge());
  await world.settle();
  const final = await statusOf(pending);

  assert.deepEqual(new Set(replies.map(({ type }) => type)), new Set(["async-response"]));
  const orders = new Set(replies.map((reply) => reply["gw-order-id"]));
  assert.deepEqual(orders, new Set([order["gw-order-id"]]));
  const serials = new Set(replies.map((reply) => reply["serial-number"]));
  assert.equal(serials.size, replies.length);
  assert.deepEqual(bookedFor(world, final), ["sale 1015"]);
  const asked = world.bank.threeDsMessages(threeDSServerTransID);
  assert.equal(asked.filter(({ type }) => type === "AReq").length, 1);
});

test("an upload may be repeated even after the payment was returned", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, cards.challenge);
  const { merchant, order } = pending;
  const threeDSServerTransID = await methodIdOf(pending);
  const { cres } = await passChallenge(await uploadMethod(pending));
  await merchant.uploadCres(order, cres);
  await world.settle();
  await merchant.return(order);
  await world.settle();

  const replies = [
    await merchant.uploadMethod(order, { threeDSServerTransID }),
    await merchant.uploadCres(order, cres),
  ];
  await world.settle();

  assert.deepEqual(new Set(replies.map(({ type }) => type)), new Set(["async-response"]));
  assert.equal((await statusOf(pending))["order-stage"], "reversal_approved");
  assert.equal(chargesAt(world), 1);
});

test("twenty simultaneous uploads of one step lead to one request and one charge", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, cards.challenge);
  const { merchant, order } = pending;
  const threeDSServerTransID = await methodIdOf(pending);

  const methods = await atOnce(() => merchant.uploadMethod(order, { threeDSServerTransID }));
  await world.settle();
  const { cres } = await passChallenge(await statusOf(pending));
  const challenges = await atOnce(() => merchant.uploadCres(order, cres));
  await world.settle();

  assert.deepEqual([...methods, ...challenges], ["async-response", "async-response"]);
  assert.deepEqual(bookedFor(world, await statusOf(pending)), ["sale 1015"]);
  assert.equal(chargesAt(world), 1);
  const asked = world.bank.threeDsMessages(threeDSServerTransID);
  assert.equal(asked.filter(({ type }) => type === "AReq").length, 1);
});

test("uploads of two nodes at once lead to one charge", async (t) => {
  const world = await startPatientWorld(t);
  const pending = await beginWith(world, cards.frictionless);
  const other = await world.otherNode("another");
  const there = world.merchantAt(other);
  const { merchant, order } = pending;
  const threeDSServerTransID = await methodIdOf(pending);

  const replies = await atOnce((at) =>
    at % 2 === 0
      ? merchant.uploadMethod(order, { threeDSServerTransID })
      : there.uploadMethod(order, { threeDSServerTransID }, "secure"),
  );
  await world.settle();
  await other.settle();

  assert.deepEqual(replies, ["async-response"]);
  assert.equal((await statusOf(pending)).status, "approved");
  assert.equal(chargesAt(world), 1);
});

test("a result and a browser that arrive simultaneously at two nodes lead to one charge", async (t) => {
  const world = await startPatientWorld(t);
  const other = await world.otherNode("another");
  const there = world.merchantAt(other);
  const all = [];
  for (let count = 0; count < 8; count += 1) all.push(await beginChallenge(world));

  await Promise.all(
    all.flatMap(({ status, order, merchant }) => [
      passChallenge(status),
      merchant.uploadCres(order, forgeCres(status)),
      there.uploadCres(order, forgeCres(status), "secure"),
    ]),
  );
  await world.settle();
  await other.settle();

  const statuses = await Promise.all(all.map(statusOf));
  const ends = new Set(statuses.map((status) => status["order-stage"]));
  assert.deepEqual(ends, new Set(["sale_approved"]));
  assert.equal(chargesAt(world), all.length);
});

test("an upload for a step that the order has not reached is refused", async (t) => {
  const world = await joinPatientWorld(t);
  const atMethod = await beginWith(world, cards.challenge);
  const atChallenge = await beginChallenge(world);
  const noMethod = await beginChallenge(world, cards.challengeNoMethod);
  const atPares = await beginPares(world);
  const plain = await beginWith(world, cards.other, { through: "plain" });
  const unenrolled = await beginWith(world, cards.notEnrolled);
  const answer = await answerPareq(atPares.status, "https://shop.example/term");
  const cres = forgeCres(atChallenge.status);

  await assertRefused(atMethod.merchant.uploadCres(atMethod.order, cres), 9);
  for (const { merchant, order } of [atPares, plain, unenrolled]) {
    await assertRefused(merchant.uploadCres(order, cres), 9);
  }
  for (const { merchant, order } of [noMethod, atPares, plain, unenrolled]) {
    await assertRefused(merchant.uploadMethod(order, { threeDSServerTransID: someId }), 9);
  }
  for (const { merchant, order } of [atMethod, atChallenge, plain, unenrolled]) {
    await assertRefused(merchant.uploadPares(order, answer), 9);
  }
  await world.settle();

  assert.equal((await statusOf(atMethod))["tds-status"], "MethodUrlFrame");
  assert.equal((await statusOf(atChallenge))["tds-status"], "CReqForm");
  assert.equal((await statusOf(atPares))["tds-status"], "PaReqForm");
});

test("an upload of another or no authentication is refused as a wrong value", async (t) => {
  const world = await joinPatientWorld(t);
  const [atMethod, otherMethod] = [
    await beginWith(world, cards.challenge),
    await beginWith(world, cards.challenge),
  ];
  const [first, second] = [await beginChallenge(world), await beginChallenge(world)];
  const foreign = await methodIdOf(otherMethod);
  const cresOf = (cres: string) => first.merchant.uploadCres(first.order, cres);

  await assertRefused(uploadMethodOnly(atMethod, { threeDSServerTransID: foreign }), 5);
  await assertRefused(uploadMethodOnly(atMethod, { threeDSServerTransID: "no id" }), 5);
  await assertRefused(uploadMethodOnly(atMethod, { threeDSServerTransID: "" }), 4);
  await assertRefused(uploadMethodOnly(atMethod, { threeDSCompInd: "" }), 4);
  await assertRefused(uploadMethodOnly(atMethod, { threeDSCompInd: "X" }), 5);
  await assertRefused(cresOf(forgeCres(second.status)), 5);
  await assertRefused(cresOf(forgeCres(first.status, { acsTransID: someId })), 5);
  await assertRefused(cresOf(forgeCres(first.status, { messageType: "CReq" })), 5);
  await assertRefused(cresOf("!!!"), 5);
  await assertRefused(cresOf("AAAA"), 5);
  await assertRefused(cresOf(""), 4);
  await world.settle();

  assert.equal((await statusOf(atMethod))["tds-status"], "MethodUrlFrame");
  assert.equal((await statusOf(first))["tds-status"], "CReqForm");
  assert.equal(chargesAt(world), 0);
});

test("another merchant, or a wrong checksum, cannot move an order", async (t) => {
  const world = await startPatientWorld(t);
  const pending = await beginWith(world, cards.frictionless);
  const threeDSServerTransID = await methodIdOf(pending);
  const stranger = await world.stranger();

  const foreign = stranger.uploadMethod(pending.order, { threeDSServerTransID }, "secure");
  await assertRefused(foreign, 6);
  const unsigned = await postUpload(world, pending.order, { threeDSServerTransID });
  const unnamed = await postUpload(world, { ...pending.order, "merchant-order-id": "" }, {});
  await world.settle();

  assert.match(unsigned, /&error-message=INVALID_CONTROL_CODE&error-code=2$/);
  assert.match(unnamed, /&error-code=4$/);
  assert.equal((await statusOf(pending))["tds-status"], "MethodUrlFrame");
});

async function methodIdOf(pending: Pending): Promise<string> {
  const id = (await statusOf(pending))["tds-method-url-frame-3ds-server-trans-id"];
  assert.ok(id !== undefined, "there is no method to run");
  return id;
}

/** Uploads simultaneously, and returns the different types of the answers. */
async function atOnce(upload: (at: number) => Promise<{ readonly type: string }>) {
  const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => upload(at)));
  return [...new Set(replies.map(({ type }) => type))];
}

/** Posts an upload that is signed with a key of another merchant. */
async function postUpload(
  world: World,
  order: Acknowledged,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const { login, endpoints } = world.set;
  const named = { "client-order-id": order["merchant-order-id"], orderid: order["gw-order-id"] };
  const control = sha1(`${login}${named["client-order-id"]}${named.orderid}another key`);
  const body = formOf({ login, ...named, threeDSCompInd: "Y", ...fields, control });
  const path = `/gw/api/3ds/v1/upload-method-url-result/${endpoints["secure"]}`;
  return (await post(world, path, body)).text;
}
