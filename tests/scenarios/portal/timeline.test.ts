/**
 * The timeline of an order in the portal: every message, masked before it is stored, and what the
 * merchant saw at each step.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { plainCard } from "../../support/merchant.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import { beginChallenge, beginPares, cards } from "../../support/threeds.ts";
import { post, signedStatus } from "../../support/wire.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile, { GW_DIRECTORY_TIMEOUT_S: "7" });
await addUser(world, { login: "ann", role: "admin" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
const [ann, bob] = [openBrowser(world.gateway), openBrowser(world.gateway)];
await ann.signIn("ann");
await bob.signIn("bob@demo");
const merchant = world.merchant();

async function detailOf(order: { readonly "gw-order-id": string }) {
  const { body } = await ann.call("GET /orders/:order", { order: order["gw-order-id"] });
  const messages = body.timeline.flatMap(({ event, messages: own = [] }) =>
    own.map((message) => ({ ...message, event })),
  );
  const field = (type: string, name: string) =>
    messages.find((each) => each.type === type)?.fields.find((each) => each.name.startsWith(name))
      ?.value;
  // The last entry is the present status.
  assert.deepEqual(body.timeline.findLast(({ seen }) => seen !== undefined)?.seen, body.seen);
  return { body, messages, field, types: messages.map(({ type }) => type) };
}

/** Asserts that the texts are neither in the database nor in what the browser gets. */
async function assertNowhere(order: { readonly "gw-order-id": string }, card: string) {
  const { body } = await detailOf(order);
  const stored = await world.installation.database.query<{ events: string }>(
    "select events::text as events from order_history where order_id = $1",
    [order["gw-order-id"]],
  );
  const text = JSON.stringify([body, stored]);
  assert.ok(stored.length > 0 && !text.includes(card));
  const proof = /"value": ?"([^"]{20,})"/.exec(stored.map(({ events }) => events).join())?.[1];
  const messages = JSON.stringify(body.timeline.map((entry) => entry.messages));
  assert.ok(proof === undefined || !messages.includes(proof), "an authentication value");
}

test("a plain sale stores no message, and shows both messages made from the order", async () => {
  const order = await merchant.sale({ amount: "12.30" });
  await world.settle();

  const { messages, field, body } = await detailOf(order);
  const [stored] = await world.installation.database.query<{ kept: boolean }>(
    "select bool_or(events::text like '%messages%') as kept from order_history where order_id = $1",
    [order["gw-order-id"]],
  );

  assert.equal(stored?.kept, false);
  const shape = messages.map(({ type, way, isDerived, event }) => [type, way, isDerived, event]);
  assert.deepEqual(shape, [
    ["0200", "sent", true, "authorized"],
    ["0210", "received", true, "authorized"],
  ]);
  assert.equal(field("0200", "2 "), `${plainCard.slice(0, 6)}****${plainCard.slice(-4)}`);
  assert.deepEqual([field("0200", "4 "), field("0210", "39 ")], ["000000001230", "00"]);
  assert.equal(field("0210", "38 ")?.trim(), body.transactions[0]?.approvalCode);
  assert.match(messages[0]?.raw ?? "", /^0000 {2}30 32 30 30 .*\n(.*\n)?.*\*\* \*\*/);
  await assertNowhere(order, plainCard);
});

test("the timeline shows what the merchant saw at each step", async () => {
  const order = await merchant.preauth({ amount: "30.00" });
  await world.settle();
  await merchant.capture(order, { amount: "10.00" });
  await world.settle();

  const { body, types } = await detailOf(order);

  const stages = body.timeline.flatMap(({ seen }) =>
    seen === undefined ? [] : [/&order-stage=(\w+)/.exec(seen)?.[1]],
  );
  assert.deepEqual(stages, [
    "auth_processing",
    "auth_approved",
    "capture_processing",
    "capture_approved",
  ]);
  assert.deepEqual(types, ["0100", "0110", "0220", "0230"]);
});

test("what the merchant sees is the status response, byte for byte", async () => {
  const held = await merchant.preauth({ amount: "31.20", order_desc: "Two cups & a pot" });
  const verified = await merchant.verify();
  const pending = await beginChallenge(world);
  await world.settle();
  await merchant.capture(held, { amount: "10.00" });
  await world.settle();

  const { plain = "", secure = "" } = world.set.endpoints;
  for (const order of [held, verified, pending.order]) {
    const endpoint = order === pending.order ? secure : plain;
    const named = {
      client_orderid: order["merchant-order-id"],
      orderid: order["gw-order-id"],
    };
    const path = `/gw/api/v2/status/${endpoint}`;
    const { text: answered } = await post(world, path, signedStatus(world, named));
    const { seen, timeline } = (
      await bob.call("GET /orders/:order", { order: order["gw-order-id"] })
    ).body;

    const serial = /serial-number=[0-9a-f-]{36}/;
    const [own = ""] = serial.exec(answered) ?? [];
    assert.equal(seen.replace(serial, own), answered);
    assert.equal(timeline.findLast((entry) => entry.seen !== undefined)?.seen, seen);
  }
});

test("an unanswered charge and its reversal keep their messages", async () => {
  await world.bank.setSwitches({ chargeCode: "09", reversalCode: "05" });
  const order = await merchant.sale();
  await world.settle();
  await world.bank.setSwitches({ chargeCode: null, reversalCode: null });
  await world.pass(3_600_000);
  await ann.signIn("ann");
  await bob.signIn("bob@demo");

  const { messages, types } = await detailOf(order);

  assert.deepEqual(types, ["0200", "0210", "0420", "0430", "0421", "0430"]);
  const answers = messages.filter(({ type }) => type === "0430");
  assert.deepEqual(
    answers.map(({ fields }) => fields.find(({ name }) => name.startsWith("39 "))?.value),
    ["05", "00"],
  );
  await assertNowhere(order, plainCard);
});

test("a challenge keeps the messages of both sides, without the cardholder's data", async () => {
  const pending = await beginChallenge(world);
  const { cres } = await passChallenge(pending.status);
  await world.settle();
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();

  const { types, field, messages } = await detailOf(pending.order);

  assert.deepEqual(types.toSorted(), "0200 0210 AReq ARes CReq CRes RReq RRes".split(" "));
  assert.equal(field("AReq", "acctNumber"), "400000****0024");
  assert.deepEqual([field("ARes", "transStatus"), field("RReq", "transStatus")], ["C", "Y"]);
  for (const name of ["cardholderName", "email", "browserIP", "notificationURL"]) {
    assert.ok(["****", undefined].includes(field("AReq", name)), name);
  }
  assert.equal(field("RReq", "authenticationValue"), "****");
  assert.match(messages.find(({ type }) => type === "AReq")?.raw ?? "", /"messageType": "AReq"/);
  await assertNowhere(pending.order, cards.challenge);
});

test("1.0.2 keeps its messages as well", async () => {
  const pending = await beginPares(world);
  const answer = await answerPareq(pending.status, "https://shop.example/term");
  await pending.merchant.uploadPares(pending.order, answer);
  await world.settle();

  const { types, field, messages } = await detailOf(pending.order);

  assert.deepEqual(types, ["VEReq", "VERes", "PAReq", "PARes", "0200", "0210"]);
  assert.deepEqual([field("VEReq", "pan"), field("PARes", "tx.cavv")], ["400000****0014", "****"]);
  assert.match(messages[0]?.raw ?? "", /^<VEReq>\n {2}<pan>400000\*{4}0014<\/pan>/);
  await assertNowhere(pending.order, cards.v1Authenticated);
});

test("a merchant's user sees what was answered, and no message", async () => {
  const order = await merchant.sale();
  await world.settle();

  const { body } = await bob.call("GET /orders/:order", { order: order["gw-order-id"] });

  assert.ok(body.timeline.every(({ messages }) => messages === undefined));
  assert.ok(body.timeline.some(({ seen }) => seen !== undefined));
});

test("a request is copied as a safely quoted command, without card and checksum", async () => {
  const description = "it's $(touch /tmp/owned)";
  const sold = await merchant.sale({ order_desc: description });
  await world.settle();

  const { curl } = (await detailOf(sold)).body;

  assert.match(curl, /^curl -s 'http:\/\/[^']+\/gw\/api\/v2\/sale\/\d+' \\\n/);
  assert.ok(curl.includes(`'order_desc=it'\\''s $(touch /tmp/owned)'`), curl);
  assert.ok(curl.includes("'control=CONTROL'") && curl.includes("=CARD_NUMBER'"));
  assert.ok(!curl.includes(plainCard));
});

test("a gateway that stops lists its last orders in the portal", async (t) => {
  const own = await startWorld(t, { GW_DRAIN_S: "30" });
  const order = await own.merchant().sale();

  await own.restart();

  const { query } = own.installation.database;
  const rows = await query("select from order_index where order_id = $1", [order["gw-order-id"]]);
  assert.equal(rows.length, 1);
});
