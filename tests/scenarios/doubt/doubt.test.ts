/**
 * Doubt: the bank may have booked the sale or not. A timer never settles it. If the host can be
 * asked, an approval that it knows counts. Otherwise the charge is reversed until the bank has
 * answered, and nothing is charged.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnAllDialects } from "../../support/bank/dialects.ts";
import { assertRefused } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld, type World } from "../../support/world.ts";

const answerTimeoutMs = 30_000;

const cards = {
  noAnswer: "4000004000000129",
  noAnswerNotBooked: "4000004000000137",
  lateAnswer: "4000004000000145",
  linkDrop: "4000004000000152",
  garbledAnswer: "4000004000000160",
  partialApproval: "4000004000000186",
  reversalNoAnswer: "4000004000000228",
};

// biome-ignore format: a table
const unanswered = [
  ["booked",        true,  { credit_card_number: cards.noAnswer }],
  ["not booked",    false, { credit_card_number: cards.noAnswerNotBooked }],
  ["garbled",       false, { credit_card_number: cards.garbledAnswer }],
  ["by its CVV",    true,  { cvv2: "217" }],
  ["by its amount", true,  { credit_card_number: "4000004000000202", amount: "10.68" }],
] as const;

for (const [how, isBooked, fields] of unanswered) {
  testOnAllDialects(
    `a charge without a readable answer is in doubt, then settled: ${how}`,
    async (t, { through, inquires, mti }) => {
      const world = await joinWorld(t);
      const merchant = world.merchant(through);

      const sale = await merchant.sale(fields);
      await world.bank.waitForMessage({ mti: mti("0200") });
      const before = await merchant.status(sale);
      await giveUp(world);
      const isConfirmed = inquires || isBooked;
      if (!isConfirmed) await giveUp(world);
      const after = await merchant.status(sale);

      const isFound = inquires && isBooked;
      assert.equal(before["order-stage"], "sale_processing");
      assert.equal(after["order-stage"], isFound ? "sale_approved" : "sale_error");
      assert.equal(after["error-code"], isFound ? undefined : "5003");
      // A second inquiry, or a repeat, confirms that the host does not know the charge.
      assert.equal(sent(world, mti("0600")).length, inquires ? (isFound ? 1 : 2) : 0);
      assert.equal(sent(world, mti("0420")).length, isFound ? 0 : 1);
      assert.equal(sent(world, mti("0421")).length, isConfirmed ? 0 : 1);
      if (!isFound) assertNothingTaken(world);
    },
  );
}

testOnAllDialects(
  "an approval that comes after the gateway gave up is reversed, never lost",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const sale = await merchant.sale({ credit_card_number: cards.lateAnswer });
    await world.bank.waitForMessage({ mti: mti("0200") });
    await giveUp(world);
    const status = await merchant.status(sale);

    assert.equal(status.status, "error");
    assertNothingTaken(world);
  },
);

testOnAllDialects(
  "a link that drops in the middle of a charge leaves doubt, which is then settled",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const sale = await merchant.sale({ credit_card_number: cards.linkDrop });
    await world.settle();
    const doubtful = await merchant.status(sale);
    await world.linksUp();
    await world.pass(2_000);
    await giveUp(world);
    const settled = await merchant.status(sale);

    assert.equal(doubtful["order-stage"], "sale_unknown");
    assert.equal(settled.status, "error");
    assertNothingTaken(world);
  },
);

testOnAllDialects("a partial approval is taken back and declined", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);

  const sale = await merchant.sale({ credit_card_number: cards.partialApproval });
  await world.settle();
  const status = await merchant.status(sale);

  assert.equal(status.status, "declined");
  assert.equal(status["error-code"], "162");
  assertNothingTaken(world);
});

testOnAllDialects(
  "an endpoint that takes partial approvals is told how much was charged",
  async (t, { through }) => {
    const world = await startWorld(t);
    const merchant = world.merchant(through);
    await world.changeEndpoint(through, { acceptsPartialApprovals: true });

    const sale = await merchant.sale({
      credit_card_number: cards.partialApproval,
      amount: "10.00",
    });
    await world.settle();
    const charged = await merchant.status(sale);
    await assertRefused(merchant.return(sale, { amount: "5.01" }), 11);
    await merchant.return(sale);
    await world.settle();
    const returned = await merchant.status(sale);

    assert.equal(charged.status, "approved");
    assert.equal(charged.amount, "10.00");
    assert.equal(charged["charged-amount"], "5.00");
    assert.equal(returned["total-reversal-amount"], "5.00");
    assertNothingTaken(world);
  },
);

testOnAllDialects(
  "a reversal goes on after a restart of the gateway",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ credit_card_number: cards.noAnswer });
    await world.bank.waitForMessage({ mti: mti("0200") });
    await world.bank.setSwitches({ hostDown: true });
    await giveUp(world);

    await world.restart();
    const doubtful = await merchant.status(sale);
    // The next attempt is due while the host is still down.
    world.clock.advance(300_000);
    await world.startHost();
    await world.settle();
    const settled = await merchant.status(sale);

    assert.equal(doubtful["order-stage"], "sale_unknown");
    assert.equal(settled.status, "error");
    assertNothingTaken(world);
  },
);

test("the order stays in doubt as long as its reversal is not answered", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: cards.noAnswer });
  await world.bank.waitForMessage({ mti: "0200" });
  await world.bank.setSwitches({ hostDown: true });

  await giveUp(world);
  for (let day = 0; day < 3; day += 1) await world.pass(24 * 3_600_000);
  const doubtful = await merchant.status(sale);
  // The next attempt is due while the host is still down.
  world.clock.advance(300_000);
  await world.startHost();
  await world.settle();
  const settled = await merchant.status(sale);

  assert.equal(doubtful.status, "processing");
  assert.equal(doubtful["order-stage"], "sale_unknown");
  assert.ok(world.logged.some((line) => line.includes("order.doubt_alarm")));
  assert.equal(settled.status, "error");
  assertNothingTaken(world);
});

test("an unanswered reversal is repeated as 0421 until the bank answers", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  await world.bank.setSwitches({ lostAnswerShare: 1 });
  const sale = await merchant.sale({ credit_card_number: cards.reversalNoAnswer });
  await world.bank.waitForMessage({ mti: "0200" });
  await world.bank.setSwitches({ lostAnswerShare: 0 });

  world.clock.advance(answerTimeoutMs);
  await world.bank.waitForMessage({ mti: "0420" });
  world.clock.advance(answerTimeoutMs);
  await world.settle();
  world.clock.advance(2_000);
  await world.gateway.claimDue();
  await world.bank.waitForMessage({ mti: "0421" });
  const doubtful = await merchant.status(sale);
  world.clock.advance(answerTimeoutMs);
  await world.settle();
  await world.pass(5_000);
  const settled = await merchant.status(sale);

  assert.equal(doubtful["order-stage"], "sale_unknown");
  assert.equal(settled.status, "error");
  assert.equal(sent(world, "0420").length, 1);
  assert.equal(sent(world, "0421").length, 2);
  assertNothingTaken(world);
});

test("lost answers among many sales leave books that agree", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  await world.bank.setSwitches({ lostAnswerShare: 0.3, declineShare: 0.2, seed: 7 });

  const sales = await Promise.all(Array.from({ length: 60 }, () => merchant.sale()));
  while (sent(world, "0200").length < sales.length) await world.gateway.claimDue();
  await world.bank.setSwitches({ lostAnswerShare: 0, declineShare: 0 });
  await giveUp(world);
  // A charge that the host does not know is settled by the repeat of its reversal.
  await giveUp(world);
  await giveUp(world);

  const statuses = await Promise.all(sales.map((sale) => merchant.status(sale)));
  const approved = statuses.filter(({ status }) => status === "approved");
  const standing = approved.map((each) => outstanding(world, each["processor-rrn"] ?? ""));
  assert.ok(statuses.some(({ status }) => status === "error"));
  assert.ok(statuses.every(({ status }) => status !== "processing"));
  assert.ok(standing.every((amount) => amount === 1015n));
  assert.equal(total(world), 1015n * BigInt(approved.length));
});

async function giveUp(world: World): Promise<void> {
  await world.pass(answerTimeoutMs);
}

function sent(world: World, mti: string) {
  return world.bank.messages().filter((each) => each.mti === mti && each.direction === "received");
}

function outstanding(world: World, reference: string): bigint {
  return world.bank
    .ledger(reference)
    .reduce((sum, { kind, amount }) => (kind === "reversal" ? sum - amount : sum + amount), 0n);
}

function total(world: World): bigint {
  const references = new Set(world.bank.ledger().map(({ reference }) => reference));
  return [...references].reduce((sum, reference) => sum + outstanding(world, reference), 0n);
}

function assertNothingTaken(world: World): void {
  assert.equal(total(world), 0n);
}
