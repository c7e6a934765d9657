/** A card sale from request to result, with every immediate answer of a bank. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { saleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

testOnEachDialect(
  "a sale is acknowledged at once and approved when the bank approves",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const sale = await merchant.sale({ amount: "10.15" });
    await world.settle();
    const status = await merchant.status(sale);

    assert.equal(sale.type, "async-response");
    assert.equal(sale["end-point-id"], merchant.set.endpoints[through]);
    assert.equal(status.status, "approved");
    assert.equal(status["order-stage"], "sale_approved");
    assert.equal(status.amount, "10.15");
    assert.equal(status["last-four-digits"], "1111");
    assert.match(status["approval-code"] ?? "", /^[A-Z0-9]{6}$/);
    assert.match(status["processor-tx-id"] ?? "", /^\d{15}$/);
    assert.match(status["receipt-id"] ?? "", /^\d{20,39}$/);
    const booked = world.bank.ledger(status["processor-rrn"]);
    assert.deepEqual(
      booked.map(({ kind, amount, currency }) => [kind, amount, currency]),
      [["sale", 1015n, "USD"]],
    );
  },
);

// biome-ignore format: a table
const declines: readonly (readonly [card: string, code: string, message: string])[] = [
  ["4000004000000012", "100", "DO_NOT_HONOUR: [05]"],
  ["4000004000000020", "116", "INSUFFICIENT_FUNDS: [51]"],
  ["4000004000000038", "101", "EXPIRED_CARD: [54]"],
  ["4000004000000046", "208", "LOST_CARD: [41]"],
  ["4000004000000053", "209", "STOLEN_CARD: [43]"],
  ["4000004000000061", "119", "NOT_PERMITTED_TO_CARDHOLDER: [57]"],
  ["4000004000000079", "121", "AMOUNT_LIMIT_EXCEEDED: [61]"],
  ["4000004000000087", "202", "SUSPECTED_FRAUD: [59]"],
  ["4000004000000095", "111", "INVALID_CARD_NUMBER: [14]"],
  ["4000004000000103", "912", "ISSUER_UNAVAILABLE: [91]"],
  ["4000004000000111", "161", "AUTHENTICATION_REQUIRED: [1A]"],
];

testOnEachDialect(
  "a decline keeps the bank's reason, and nothing is booked",
  async (t, { through, code: named }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const sales = [];
    for (const [card] of declines) sales.push(await merchant.sale({ credit_card_number: card }));
    await world.settle();

    for (const [index, [card, code, message]] of declines.entries()) {
      const status = await merchant.status(sales[index] ?? assert.fail());
      assert.equal(status.status, "declined", card);
      assert.equal(status["order-stage"], "sale_declined");
      assert.equal(status["error-code"], code);
      const told = message.replace(/\[(..)\]/, (_, own: string) => `[${named(own)}]`);
      assert.equal(status["error-message"], told);
    }
    assert.deepEqual(world.bank.ledger(), []);
  },
);

// biome-ignore format: a table
const verificationValues: readonly (readonly [cvv: string, status: string, code: string | undefined])[] = [
  ["123",  "approved", undefined],
  ["1234", "approved", undefined],
  ["101",  "declined", "101"],
  ["116",  "declined", "116"],
  ["119",  "declined", "119"],
  ["209",  "declined", "209"],
  ["999",  "declined", "160"],
];

testOnEachDialect("the CVV of any other card decides at the bank", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);

  for (const [cvv2, expected, code] of verificationValues) {
    const sale = await merchant.sale({ cvv2 });
    await world.settle();
    const status = await merchant.status(sale);

    assert.equal(status.status, expected, cvv2);
    assert.equal(status["error-code"], code);
  }
});

// biome-ignore format: a table
const amounts: readonly (readonly [amount: string, code: string | undefined])[] = [
  ["10.00", undefined], ["10.05", "100"], ["10.12", "902"], ["10.13", "110"], ["10.41", "208"],
  ["10.43", "209"],     ["10.51", "116"], ["10.54", "101"], ["10.57", "119"], ["10.59", "202"],
  ["10.61", "121"],     ["10.62", "104"], ["10.65", "123"], ["10.91", "912"], ["10.96", "909"],
];

testOnEachDialect(
  "the amount-driven card answers what the minor units say",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    for (const [amount, code] of amounts) {
      const sale = await merchant.sale({ amount, credit_card_number: "4000004000000202" });
      await world.settle();
      const status = await merchant.status(sale);

      assert.equal(status["error-code"], code, amount);
      assert.equal(status.status, code === undefined ? "approved" : "declined");
    }
  },
);

testOnEachDialect(
  "a bank that takes two seconds is waited for, and one that answers twice is heard once",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const slow = await merchant.sale({ credit_card_number: "4000004000000194" });
    const twice = await merchant.sale({ credit_card_number: "4000004000000178" });
    await world.settle();

    for (const sale of [slow, twice]) {
      const status = await merchant.status(sale);
      assert.equal(status.status, "approved");
      assert.equal(world.bank.ledger(status["processor-rrn"]).length, 1);
    }
  },
);

test("an amount outside the endpoint's limits is filtered and never sent to the bank", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeEndpoint("plain", { amountMin: "500", amountMax: "100000" });

  const low = await merchant.sale({ amount: "4.99" });
  const high = await merchant.sale({ amount: "1000.01" });
  const within = await merchant.sale({ amount: "1000.00" });
  await world.settle();

  assert.equal((await merchant.status(low))["order-stage"], "sale_filtered");
  assert.equal((await merchant.status(low))["error-code"], "1000");
  assert.equal((await merchant.status(high))["error-message"], "AMOUNT_ABOVE_MAXIMUM");
  assert.equal((await merchant.status(within)).status, "approved");
  assert.equal(world.bank.ledger().length, 1);
});

test("without a link to the bank an order ends in error at once and is not sent later", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  await world.bank.setSwitches({ hostDown: true });
  await untilDown(world.gateway.port);

  const sale = await merchant.sale();
  await world.settle();
  const status = await merchant.status(sale);
  await world.bank.setSwitches({ hostDown: false });
  await world.pass(120_000);

  assert.equal(status.status, "error");
  assert.equal(status["error-message"], "GATE_UNAVAILABLE");
  assert.deepEqual(world.bank.ledger(), []);
});

test("an endpoint that requires 3-D Secure declines a card without it", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();

  const always = await merchant.sale({ credit_card_number: "4000001000000018" }, "secureAlways");
  const possible = await merchant.sale({ credit_card_number: "4000001000000018" }, "secure");
  await world.settle();

  const declined = await merchant.status(always, "secureAlways");
  const approved = await merchant.status(possible, "secure");
  assert.equal(declined["error-code"], "2002");
  assert.equal(approved.status, "approved");
  assert.equal(approved["verified-3d-status"], "UNSUPPORTED");
  assert.equal(approved.eci, "07");
});

test("currencies have the digits that ISO 4217 gives them", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();

  const yen = await merchant.sale({ amount: "500", currency: "JPY" }, "jpy");
  const euro = await merchant.sale({ amount: "7.5", currency: "EUR" }, "eur");
  await world.settle();

  const inYen = await merchant.status(yen, "jpy");
  const inEuro = await merchant.status(euro, "eur");
  assert.equal(inYen.amount, "500.00");
  assert.equal(inEuro.amount, "7.50");
  assert.equal(world.bank.ledger(inYen["processor-rrn"])[0]?.amount, 500n);
  assert.equal(world.bank.ledger(inEuro["processor-rrn"])[0]?.amount, 750n);
});

test("a group sends a sale to the endpoint of its currency", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();

  const sale = await merchant.group().sale(saleFields({ currency: "EUR" }));
  await world.settle();
  const byGroup = await merchant.group().status({ client_orderid: sale["merchant-order-id"] });
  const byEndpoint = await merchant.status(sale, "eur");

  assert.equal(sale["end-point-id"], merchant.set.endpoints["eur"]);
  assert.equal(byGroup.status, "approved");
  assert.equal(byEndpoint.status, "approved");
  await assert.rejects(merchant.group().sale(saleFields({ currency: "CHF" })), { code: 10 });
});

async function untilDown(port: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
    if (!answer.ok) return;
  }
}
