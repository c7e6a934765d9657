/**
 * Hosted fields on the wire: tickets, the tokenization as a field's document posts it, and tokens
 * in the requests that begin an order. Each is used once, by any number of simultaneous requests.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import {
  idOf,
  paidBy,
  readReply,
  shopOrigin,
  signer,
  switchOn,
  ticketFor,
  tokenFor,
  tokenize,
} from "../support/hosted-fields.ts";
import { joinWorld } from "../support/shared-world.ts";
import { cards } from "../support/threeds.ts";
import { post, postSigned, signedSale } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

const joinFieldsWorld = (t: Parameters<typeof joinWorld>[0]) => joinWorld(t, {}, switchOn);
const lifeMs = 900_000;
const ticketPath = (id: string) => `/gw/api/v4/tokenize/create-ephemeral-ticket/${id}`;

function sale(world: World, fields: ReturnType<typeof paidBy>, endpoint = "plain") {
  const id = idOf(world, endpoint);
  return post(world, `/gw/api/v2/sale/${id}`, signedSale(world, id, fields)).then(readReply);
}

test("a ticket is random, and is told in both formats", async (t) => {
  const world = await joinFieldsWorld(t);
  const id = idOf(world);

  const reply = await postSigned(world, signer, ticketPath(id), {});

  const form = /^type=create-ephemeral-ticket-response&serial-number=[\w-]{36}&ephemeralTicket=/;
  assert.match(reply.text, form);
  assert.match(await ticketFor(world), new RegExp(`^${id}\\.[\\w-]{32}$`));
  assert.notEqual(await ticketFor(world), await ticketFor(world));
});

test("a ticket needs a signature, the endpoint's setting and a site that shows the fields", async (t) => {
  const world = await startWorld(t);
  await switchOn(world, []);
  const path = ticketPath(idOf(world));

  const unsigned = await post(world, path, "");
  const withoutSites = readReply(await postSigned(world, signer, path, {}));
  await world.changeEndpoint("plain", { hostedFields: false, embedOrigins: [shopOrigin] });
  const off = readReply(await postSigned(world, signer, path, {}));

  assert.equal(unsigned.status, 403);
  for (const refused of [withoutSites, off]) {
    assert.deepEqual([refused["type"], refused["error-code"]], ["error", "13"]);
  }
});

test("tickets of a merchant are limited", async (t) => {
  const world = await startWorld(t, { GW_RATE_TICKETS_PER_S: "2" });
  await switchOn(world);
  const path = ticketPath(idOf(world));

  await ticketFor(world);
  await ticketFor(world);
  const third = await postSigned(world, signer, path, {});

  assert.deepEqual([third.status, readReply(third)["error-code"]], [429, "12"]);
  assert.equal(third.headers.get("retry-after"), "1");
});

test("a sale with a token is approved, and shows the card like any sale", async (t) => {
  const world = await joinFieldsWorld(t);

  const accepted = await sale(world, paidBy(await tokenFor(world)));
  await world.settle();

  assert.equal(accepted["type"], "async-response", JSON.stringify(accepted));
  const order = { "merchant-order-id": accepted["merchant-order-id"] ?? "" };
  const status = await world.merchant().status(order);
  assert.equal(status["order-stage"], "sale_approved");
  assert.deepEqual([status.bin, status["last-four-digits"]], ["411111", "1111"]);
  assert.deepEqual([status["card-exp-month"], status["card-exp-year"]], ["12", "2031"]);
  assert.equal(status["cardholder-name"], "JANE DOE");
});

test("a preauthorisation, a verification and v4 take tokens too, and the group its own", async (t) => {
  const world = await joinFieldsWorld(t);
  const grouped = paidBy(await tokenFor(world, {}, `group/${world.set.group}`));

  const held = await world.merchant().preauth(paidBy(await tokenFor(world)));
  const verified = await world.merchant().verify(paidBy(await tokenFor(world)));
  const path = `/gw/api/v4/sale/${idOf(world)}`;
  const signed = readReply(await postSigned(world, signer, path, paidBy(await tokenFor(world))));
  const ofGroup = await world.merchant().group().sale(grouped);
  await world.settle();

  assert.equal((await world.merchant().status(held)).status, "approved");
  assert.equal((await world.merchant().status(verified)).status, "approved");
  assert.equal((await world.merchant().status(ofGroup)).status, "approved");
  assert.equal(signed["type"], "async-response", JSON.stringify(signed));
});

test("the card of a token with 3-D Secure is held for its order", async (t) => {
  const world = await joinFieldsWorld(t);
  const card = { cardNumber: cards.challenge };
  const token = await tokenFor(world, card, idOf(world, "secure"));

  const accepted = await sale(world, paidBy(token), "secure");
  await world.settle();

  const order = { "merchant-order-id": accepted["merchant-order-id"] ?? "" };
  const status = await world.merchant("secure").status(order, "secure");
  assert.equal(status["order-stage"], "sale_3d_validating");
  const contexts = await contextsOf(world);
  assert.ok(contexts.some((each) => each.endsWith(`/${accepted["gw-order-id"]}`)));
});

// biome-ignore format: a table
const beside = [
  [{ credit_card_number: "4111111111111111" }, "INVALID_PARAMETER: credit_card_number: not beside hosted_fields_token"],
  [{ expire_month: "12" },                     "INVALID_PARAMETER: expire_month: not beside hosted_fields_token"],
  [{ cvv2: "123" },                            "INVALID_PARAMETER: cvv2: not beside hosted_fields_token"],
  [{ payment_data: "e30=", payment_data_type: "walletb_encrypted" }, "INVALID_PARAMETER: hosted_fields_token: not beside payment_data"],
  [{ card_printed_name: undefined },           "MISSING_PARAMETER: card_printed_name"],
  [{ redirect_url: "https://shop.example/4111111111111111" }, "INVALID_PARAMETER: redirect_url: contains the card number"],
] as const;

test("a refused request leaves the token, which then pays for another request", async (t) => {
  const world = await joinFieldsWorld(t);
  const token = await tokenFor(world);
  for (const [fields, sentence] of beside) {
    const refused = await sale(world, paidBy(token, fields));
    assert.deepEqual([refused["error-message"]], [sentence]);
  }
  const known = await sale(world, paidBy(await tokenFor(world)));
  const client_orderid = known["merchant-order-id"];
  const duplicate = await sale(world, paidBy(token, { client_orderid }));

  const accepted = await sale(world, paidBy(token));
  await world.settle();

  assert.equal(duplicate["error-code"], "7");
  assert.equal(accepted["type"], "async-response", JSON.stringify(accepted));
});

test("a token pays for one order, and the identical request is acknowledged again", async (t) => {
  const world = await joinFieldsWorld(t);
  const token = await tokenFor(world);
  const fields = paidBy(token);

  const first = await sale(world, fields);
  const again = await sale(world, fields);
  const other = await sale(world, paidBy(token));
  const unknown = await sale(world, paidBy("A".repeat(44)));
  await world.settle();
  const later = await sale(world, fields);

  assert.equal(again["gw-order-id"], first["gw-order-id"]);
  assert.equal(later["gw-order-id"], first["gw-order-id"]);
  for (const refused of [other, unknown]) {
    assert.deepEqual(
      [refused["type"], refused["error-code"], refused["error-message"]],
      ["validation-error", "16", "TOKEN_NOT_FOUND"],
    );
  }
  assert.equal(world.bank.ledger().length, 1);
});

test("a token is unknown at another endpoint and after its quarter of an hour", async (t) => {
  const world = await joinFieldsWorld(t);
  const [token, late] = [await tokenFor(world), await tokenFor(world)];

  const elsewhere = await sale(world, paidBy(token), "secure");
  const here = await sale(world, paidBy(token));
  await world.settle();
  await world.pass(lifeMs);
  const expired = await sale(world, paidBy(late));

  assert.equal(elsewhere["error-code"], "16");
  assert.equal(here["type"], "async-response");
  assert.equal(expired["error-code"], "16");
});

test("of many simultaneous requests at two nodes, one pays with the token", async (t) => {
  const world = await startWorld(t);
  await switchOn(world);
  const other = await world.otherNode("beta");
  const token = await tokenFor(world);
  const id = idOf(world);
  const [mine, theirs] = [paidBy(token), paidBy(token)];
  const ports = [world.gateway.port, other.port];
  const requests = [mine, theirs, mine, theirs, mine, theirs].map((fields, at) =>
    fetch(`http://127.0.0.1:${ports[at % 2]}/gw/api/v2/sale/${id}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: signedSale(world, id, fields),
    }),
  );

  const texts = await Promise.all(requests.map(async (request) => (await request).text()));
  await world.settle();
  await other.settle();

  const replies = texts.map((text) => Object.fromEntries(new URLSearchParams(text)));
  const accepted = replies.filter((reply) => reply["type"] === "async-response");
  assert.equal(new Set(accepted.map((reply) => reply["gw-order-id"])).size, 1, texts.join("\n"));
  assert.equal(accepted.length, 3);
  assert.deepEqual(
    replies.filter((reply) => !accepted.includes(reply)).map((reply) => reply["error-code"]),
    ["16", "16", "16"],
  );
});

test("of many simultaneous tokenizations at two nodes, one uses the ticket", async (t) => {
  const world = await startWorld(t);
  await switchOn(world);
  const other = await world.otherNode("beta");
  const ephemeralTicket = await ticketFor(world);
  const urls = [world.gateway.url, other.url, world.gateway.url, other.url];

  const all = await Promise.all(urls.map((url) => tokenize(world, { ephemeralTicket }, own, url)));

  assert.equal(all.filter(({ told }) => "hostedFieldsToken" in told).length, 1);
  const codes = all.flatMap(({ told }) => told["code"] ?? []);
  assert.deepEqual(codes, [4003, 4003, 4003]);
  assert.equal((await contextsOf(world)).length, 1);
});

test("the card is destroyed when the token is spent, and when it expires", async (t) => {
  const world = await startWorld(t);
  await switchOn(world);
  const token = await tokenFor(world);
  const held = await contextsOf(world);

  await sale(world, paidBy(token));
  const spent = await contextsOf(world);
  await tokenFor(world);
  await ticketFor(world);
  await world.pass(lifeMs + 60_000);
  await world.gateway.cleanUp();

  assert.equal(held.length, 1);
  assert.equal(held[0]?.includes(token), false);
  assert.deepEqual(spent, []);
  assert.deepEqual(await contextsOf(world), []);
  assert.deepEqual(await world.readRows("select from hosted_fields"), []);
});

const own = { "sec-fetch-site": "same-origin" };

// biome-ignore format: a table
const refusedCards = [
  [{ cardNumber: "4111 1111 1111 1112" }, 4004],
  [{ cardNumber: "4111" },                4004],
  [{ expiryDate: "13/31" },               4002],
  [{ expiryDate: "12/20" },               4002],
  [{ expiryDate: "" },                    4002],
  [{ cvv: "12" },                         4002],
  [{ cvv: 123 },                          4002],
  [{ endpointId: "1" },                   4005],
] as const;

test("a card that the gateway refuses spends the ticket", async (t) => {
  const world = await joinFieldsWorld(t);
  for (const [fields, code] of refusedCards) {
    const ephemeralTicket = await ticketFor(world);
    const refused = await tokenize(world, { ephemeralTicket, ...fields });
    const again = await tokenize(world, { ephemeralTicket });

    assert.deepEqual([refused.status, refused.told["code"]], [400, code], JSON.stringify(fields));
    assert.equal(again.told["code"], 4003);
  }
});

test("a ticket is unknown after its quarter of an hour, and no token is one", async (t) => {
  const world = await joinFieldsWorld(t);
  const [ephemeralTicket, token] = [await ticketFor(world), await tokenFor(world)];

  await world.pass(lifeMs);
  const expired = await tokenize(world, { ephemeralTicket });
  const invented = await tokenize(world, { ephemeralTicket: `${idOf(world)}.${token}` });
  const asToken = await sale(world, paidBy(await ticketFor(world)));

  assert.deepEqual([expired.told["code"], invented.told["code"]], [4003, 4003]);
  assert.equal(asToken["error-code"], "16");
});

// biome-ignore format: a table
const strangers = [
  [{ "sec-fetch-site": "cross-site" },      403],
  [{ "sec-fetch-site": "same-site" },       403],
  [{ "sec-fetch-site": "none" },            403],
  [{ origin: "https://evil.example" },      403],
  [{ origin: "null" },                      403],
  [{},                                      403],
] as const;

test("only the fields' own documents may post a card, and no site reads the answer", async (t) => {
  const world = await joinFieldsWorld(t);
  const ephemeralTicket = await ticketFor(world);
  for (const [headers, status] of strangers) {
    const refused = await tokenize(world, { ephemeralTicket }, headers);
    assert.equal(refused.status, status, JSON.stringify(headers));
  }

  const url = `${world.gateway.url}/gw/api/v4/tokenize/hosted-fields`;
  const preflight = await fetch(url, { method: "OPTIONS", headers: { origin: shopOrigin } });
  const older = await tokenize(world, { ephemeralTicket }, { origin: world.gateway.url });

  assert.equal(preflight.status, 405);
  assert.equal(preflight.headers.get("access-control-allow-origin"), null);
  assert.ok("hostedFieldsToken" in older.told, JSON.stringify(older));
});

test("what cannot be read is refused without a word of it, and reaches no log", async (t) => {
  const world = await joinFieldsWorld(t);
  const url = `${world.gateway.url}/gw/api/v4/tokenize/hosted-fields`;
  const number = "4000009999999992";
  for (const body of [`{"cardNumber":"${number}"`, number, `["${number}"]`, "null", ""]) {
    const answer = await fetch(url, { method: "POST", headers: own, body });
    const text = await answer.text();

    assert.equal(answer.status, 400);
    assert.equal(JSON.parse(text).code, 4001, body);
    assert.equal(text.includes(number), false);
  }
  assert.equal(world.logged.join("\n").includes(number), false);
});

test("many tries from an address need a proof of work, and end the tokenization", async (t) => {
  const world = await startWorld(t, {
    GW_PAYMENT_PAGE_TRIES_PER_IP: "2",
    GW_PROOF_OF_WORK_BITS: "4",
  });
  await switchOn(world);
  const refusedCard = { cardNumber: "4000004000000020" };
  const payRefused = async () => {
    const { told } = await tokenize(world, {
      ephemeralTicket: await ticketFor(world),
      ...refusedCard,
    });
    const token = told["hostedFieldsToken"] ?? assert.fail(JSON.stringify(told));
    await sale(world, paidBy(token, { ipaddress: "127.0.0.1" }));
    await world.settle();
  };

  await payRefused();
  const ephemeralTicket = await ticketFor(world);
  const asked = await tokenize(world, { ephemeralTicket, ...refusedCard });
  const challenge = asked.told["challenge"] ?? assert.fail(JSON.stringify(asked));
  const wrong = await tokenize(world, { ephemeralTicket, ...refusedCard, proof: `${challenge}:x` });
  const proved = await tokenize(world, {
    ephemeralTicket,
    ...refusedCard,
    proof: solve(challenge),
  });
  const token = proved.told["hostedFieldsToken"] ?? assert.fail(JSON.stringify(proved));
  await sale(world, paidBy(token, { ipaddress: "127.0.0.1" }));
  await world.settle();
  const third = await tokenize(world, { ephemeralTicket: await ticketFor(world) });

  assert.ok("challenge" in wrong.told);
  assert.deepEqual([third.status, third.told["code"]], [429, 5003]);
});

/** Searches the solution as the field's script does. */
function solve(challenge: string): string {
  const bits = Number(challenge.split(".")[0]);
  const seed = challenge.slice(-40);
  for (let count = 0; ; count += 1) {
    const digest = hash("sha256", seed + count, "buffer");
    if (Math.clz32(digest.readUInt32BE()) >= bits) return `${challenge}:${count}`;
  }
}

async function contextsOf(world: World): Promise<readonly string[]> {
  const rows = await world.readRows<{ context: string }>("select context from held_secrets");
  return rows.map(({ context }) => context);
}
