/** What becomes of the old number, the order and the customer of a recurring payment profile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused } from "../../support/expect.ts";
import { card, openProfiles } from "../../support/profiles.ts";

const { world, merchant, ask, update, charge, statusOf } = await openProfiles();

const renewed = {
  "credit-card-number": "5200000000000015",
  "card-printed-name": "JANE DOE",
  "expire-month": "12",
  "expire-year": "2032",
};

test("an order whose card has got a new number still leads to its registration", async () => {
  const paid = await merchant.sale({ credit_card_number: card });
  const verified = await merchant.verify({ credit_card_number: card });
  await world.settle();
  const status = await merchant.status(verified);
  for (const order of [paid, verified]) {
    const registered = await register(order);
    const id = registered["recurring-payment-id"];
    for (const number of [renewed["credit-card-number"], "4539578763621486"]) {
      const changed = await update({
        "recurring-payment-id": id,
        ...renewed,
        "credit-card-number": number,
      });
      assert.equal(changed["status"], "approved", String(changed["error-message"]));
    }

    assert.deepEqual((await register(order))["card-ref-id"], registered["card-ref-id"]);
    assert.equal((await statusOf(await charge(id)))["last-four-digits"], "1486");
  }
  const again = await merchant.status(verified);
  assert.ok(again["card-ref-id"] !== undefined);
  assert.equal(again["card-ref-id"], status["card-ref-id"]);

  await merchant.removeCard(again["card-ref-id"]);
  assert.equal((await merchant.status(verified))["card-ref-id"], undefined);
  await assertRefused(merchant.register(verified), 9, /the card was removed/);
});

function register(order: Parameters<typeof merchant.register>[0]) {
  const { "merchant-order-id": client_orderid, "gw-order-id": orderid } = order;
  return ask("create-card-ref", { client_orderid, orderid });
}
