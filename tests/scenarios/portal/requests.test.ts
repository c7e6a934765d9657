/**
 * Refused requests and callbacks in the portal: what is stored of a request and how much, the
 * checksum debugger and its users, deliveries with their signatures, and sending again.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { plainCard, saleFields } from "../../support/merchant.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import { runGw } from "../../support/programs.ts";
import { answerWith, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { formOf, post, sha1, signedSale } from "../../support/wire.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const stranger = await world.stranger();
const users = {
  ann: await signedIn("ann", { role: "admin" }),
  dev: await signedIn("dev", { role: "merchant-developer", merchant: "demo" }),
  eve: await signedIn("eve", { role: "merchant-viewer", merchant: "demo" }),
};
const endpoint = world.set.endpoints["plain"] ?? "";
const key = world.set.controlKey;
const path = `/gw/api/v2/sale/${endpoint}`;

async function signedIn(login: string, user: Omit<Parameters<typeof addUser>[1], "login">) {
  const browser = openBrowser(world.gateway);
  await browser.signIn(await addUser(world, { login, ...user }));
  return browser;
}

/** Returns the serial number of a refused request when it is stored. */
async function refuse(body: string, at = path): Promise<string> {
  const { text } = await post(world, at, body);
  await world.settle();
  assert.match(text, /validation-error/);
  return new URLSearchParams(text).get("serial-number") ?? "";
}

const detailOf = async (serial: string, browser = users.eve) =>
  (await browser.call("GET /requests/:serial", { serial })).body;

test("a request with a wrong checksum is stored masked, with its mistake and all its faults", async () => {
  const fields = saleFields({ amount: "10.5", cvv2: "987", expire_month: "13", phone: "" });
  const text = `${endpoint}${fields.client_orderid}10.5${fields.email}${key}`;
  const control = sha1(text);
  const serial = await refuse(formOf({ ...fields, control, note: plainCard }));

  const shown = await detailOf(serial);

  assert.deepEqual(shown.checksum?.mistakes, [{ kind: "amount_form", detail: "10.5" }]);
  assert.deepEqual(
    shown.checksum?.parts.map(({ value }) => value),
    [endpoint, fields.client_orderid, "1050", fields.email],
  );
  assert.deepEqual(shown.faults, [
    "INVALID_CONTROL_CODE",
    "MISSING_PARAMETER: phone",
    "INVALID_PARAMETER: expire_month: not of the form 1-2/Numeric",
  ]);
  assert.deepEqual(
    shown.fields.filter(({ name }) => ["credit_card_number", "cvv2", "note"].includes(name)),
    [
      { name: "credit_card_number", length: 16, isDigits: true },
      { name: "cvv2", length: 3, isDigits: true },
      { name: "note", length: 16, isDigits: true },
    ],
  );
  const { body } = await users.eve.call("GET /requests", { search: fields.client_orderid });
  assert.deepEqual(
    body.requests.map(({ serial: each, error, isSigned }) => [each, error, isSigned]),
    [[serial, "INVALID_CONTROL_CODE", false]],
  );
  const [row] = await world.installation.database.query<{ text: string }>(
    "select refused_requests::text as text from refused_requests where serial = $1",
    [serial],
  );
  const said = `${row?.text}${JSON.stringify([shown, body])}`;
  for (const secret of [plainCard, control, sha1(`${text}x`), key, '"987"', fields.address1 ?? "?"])
    assert.ok(!said.includes(secret), secret);
});

test("the correct checksum of a refused request is not stored", async () => {
  const fields = saleFields({ country: "XX", zip_code: "much too long" });
  const form = signedSale(world, endpoint, fields);
  const serial = await refuse(form);

  const shown = await detailOf(serial);

  assert.equal(shown.line.isSigned, true);
  assert.equal(shown.checksum?.matches, true);
  assert.equal(shown.faults.length, 2);
  assert.ok(!JSON.stringify(shown).includes(new URLSearchParams(form).get("control") ?? ""));
});

test("a request that contains the key itself is shown without it", async () => {
  const serial = await refuse(formOf(saleFields({ login: key, control: key.slice(0, 40) })));

  const shown = await detailOf(serial, users.ann);

  assert.deepEqual(shown.checksum?.mistakes, [{ kind: "key_as_control", detail: "" }]);
  assert.equal(JSON.stringify(shown).includes(key), false);
});

test("another merchant's key is recognised, and its owner is not shown", async () => {
  const fields = saleFields({ amount: "10.15" });
  const text = `${endpoint}${fields.client_orderid}1015${fields.email}`;
  const serial = await refuse(formOf({ ...fields, control: sha1(text + stranger.set.controlKey) }));

  const shown = await detailOf(serial, users.ann);

  assert.deepEqual(shown.checksum?.mistakes, [{ kind: "other_key", detail: "" }]);
  assert.ok(!JSON.stringify(shown).includes("stranger"));
});

test("an unreadable body and missing OAuth are stored with the reason", async () => {
  const serial = await refuse("client_orderid=%zz");
  await post(world, path.replace("v2", "v4"), formOf(saleFields()));
  await world.settle();

  assert.deepEqual((await detailOf(serial)).faults, [
    "INVALID_REQUEST: malformed percent encoding",
  ]);
  const { body } = await users.dev.call("GET /requests", { code: ["access_denied"] });
  const [denied] = body.requests;
  const shown = await detailOf(denied?.serial ?? "");
  assert.deepEqual([denied?.version, shown.check, shown.checksum], ["v4", "no_header", undefined]);
});

test("an accepted sale is an order, and not stored as a request", async () => {
  const fields = saleFields();
  assert.match((await post(world, path, signedSale(world, endpoint, fields))).text, /async/);
  await world.settle();

  const { body } = await users.ann.call("GET /requests", { search: fields.client_orderid });

  assert.deepEqual(body.requests, []);
});

test("a flood is counted and not stored, and does not replace signed requests", async () => {
  const signed = await refuse(signedSale(world, endpoint, saleFields({ country: "XX" })));
  const before = (await users.eve.call("GET /requests", { limit: 200 })).body;
  const bodies = Array.from({ length: 150 }, (_, n) => formOf({ client_orderid: `flood-${n}` }));

  await Promise.all(bodies.map((body) => post(world, path, body)));
  for (let flushes = 0; flushes < 4; flushes += 1) await world.settle();

  const { body } = await users.eve.call("GET /requests", { limit: 200 });
  const kept = body.requests.length - before.requests.length;
  assert.ok(kept <= 20, `${kept} were kept`);
  assert.equal(body.dropped - before.dropped, 150 - kept);
  assert.ok(body.requests.some(({ serial }) => serial === signed));
});

test("pages continue after the last row, and filters narrow them", async () => {
  world.clock.advance(60_000);
  for (const n of [1, 2, 3]) await refuse(formOf({ client_orderid: `page-${n}`, email: "x" }));
  const names = (requests: readonly { clientOrder: string }[]) =>
    requests.map(({ clientOrder }) => clientOrder);

  const first = (await users.eve.call("GET /requests", { limit: 2 })).body;
  const second = (await users.eve.call("GET /requests", { limit: 2, after: first.next })).body;

  assert.deepEqual(names(first.requests), ["page-3", "page-2"]);
  assert.equal(names(second.requests)[0], "page-1");
  const none = await users.eve.call("GET /requests", { operation: ["status"] });
  assert.deepEqual(none.body.requests, []);
  const one = await users.ann.call("GET /requests", { search: "page-2", endpoint: [endpoint] });
  assert.deepEqual(names(one.body.requests), ["page-2"]);
});

test("only users who may see the key can try other values, with a limit", async () => {
  const fields = {
    client_orderid: "pasted",
    amount: "10.5",
    currency: "USD",
    email: "a@b.example",
  };
  const signed = (amount: string, by = key) => sha1(`${endpoint}pasted${amount}a@b.example${by}`);
  const attempt = (control: string, browser = users.dev) =>
    browser.call("POST /checksum/try", {
      endpoint,
      operation: "sale",
      fields: { ...fields, control },
    });

  assert.deepEqual((await attempt(signed("10,50"))).body.mistakes, [
    { kind: "amount_form", detail: "10,50" },
  ]);
  assert.equal((await attempt(signed("1050"))).body.matches, true);
  const other = await attempt(signed("1050", stranger.set.controlKey));
  assert.deepEqual([other.body.matches, other.body.mistakes], [false, []]);
  assert.equal((await attempt(signed("1050"), users.eve)).status, 403);
  const foreign = { endpoint: stranger.set.endpoints["plain"] ?? "", operation: "sale", fields };
  assert.equal((await users.dev.call("POST /checksum/try", foreign)).status, 404);
  const replies = await Promise.all(Array.from({ length: 25 }, () => attempt(signed("1"))));
  assert.ok(replies.some(({ status }) => status === 429));
  for (const { body } of replies) assert.ok(!JSON.stringify(body).includes(signed("1050")));
});

test("a person's refused requests are erased with their orders", async () => {
  world.clock.advance(60_000);
  const serial = await refuse(formOf({ client_orderid: "erased", email: "Gone@example.com" }));

  await runGw(world, "privacy", "erase", "--email", "gone@example.com", "--yes");

  const { status } = await users.ann.call("GET /requests/:serial", { serial });
  assert.equal(status, 404);
});

test("deliveries are filtered, their signatures checked, and sent again with a preview", async (t) => {
  const shop = await startReceiver(t, answerWith(500, {}, "no room"));
  const merchant = world.merchant();
  const made = await merchant.sale({ server_callback_url: `${shop.url}?cart=7` });
  const order = made["gw-order-id"];
  await world.settle();
  await merchant.sale({ amount: "3.00" });
  await world.settle();
  const { host } = new URL(shop.url);
  const count = async (filter: object) =>
    (await users.eve.call("GET /callbacks", filter)).body.callbacks.length;

  assert.equal(await count({ host }), 1);
  assert.equal(await count({ host: host.split(":")[0] }), 1);
  assert.equal(await count({ order, state: "due", endpoint }), 1);
  assert.equal(await count({ order, state: "failing" }), 1);
  const [listed] = (await users.eve.call("GET /callbacks", { order })).body.callbacks;
  assert.deepEqual([listed?.lastStatus, listed?.tries], [500, 1]);
  assert.ok((listed?.nextAt ?? 0) > world.clock.now());
  assert.equal(await count({ order, endpoint: "1" }), 0);
  assert.equal(await count({ since: world.clock.now() + 1 }), 0);

  const look = async () =>
    (await users.eve.call("GET /callbacks/:order/:sequence", { order, sequence: 1 })).body;
  const [first] = (await look()).attempts;
  assert.equal(first?.signature.result, "current_key");
  assert.ok(!JSON.stringify(await look()).includes("no room"), "for operators alone");
  const ofOrder = (await users.dev.call("GET /orders/:order", { order })).body;
  assert.ok(!JSON.stringify(ofOrder.callbacks).includes("no room"));
  const { attempts } = (
    await users.ann.call("GET /callbacks/:order/:sequence", { order, sequence: 1 })
  ).body;
  assert.equal(attempts[0]?.attempt.answer, "no room");
  assert.ok(!("node" in Object(attempts[0]?.attempt)), "no node is named");
  assert.deepEqual(
    first?.signature.parts.map(({ value }) => value),
    ["approved", order, made["merchant-order-id"]],
  );
  const sent = shop.heard[0]?.fields["control"] ?? "";
  assert.match(sent, /^[0-9a-f]{40}$/);
  assert.ok(!JSON.stringify(await look()).includes(sent));

  shop.answer(answerWith(200));
  const preview = await users.dev.call("POST /callbacks/preview", { host, since: 1 });
  assert.deepEqual(preview.body, {
    count: 1,
    isMore: false,
    receivers: [{ receiver: host, count: 1 }],
  });
  world.clock.advance(1_000);
  const chosen = { host, since: "1970-01-02", merchant: "demo" };
  assert.equal((await users.eve.act("callback resend", chosen)).status, 404);
  const { result, at: resentAt } = await users.dev.act("callback resend", chosen);
  assert.equal(result["to be sent again"], 1);
  const progress = async () =>
    (await users.dev.call("GET /callbacks/progress", { host, since: 1, resentAt })).body;
  assert.deepEqual(await progress(), { delivered: 0, waiting: 1, failed: 0 });
  await world.settle();
  assert.deepEqual(await progress(), { delivered: 1, waiting: 0, failed: 0 });
  const { callback } = await look();
  assert.deepEqual([callback.resentBy, callback.lastStatus], ["dev@demo", 200]);
  await users.ann.act("callback resend", { order });
  assert.equal((await look()).callback.resentBy, undefined, "an operator's login");
  await world.settle();

  await runGw(world, "merchant", "control-key", "renew", "demo");
  await until("the node knows the new key", async () => {
    const [again] = (await look()).attempts;
    return again?.signature.result === "old_key" || undefined;
  });
});
