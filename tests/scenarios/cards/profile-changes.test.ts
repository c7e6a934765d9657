/** What becomes of the old number, the order and the customer of a recurring payment profile. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused } from "../../support/expect.ts";
import { withCheckDigit } from "../../support/merchant.ts";
import { card, openProfiles } from "../../support/profiles.ts";
import { readGw, runGw, runGwWith } from "../../support/programs.ts";

const { world, merchant, ask, create, update, charge, statusOf } = await openProfiles();

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

test("a person is erased from a profile without payments, and from all numbers that it had", async () => {
  const number = withCheckDigit("400000100000777");
  const email = "gone@example.com";
  const before = await countCards();
  const made = await create({ "card-printed-name": "ERASMUS ONE", email });
  const other = await create({
    "card-printed-name": "ERASMUS TWO",
    "credit-card-number": number,
    "email": "Erasmus@example.com",
  });
  const id = made["recurring-payment-id"];
  assert.equal((await update({ "recurring-payment-id": id, ...renewed }))["status"], "approved");
  assert.equal(await countCards(), before + 3);

  const unsure = await runGw(world, "privacy", "erase", "--email", email);
  assert.equal(unsure.code, 2, unsure.printed);
  assert.equal((await statusOf(await charge(id)))["order-stage"], "sale_approved");
  const erased = await readGw(world, "privacy", "erase", "--email", email.toUpperCase(), "--yes");
  const byCard = await runGwWith(`${number}\n`, world, "privacy", "erase", "--card", "--yes");

  assert.deepEqual(erased, { ...(erased as object), orders: 1, cards: 2, open: 0 });
  assert.match(byCard.printed, /cards +1/);
  for (const each of [id, other["recurring-payment-id"]]) {
    assert.equal((await charge(each))["error-code"], "15");
  }
  await cleanUp();
  assert.equal(await countCards(), before);
  assert.deepEqual(await findFacts("ERASMUS|gone@|Springfield|203.0.113"), []);
});

test("erasing an order also erases the profile that its card was registered for", async () => {
  const email = "first@example.com";
  const paid = await merchant.sale({ credit_card_number: card, email });
  await world.settle();
  const registered = await register(paid);
  const id = registered["recurring-payment-id"];
  const before = await countCards();
  const holder = { "card-printed-name": "ERASMUS THREE" };
  await update({ "recurring-payment-id": id, ...renewed, ...holder });

  await readGw(world, "privacy", "erase", "--email", email, "--yes");

  assert.equal((await charge(id))["error-code"], "15");
  await cleanUp();
  assert.equal(await countCards(), before - 1);
  assert.deepEqual(await findFacts("ERASMUS"), []);
});

test("the customer's data goes with the number of a removed card", async () => {
  const made = await create({ city: "Shelbyville" });
  assert.equal((await findFacts("Shelbyville")).length, 4);

  await merchant.removeCard(made["card-ref-id"] ?? "");
  world.clock.advance(8 * 86_400_000);
  await world.linksUp();
  await cleanUp();

  assert.deepEqual(await findFacts("Shelbyville"), []);
});

function register(order: Parameters<typeof merchant.register>[0]) {
  const { "merchant-order-id": client_orderid, "gw-order-id": orderid } = order;
  return ask("create-card-ref", { client_orderid, orderid });
}

/** Runs the cleaning twice: one run marks a card, and the next run destroys it. */
async function cleanUp(): Promise<void> {
  await world.gateway.cleanUp();
  await world.gateway.cleanUp();
}

async function countCards(): Promise<number> {
  return (await world.readRows("select from cards")).length;
}

function findFacts(pattern: string) {
  return world.readRows("select id from card_references where facts::text ~ $1", [pattern]);
}
