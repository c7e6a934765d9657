/**
 * What issuers say of the payer's address and of the CVV: in the status of an order, and to rules
 * that forbid an approval because of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatusReply } from "@tollgate/client";
import { testOnAllDialects } from "../../support/bank/dialects.ts";
import { bookedFor } from "../../support/expect.ts";
import type { SaleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld, type World } from "../../support/world.ts";

const wrongAddress = "4000005000000019";
const wrongCvv = "4000005000000050";
const noMatch = { kind: "checks", parameters: { address: "no-match", cvv: "no-match" } };

const names = ["avs-result", "avs-address", "avs-postcode", "cvv-result"] as const;

function checksIn(status: StatusReply): readonly (string | undefined)[] {
  return names.map((name) => status[name]);
}

async function pay(world: World, through: string, fields: SaleFields): Promise<StatusReply> {
  const merchant = world.merchant(through);
  const order = await merchant.sale(fields);
  await world.settle();
  return merchant.status(order);
}

// biome-ignore format: a table
const cards: readonly (readonly [card: string, ...letters: (string | undefined)[]])[] = [
  ["4111111111111111", "Y", "match",       "match",       "match"],
  [wrongAddress,       "N", "no-match",    "no-match",    "match"],
  ["4000005000000027", "A", "match",       "no-match",    "match"],
  ["4000005000000035", "Z", "no-match",    "match",       "match"],
  ["4000005000000043", "U", "not-checked", "not-checked", "match"],
  [wrongCvv,           "Y", "match",       "match",       "no-match"],
  ["4000005000000068", "Y", "match",       "match",       "not-checked"],
];

testOnAllDialects("the status has the issuer's results", async (t, { through }) => {
  const world = await joinWorld(t);
  for (const [card, ...results] of cards) {
    const status = await pay(world, through, { credit_card_number: card });

    assert.equal(status.status, "approved", card);
    assert.deepEqual(checksIn(status), results, card);
  }
  const refused = await pay(world, through, { cvv2: "999" });
  assert.deepEqual([refused["error-code"], refused["cvv-result"]], ["160", "no-match"]);
});

testOnAllDialects("an endpoint without addresses gets no result for one", async (t, dialect) => {
  const world = await startWorld(t);
  const { through } = dialect;
  await world.changeEndpoint(through, { optionalFields: ["address1", "zip_code"] });

  const none = await pay(world, through, { address1: undefined, zip_code: undefined });
  const half = await pay(world, through, { address1: undefined });

  assert.deepEqual(checksIn(none), [undefined, undefined, undefined, "match"]);
  assert.deepEqual(checksIn(half), ["Z", "no-match", "match", "match"]);
});

testOnAllDialects("a rule has the approval reversed", async (t, { through }) => {
  const world = await startWorld(t);
  await world.screenBy({ ...noMatch, endpoint: through });

  for (const [card, code] of [
    [wrongAddress, "165"],
    [wrongCvv, "166"],
  ] as const) {
    const status = await pay(world, through, { credit_card_number: card });
    assert.deepEqual([status.status, status["error-code"]], ["declined", code]);
    assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
  }
  const right = await pay(world, through, {});
  assert.deepEqual(bookedFor(world, right), ["sale 1015"]);
});

test("a verification that a rule forbids is declined, and nothing has to be reversed", async (t) => {
  const world = await startWorld(t);
  await world.screenBy(noMatch);
  const merchant = world.merchant();

  const asked = await merchant.verify({ credit_card_number: wrongAddress });
  await world.settle();

  const status = await merchant.status(asked);
  assert.deepEqual([status["order-stage"], status["error-code"]], ["av_declined", "165"]);
});

test("a rule that marks, or that another one allows, leaves the approval alone", async (t) => {
  const world = await startWorld(t);
  const all = { kind: "amount", parameters: { currency: "USD", min: "10000" }, action: "allow" };
  for (const rules of [[{ ...noMatch, action: "mark" }], [noMatch, all]]) {
    await world.screenBy(...rules);
    const status = await pay(world, "plain", { credit_card_number: wrongAddress });

    assert.equal(status.status, "approved");
    const rows = await world.installation.database.query<{ events: string }>(
      "select events::text from order_history where order_id = $1",
      [status["gw-order-id"]],
    );
    const history = rows.map(({ events }) => events).join();
    assert.match(history, /"kind":"checks","scope":"gateway","action":"mark"/);
  }
});

test("a rule forbids an approval that only an inquiry finds", async (t) => {
  const world = await startWorld(t);
  await world.screenBy({ kind: "checks", parameters: { address: "unless-match" } });
  const merchant = world.merchant("binary");

  const order = await merchant.sale({ credit_card_number: "4000004000000129" });
  await world.bank.waitForMessage({ mti: "0200" });
  await world.pass(30_000);
  await world.settle();

  const status = await merchant.status(order);
  assert.deepEqual([status.status, status["error-code"]], ["declined", "165"]);
  assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
});

test("after a forbidden result no smaller amount of a list is tried", async (t) => {
  const world = await startWorld(t);
  const cardrefid = await world.registerCard(wrongCvv);
  await world.screenBy(noMatch);
  const merchant = world.merchant();

  const order = await merchant.rebill({
    cardrefid,
    cvv2: "123",
    recurrent_initiator: "CARDHOLDER",
    enumerate_amounts: "5.00",
  });
  await world.settle();

  const status = await merchant.status(order);
  assert.equal(status["error-code"], "166");
  assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
});

test("a rule leaves a merchant's own payment with a stored card alone", async (t) => {
  const world = await startWorld(t);
  const cardrefid = await world.registerCard(wrongAddress);
  const strict = { address: "unless-match", cvv: "unless-match" };
  await world.screenBy({ kind: "checks", parameters: strict });
  const merchant = world.merchant();

  const order = await merchant.rebill({ cardrefid, recurrent_initiator: "MERCHANT" });
  await world.settle();

  assert.equal((await merchant.status(order)).status, "approved");
});
