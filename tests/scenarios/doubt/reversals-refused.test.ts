/**
 * A reversal that the host refuses: the charge may stand. The order stays in doubt, the operator is
 * alerted, and only the host's 00, a confirmed "not found" or an operator ends the doubt.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { readGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const answerTimeoutMs = 30_000;
const longestGapMs = 300_000;

const cards = {
  partialApproval: "4000004000000186",
  noAnswerNotBooked: "4000004000000137",
  byAmount: "4000004000000202",
};

/**
 * Leaves an order in doubt. The share of lost answers makes a charge that the host books and does
 * not answer.
 */
async function leaveInDoubt(through: string, fields: object = {}) {
  const merchant = world.merchant(through);
  await world.bank.setSwitches({ lostAnswerShare: 1 });
  const sale = await merchant.sale({ ...fields });
  const { "processor-rrn": reference = "" } = await merchant.status(sale);
  await world.bank.waitForMessage({ mti: "0200", reference });
  await world.bank.setSwitches({ lostAnswerShare: 0 });
  return { merchant, sale, reference };
}

function sent(reference: string, mti: string): number {
  const messages = world.bank.messages(reference);
  return messages.filter((each) => each.mti === mti && each.direction === "received").length;
}

function alertsAbout(reference: string): number {
  return world.logged.filter(
    (line) => line.includes('"order.reversal_refused"') && line.includes(reference),
  ).length;
}

for (const code of ["12", "05", "96", "94", "10"]) {
  testOnEachDialect(
    `a reversal answered ${code} keeps the order in doubt until one is answered 00`,
    async (_t, { through, code: named }) => {
      const { merchant, sale, reference } = await refusePartialApproval(through, code);

      const doubtful = await merchant.status(sale);
      const again = { client_orderid: sale["merchant-order-id"], order_desc: "another attempt" };
      await assertRefused(merchant.sale(again), 7);
      const listed = JSON.stringify(await readGw(world, "doubt", "list"));
      await world.pass(longestGapMs);
      await world.bank.setSwitches({ reversalCode: null });
      await world.pass(longestGapMs);
      const settled = await merchant.status(sale);

      assert.equal(doubtful["order-stage"], "sale_unknown");
      assert.match(listed, new RegExp(`${reference}.*"refused":"${named(code)}"`));
      assert.ok(alertsAbout(reference) >= 2);
      assert.equal(settled["order-stage"], "sale_declined");
      assert.equal(settled["error-code"], "162");
      assert.deepEqual(bookedFor(world, settled), ["sale 507", "reversal 507"]);
      await merchant.sale(again);
      await world.settle();
    },
  );
}

async function refusePartialApproval(through: string, code: string) {
  const merchant = world.merchant(through);
  await world.bank.setSwitches({ reversalCode: code });
  const sale = await merchant.sale({ credit_card_number: cards.partialApproval });
  await world.settle();
  const { "processor-rrn": reference = "" } = await merchant.status(sale);
  return { merchant, sale, reference };
}

testOnEachDialect(
  "a refusal that no repeat changes is repeated at the longest gap, another by the gaps",
  async (_t, { through, mti }) => {
    for (const [code, gapMs] of [
      ["12", longestGapMs],
      ["96", 2_000],
    ] as const) {
      const { reference } = await refusePartialApproval(through, code);

      await world.pass(gapMs - 1);
      assert.equal(sent(reference, mti("0421")), 0, code);
      await world.pass(1);
      assert.equal(sent(reference, mti("0421")), 1, code);
      await world.bank.setSwitches({ reversalCode: null });
      await world.pass(longestGapMs);
      assert.deepEqual(bookedFor(world, { "processor-rrn": reference }), [
        "sale 507",
        "reversal 507",
      ]);
    }
  },
);

test("response code 25 counts only if a repeat gets it after all earlier answers have timed out", async () => {
  const { merchant, sale, reference } = await leaveInDoubt("plain");
  await world.bank.setSwitches({ reversalCode: "25" });
  await world.pass(answerTimeoutMs);

  const order = sale["gw-order-id"];
  await readGw(world, "doubt", "ask", order, "--why", "impatience");
  await world.settle();
  const early = await merchant.status(sale);
  // The charge was booked, and the host has not found it yet.
  await world.bank.setSwitches({ reversalCode: null });
  await world.restart();
  await world.settle();
  await world.pass(answerTimeoutMs);
  const settled = await merchant.status(sale);

  assert.equal(sent(reference, "0420"), 1);
  assert.equal(early["order-stage"], "sale_unknown");
  assert.equal(settled["order-stage"], "sale_error");
  assert.deepEqual(bookedFor(world, settled), ["sale 1015", "reversal 1015"]);
});

test("two response codes 25, with a restart between them, prove that there is no charge", async () => {
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: cards.noAnswerNotBooked });
  const { "processor-rrn": reference = "" } = await merchant.status(sale);
  await world.bank.waitForMessage({ mti: "0200", reference });
  await world.pass(answerTimeoutMs);
  const once = await merchant.status(sale);

  await world.restart();
  await world.settle();
  await world.pass(answerTimeoutMs);
  const twice = await merchant.status(sale);

  assert.equal(once["order-stage"], "sale_unknown");
  assert.deepEqual([twice["order-stage"], twice["error-code"]], ["sale_error", "5003"]);
  // The restarted node repeats it as soon as its link is up, which may be too early to count.
  assert.equal(sent(reference, "0420"), 1);
  assert.ok(sent(reference, "0421") >= 1);
});

test("another answer between two response codes 25 voids the first one", async () => {
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: cards.noAnswerNotBooked });
  const { "processor-rrn": reference = "" } = await merchant.status(sale);
  await world.bank.waitForMessage({ mti: "0200", reference });
  await world.pass(answerTimeoutMs);
  await world.bank.setSwitches({ reversalCode: "96" });
  await world.pass(answerTimeoutMs);
  await world.bank.setSwitches({ reversalCode: null });
  await world.pass(answerTimeoutMs);
  const doubtful = await merchant.status(sale);
  await world.pass(answerTimeoutMs);
  const settled = await merchant.status(sale);

  assert.equal(doubtful["order-stage"], "sale_unknown");
  assert.equal(settled["order-stage"], "sale_error");
});

test("response code 25 proves nothing if an inquiry finds the charge", async () => {
  const { merchant, sale, reference } = await refusePartialApproval("binary", "25");
  for (let tries = 0; tries < 3; tries += 1) await world.pass(longestGapMs);
  const doubtful = await merchant.status(sale);
  await world.bank.setSwitches({ reversalCode: null });
  await world.pass(longestGapMs);
  const settled = await merchant.status(sale);

  assert.equal(doubtful["order-stage"], "sale_unknown");
  assert.ok(sent(reference, "0600") >= 3);
  assert.equal(settled["order-stage"], "sale_declined");
  assert.deepEqual(bookedFor(world, settled), ["sale 507", "reversal 507"]);
});

testOnEachDialect(
  "a list of amounts goes on only when the reversal of one is done",
  async (_t, { through }) => {
    const merchant = world.merchant(through);
    const cardrefid = await world.registerCard(cards.byAmount);
    await world.bank.setSwitches({ chargeCode: "94", reversalCode: "12" });
    const amounts = { amount: "10.00", enumerate_amounts: "5.00" };
    const rebill = await merchant.rebill({ cardrefid, ...amounts });
    await world.settle();
    await world.bank.setSwitches({ chargeCode: null });
    await world.pass(longestGapMs);
    const doubtful = await merchant.status(rebill);
    const first = doubtful["processor-rrn"] ?? "";
    await world.bank.setSwitches({ reversalCode: null });
    world.clock.advance(longestGapMs);
    await world.settle();
    const settled = await merchant.status(rebill);

    assert.equal(doubtful["order-stage"], "sale_unknown");
    assert.deepEqual(bookedFor(world, { "processor-rrn": first }), ["sale 1000", "reversal 1000"]);
    // The order's own time has passed, so the next amount is not charged hours later.
    assert.equal(settled["order-stage"], "sale_declined");
  },
);
