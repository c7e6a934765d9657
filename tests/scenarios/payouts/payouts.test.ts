/** Payouts: money for a card goes out at most once, and nothing ever takes it back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { testOnAllDialects, testOnEachDialect } from "../../support/bank/dialects.ts";
import { writeLines } from "../../support/bank/settlement.ts";
import { settleByHand } from "../../support/doubt.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { type Acknowledged, about } from "../../support/merchant.ts";
import { runGw } from "../../support/programs.ts";
import { startReceiver } from "../../support/receiver.ts";
import { authorizationFor, makeKeyPair, send, sha1, worldsWithKey } from "../../support/wire.ts";
import type { World } from "../../support/world.ts";

const keys = makeKeyPair();
const { startSigned, joinSigned } = worldsWithKey(keys);

const plainCard = "4000001000000018";
const refused = "4000004100000011";
const unanswered = "4000004100000029";
const notBooked = "4000004100000037";
const silent = "4000004100000045";

const answerTimeoutMs = 30_000;

let count = 0;

function payeeOf(world: World, through = "plain") {
  const oauth = {
    consumerKey: "demo",
    privateKey: keys.privateKey,
    now: () => world.clock.now(),
  };
  const client = makeClient({ baseUrl: world.gateway.url, oauth, tries: 1 });
  const at = client.endpoint(world.set.endpoints[through] ?? "");
  const filled = (fields: object) => {
    count += 1;
    const client_orderid = `payout-${count}`;
    return { client_orderid, amount: "25.00", currency: "USD", ...fields };
  };
  return {
    at,
    payOut: (fields: object = {}) =>
      at.payout(filled({ credit_card_number: plainCard, ...fields })),
    payOutByRef: (fields: object) => at.payoutByRef(filled(fields)),
    status: (order: Acknowledged) => at.status(about(order, {})),
  };
}

/** Asserts that no message about the order could take the money back. */
function assertNotReversed({ bank }: World, reference: string | undefined): void {
  const types = bank.messages(reference).map(({ mti }) => mti);
  assert.deepEqual(
    types.filter((mti) => /^.4/.test(mti)),
    [],
  );
}

/** The connection is reset when the answer does not come. The next one settles the doubt. */
async function passTimeout(world: World): Promise<void> {
  await world.pass(answerTimeoutMs);
  await world.linksUp();
  await world.pass(answerTimeoutMs);
}

testOnAllDialects("a payout sends the money once, and nothing follows it", async (t, dialect) => {
  const world = await joinSigned(t);
  const { at, payOut, payOutByRef, status } = payeeOf(world, dialect.through);
  const fields = { client_orderid: `once-${dialect.name}` };

  const asked = await payOut(fields);
  const repeated = await payOut(fields);
  await world.settle();
  await assertRefused(payOut({ ...fields, amount: "25.01" }), 7);
  const paid = await status(asked);
  for (const follow of [at.return, at.void, at.capture]) {
    await assertRefused(follow(about(asked, {})), 9);
  }

  assert.equal(asked.type, "async-response");
  assert.equal(repeated["gw-order-id"], asked["gw-order-id"]);
  assert.equal(paid["order-stage"], "payout_approved");
  assert.equal(paid["transaction-type"], "payout");
  assert.equal(paid["dest-bin"], "400000");
  assert.equal(paid["dest-last-four-digits"], "0018");
  assert.equal(paid["dest-card-type"], "VISA");
  assert.match(paid["destination-hash-id"] ?? "", /^\d+$/);
  const source = [
    "bin",
    "last-four-digits",
    "card-type",
    "card-hash-id",
    "cardholder-name",
    "name",
  ];
  assert.deepEqual(
    source.filter((name) => name in paid),
    [],
  );
  assert.deepEqual(bookedFor(world, paid), ["payout 2500"]);

  const registered = await at.createCardRefV4(about(asked, {}));
  assert.equal(registered["card-ref-id"], undefined);
  assert.equal(registered["recurring-payment-id"], undefined);
  const byRef = await payOutByRef({ "destination-card-ref-id": registered["dst-card-ref-id"] });
  const recurring = registered["dst-recurring-payment-id"];
  const byOther = await payOutByRef({ "destination-recurring-payment-id": recurring });
  await world.settle();
  for (const order of [byRef, byOther]) {
    assert.equal((await status(order))["order-stage"], "payout_approved");
  }
  const rebill = { client_orderid: `rebill-${dialect.name}`, ipaddress: "203.0.113.7" };
  const cardrefid = registered["dst-card-ref-id"] ?? "";
  const priced = { order_desc: "none", amount: "1.00", currency: "USD" };
  await assertRefused(at.makeRebill({ ...rebill, ...priced, cardrefid }), 8);
});

testOnEachDialect("a card that was charged can be paid out to", async (t, { through }) => {
  const world = await joinSigned(t);
  const { payOutByRef, status } = payeeOf(world, through);
  const card = await world.registerCard();

  const asked = await payOutByRef({ "destination-card-ref-id": card });
  await world.settle();

  assert.deepEqual(bookedFor(world, await status(asked)), ["payout 2500"]);
  await assertRefused(payOutByRef({ "destination-recurring-payment-id": card }), 8);
  await assertRefused(payOutByRef({ "destination-card-ref-id": "1" }), 8);
  await assertRefused(payOutByRef({}), 4);
  const both = { "destination-card-ref-id": card, "destination-recurring-payment-id": card };
  await assertRefused(payOutByRef(both), 5);
});

testOnEachDialect("a refused payout ends declined, and may be tried again", async (t, dialect) => {
  const world = await joinSigned(t);
  const { payOut, status } = payeeOf(world, dialect.through);
  const fields = { client_orderid: `refused-${dialect.name}` };

  const asked = await payOut({ ...fields, credit_card_number: refused });
  await world.settle();
  const declined = await status(asked);
  const again = await payOut(fields);
  await world.settle();

  assert.equal(declined["order-stage"], "payout_declined");
  assert.equal(declined["error-code"], "119");
  assert.equal(declined["destination-hash-id"], undefined);
  assert.equal((await status(again))["order-stage"], "payout_approved");
});

testOnAllDialects("a lost answer is found by an inquiry or a repeat", async (t, dialect) => {
  const { through, inquires, mti } = dialect;
  const world = await joinSigned(t);
  const { payOut, status } = payeeOf(world, through);

  const asked = await payOut({ credit_card_number: unanswered });
  await world.bank.waitForMessage({ mti: mti("0200") });
  const again = { client_orderid: asked["merchant-order-id"], amount: "1.00" };
  await assertRefused(payOut(again), 7);
  await passTimeout(world);
  const paid = await status(asked);
  await assertRefused(payOut(again), 7);

  const types = world.bank.messages(paid["processor-rrn"]).map((each) => each.mti);
  assert.equal(types.includes(mti("0600")), inquires);
  assert.equal(types.includes(mti("0201")), !inquires);
  assert.equal(paid["order-stage"], "payout_approved");
  assert.deepEqual(bookedFor(world, paid), ["payout 2500"]);
  assertNotReversed(world, paid["processor-rrn"]);
});

test("a host that can be asked proves that nothing was paid out", async (t) => {
  const world = await joinSigned(t);
  const { payOut, status } = payeeOf(world, "binary");
  const asked = await payOut({ credit_card_number: notBooked });
  await world.bank.waitForMessage({ mti: "0200" });
  await passTimeout(world);
  const doubtful = await status(asked);

  await world.pass(answerTimeoutMs);
  const unpaid = await status(asked);
  const again = await payOut({ client_orderid: asked["merchant-order-id"], amount: "1.00" });
  await world.settle();

  assert.equal(doubtful.status, "processing");
  assert.equal(doubtful["order-stage"], "payout_unknown");
  assert.equal(unpaid["order-stage"], "payout_error");
  assert.equal(unpaid["error-code"], "5010");
  assert.deepEqual(bookedFor(world, unpaid), []);
  assertNotReversed(world, unpaid["processor-rrn"]);
  assert.equal((await status(again))["order-stage"], "payout_approved");
});

test("a host in trouble may have passed the payout on, so that its refusal leaves doubt", async (t) => {
  const world = await startSigned(t);
  const { payOut, status } = payeeOf(world);
  for (const code of ["91", "96"]) {
    await world.bank.setSwitches({ chargeCode: code });
    const asked = await payOut();
    await world.settle();
    const doubtful = await status(asked);
    const again = { client_orderid: asked["merchant-order-id"], amount: "1.00" };
    await assertRefused(payOut(again), 7);
    await world.bank.setSwitches({ chargeCode: null });
    await world.pass(3_600_000);
    const paid = await status(asked);

    assert.equal(doubtful["order-stage"], "payout_unknown", code);
    assert.equal(paid["order-stage"], "payout_approved", code);
    assert.deepEqual(bookedFor(world, paid), ["payout 2500"]);
  }
});

test("no clock settles a payout that can be neither asked about nor repeated", async (t) => {
  const world = await startSigned(t);
  await world.changeGate("sandbox", { payoutRepeatHours: 0 });
  const { payOut, status } = payeeOf(world);
  const asked = await payOut({ credit_card_number: silent });
  await world.bank.waitForMessage({ mti: "0200" });
  await world.pass(answerTimeoutMs);

  for (let day = 0; day < 3; day += 1) await world.pass(24 * 3_600_000);
  const doubtful = await status(asked);
  const { "processor-rrn": reference } = doubtful;
  const again = { client_orderid: asked["merchant-order-id"], amount: "1.00" };
  await assertRefused(payOut(again), 7);
  await settleByHand(world, asked, "done");
  const settled = await status(asked);

  assert.equal(doubtful.status, "processing");
  assert.equal(doubtful["order-stage"], "payout_unknown");
  assert.ok(world.logged.some((line) => line.includes("order.doubt_alarm")));
  assert.equal(world.bank.messages(reference).length, 1);
  assert.deepEqual(bookedFor(world, settled), ["payout 2500"]);
  assert.equal(settled["order-stage"], "payout_approved");
});

// biome-ignore format: a table
const refusals: readonly (readonly [change: Readonly<Record<string, string>>, code: number, message: RegExp])[] = [
  [{ client_orderid: "" },                                        4,  /client_orderid/],
  [{ "client-order-id": "another" },                              5,  /client-order-id: not the same as client_orderid/],
  [{ "destination-card-no": "4111111111111111" },                 5,  /destination-card-no: not the same/],
  [{ amount: "" },                                                4,  /amount/],
  [{ amount: "1.001" },                                           5,  /amount/],
  [{ amount: "0" },                                               11, /^AMOUNT_OUT_OF_RANGE/],
  [{ currency: "EUR" },                                           10, /^CURRENCY/],
  [{ currency: "XXL" },                                           5,  /currency/],
  [{ credit_card_number: "" },                                    4,  /^MISSING_PARAMETER: credit_card_number/],
  [{ credit_card_number: "", account_number: "1" },               13, /payouts go to cards only/],
  [{ credit_card_number: "", routing_number: "1" },               13, /payouts go to cards only/],
  [{ credit_card_number: "4000001000000019" },                    5,  /check digit/],
  [{ client_orderid: "4000001000000018" },                        5,  /client_orderid: contains the card number/],
  [{ expire_month: "12" },                                        4,  /expire_year/],
  [{ expire_month: "01", expire_year: "2020" },                   5,  /has expired/],
  [{ country: "US", state: "ZZ" },                                5,  /state/],
  [{ email: "nobody" },                                           5,  /email/],
  [{ notify_url: "ftp://shop.example/" },                         5,  /notify_url/],
];

test("a payout that is wrong is refused by its code, and nothing is sent", async (t) => {
  const world = await joinSigned(t);
  const { payOut, status } = payeeOf(world);

  for (const [change, code, message] of refusals)
    await assertRefused(payOut(change), code, message);
  assert.deepEqual(world.bank.ledger(), []);
  const alike = { client_orderid: "", "client-order-id": "by its other name", birthday: "soon" };
  const asked = await payOut({
    ...alike,
    credit_card_number: "",
    "destination-card-no": plainCard,
    cvv2: "none",
    redirect_url: "ignored",
  });
  await world.settle();

  assert.equal(asked["merchant-order-id"], "by its other name");
  assert.deepEqual(bookedFor(world, await status(asked)), ["payout 2500"]);
});

test("a payout needs an endpoint and a gate that are switched on, and what the gate wants", async (t) => {
  const world = await startSigned(t);
  await world.changeGate("sandbox", { payoutFields: ["first_name", "expire_month"] });
  const { payOut } = payeeOf(world);
  await assertRefused(payOut(), 4, /first_name/);
  await assertRefused(payOut({ first_name: "Jane" }), 4, /expire_month/);
  await payOut({ first_name: "Jane", expire_month: "12", expire_year: "2031" });
  await world.changeEndpoint("plain", { payouts: false });
  await assertRefused(payeeOf(world).payOut(), 13);
  await world.changeEndpoint("plain", { payouts: true });
  await world.changeGate("sandbox", { payouts: false });
  await assertRefused(payeeOf(world).payOut(), 13);
});

test("HMAC-SHA1 signs a payout in v2 alone, and a checksum opens none", async (t) => {
  const world = await joinSigned(t);
  const id = world.set.endpoints["plain"];
  const fields = {
    client_orderid: "by-hmac",
    amount: "25.00",
    currency: "USD",
    credit_card_number: plainCard,
  };
  const statusOf = async (
    path: string,
    body: typeof fields & { control?: string },
    signed = true,
  ) => {
    const header = authorizationFor(`${world.gateway.url}${path}`, body, {
      consumerKey: "demo",
      privateKey: keys.privateKey,
      signatureMethod: "HMAC-SHA1",
      secret: world.set.controlKey,
      now: world.clock.now(),
    });
    return send(world.gateway.port, path, body, signed ? header : undefined);
  };

  const inV2 = await statusOf(`/gw/api/v2/payout/${id}`, fields);
  const inV4 = await statusOf(`/gw/api/v4/payout/${id}`, fields);
  const byRef = await statusOf(`/gw/api/v2/payout-by-ref/${id}`, fields);
  const control = sha1(`${id}by-hmac2500${world.set.controlKey}`);
  const checked = await statusOf(`/gw/api/v2/payout/${id}`, { ...fields, control }, false);

  assert.match(inV2.text, /^type=async-response&/);
  assert.deepEqual(
    [inV2, inV4, byRef, checked].map(({ status }) => status),
    [200, 403, 404, 403],
  );
});

test("the merchant is called back with the result of a payout", async (t) => {
  const world = await joinSigned(t);
  const shop = await startReceiver(t);
  const { payOut } = payeeOf(world);

  await payOut({ notify_url: shop.url, merchant_data: "winner 7" });
  await world.settle();

  const [{ fields = {} } = {}] = shop.heard;
  assert.equal(fields["type"], "payout");
  assert.equal(fields["status"], "approved");
  assert.equal(fields["merchantdata"], "winner 7");
  assert.equal(fields["bin"], undefined);
});

test("the bounds of a day hold however many payouts come at once", async (t) => {
  const world = await startSigned(t);
  const bounds = { payoutMin: "100", payoutMax: "6000", payoutDayMax: "10000", payoutCardMax: 3 };
  await world.changeEndpoint("plain", bounds);
  const { payOut, status } = payeeOf(world);
  const outcome = async (fields: object) => {
    const order = await payOut(fields).catch(({ code }) => code);
    if (typeof order === "number") return order;
    await world.settle();
    return (await status(order))["order-stage"];
  };

  assert.equal(await outcome({ amount: "0.99" }), 11);
  assert.equal(await outcome({ amount: "60.01" }), 11);
  const cards = ["4000001000000018", "5200000000000015", "6011000000000012", "3530000000000011"];
  const waves = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      outcome({ amount: "30.00", credit_card_number: cards[at % cards.length] }),
    ),
  );
  const small = await Promise.all(Array.from({ length: 4 }, () => outcome({ amount: "1.00" })));

  assert.equal(waves.filter((each) => each === "payout_approved").length, 3);
  assert.equal(waves.filter((each) => each === 11).length, 9);
  const toFirst = small.filter((each) => each === "payout_approved").length;
  assert.ok(toFirst <= 3);
  const booked = world.bank.ledger().filter(({ kind }) => kind === "payout");
  const sum = booked.reduce((total, { amount }) => total + Number(amount), 0);
  assert.ok(sum <= 10_000, String(sum));
  await world.pass(24 * 3_600_000);
  assert.equal(await outcome({ amount: "30.00" }), "payout_approved");
});

test("the payouts to a card count at all endpoints together, and the sum at each alone", async (t) => {
  const world = await startSigned(t);
  for (const name of ["plain", "binary"]) {
    await world.changeEndpoint(name, { payoutCardMax: 1, payoutDayMax: "2500" });
  }
  const [one, other] = [payeeOf(world), payeeOf(world, "binary")];

  await one.payOut();
  await assertRefused(other.payOut(), 11);
  await other.payOut({ credit_card_number: "5200000000000015" });
  await assertRefused(other.payOut({ credit_card_number: "6011000000000012" }), 11);
  await world.settle();

  assert.equal(world.bank.ledger().filter(({ kind }) => kind === "payout").length, 2);
});

test("identical payouts at once are one, also when the bound of the card has room for one", async (t) => {
  const world = await startSigned(t);
  await world.changeEndpoint("plain", { payoutCardMax: 1, payoutDayMax: "3000" });
  const { payOut } = payeeOf(world);
  const same = { client_orderid: "at-once" };

  const all = await Promise.all(Array.from({ length: 5 }, () => payOut(same)));
  // Another payout under this order id is refused as that, although the bounds are full.
  await assertRefused(payOut({ ...same, amount: "1.00" }), 7);
  await assertRefused(payOut({ amount: "1.00" }), 11);
  const other = await payOut({ credit_card_number: "5200000000000015", amount: "5.00" });
  await world.settle();

  assert.equal(new Set(all.map((each) => each["gw-order-id"])).size, 1);
  assert.deepEqual(
    world.bank.ledger().map(({ amount }) => amount),
    [2_500n, 500n],
  );
  assert.ok(other["gw-order-id"]);
});

test("a chargeback that names a payout is recorded on no order", async (t) => {
  const world = await startSigned(t);
  const { payOut, status } = payeeOf(world);
  const asked = await payOut();
  await world.settle();
  const { "processor-rrn": reference } = await status(asked);
  const file = await writeLines(world, "payout-chargeback.csv", [
    "case,reference,amount,currency,reason,stage,at",
    `P1,${reference},2500,USD,10.4 fraud,first,2030-01-31`,
  ]);

  const { printed } = await runGw(world, "chargeback", "import", file);

  assert.match(printed, /no such order/);
  assert.equal((await status(asked))["order-stage"], "payout_approved");
});
