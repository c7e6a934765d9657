/**
 * Response codes that say that a request may still be carried out (09, 68, 94). For a charge they
 * are a decline for the merchant, followed by a reversal. For a capture or a return they are no
 * answer, and neither is a refusal of its repeat as a duplicate, because the first message may have
 * been carried out.
 */
import assert from "node:assert/strict";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { readGw } from "../../support/programs.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const answerTimeoutMs = 30_000;
const longestGapMs = 300_000;
const byAmount = "4000004000000202";

function sent(reference: string, mti: string): number {
  const messages = world.bank.messages(reference);
  return messages.filter((each) => each.mti === mti && each.direction === "received").length;
}

for (const [code, error] of [
  ["09", "913"],
  ["68", "912"],
  ["94", "913"],
] as const) {
  testOnEachDialect(
    `a charge answered ${code} is declined, and reversed behind that`,
    async (t, { through }) => {
      const merchant = world.merchant(through);
      const shop = await startReceiver(t);
      await world.bank.setSwitches({ chargeCode: code, reversalCode: "96" });
      const sale = await merchant.sale({ server_callback_url: shop.url });
      await world.settle();
      const declined = await merchant.status(sale);
      await world.bank.setSwitches({ chargeCode: null });
      const again = { client_orderid: sale["merchant-order-id"], order_desc: "another attempt" };
      await assertRefused(merchant.sale(again), 7);
      const listed = JSON.stringify(await readGw(world, "doubt", "list"));
      await world.restart();
      await world.settle();
      await assertRefused(merchant.sale(again), 7);

      await world.bank.setSwitches({ reversalCode: null });
      await world.pass(longestGapMs);
      const reversed = await merchant.status(sale);
      await merchant.sale(again);
      await world.settle();

      assert.equal(declined["order-stage"], "sale_declined");
      assert.equal(declined["error-code"], error);
      assert.deepEqual(
        shop.heard.map(({ fields }) => [fields["status"], fields["orderid"]]),
        [["declined", sale["gw-order-id"]]],
      );
      assert.ok(listed.includes(sale["gw-order-id"]));
      assert.deepEqual(bookedFor(world, declined), ["sale 1015", "reversal 1015"]);
      assert.deepEqual(unnumbered(reversed), unnumbered(declined));
    },
  );
}

function unnumbered(status: object): object {
  return { ...status, "serial-number": "" };
}

testOnEachDialect(
  "a list of amounts goes on when the reversal of a doubtful one is done",
  async (_t, { through }) => {
    const merchant = world.merchant(through);
    const cardrefid = await world.registerCard(byAmount);
    await world.bank.setSwitches({ chargeCode: "68", reversalCode: "96" });
    const rebill = await merchant.rebill({
      cardrefid,
      amount: "10.00",
      enumerate_amounts: "5.00",
    });
    await world.settle();
    const doubtful = await merchant.status(rebill);
    await world.bank.setSwitches({ chargeCode: null, reversalCode: null });
    await world.pass(2_000);
    const approved = await merchant.status(rebill);

    assert.equal(doubtful["order-stage"], "sale_unknown");
    assert.deepEqual(bookedFor(world, doubtful), ["sale 1000", "reversal 1000"]);
    assert.equal(approved["order-stage"], "sale_approved");
    assert.equal(approved["charged-amount"], "5.00");
    assert.deepEqual(bookedFor(world, approved), ["sale 500"]);
  },
);

for (const code of ["94", "09", "68", "96", "91"]) {
  testOnEachDialect(
    `a return answered ${code} is repeated under its own trace number until it is answered`,
    async (_t, { through, mti: named }) => {
      const merchant = world.merchant(through);
      const sale = await merchant.sale();
      await world.settle();
      await world.bank.setSwitches({ followUpCode: code });
      const returned = await merchant.return(sale, { amount: "4.00" });
      await world.settle();
      const doubtful = await merchant.status(sale);
      const reference = doubtful["processor-rrn"] ?? "";
      await assertRefused(merchant.return(sale, { amount: "1.00" }), 9);
      await world.pass(2_000);
      await world.restart();
      await world.settle();
      await world.bank.setSwitches({ followUpCode: null });
      await world.pass(longestGapMs);
      const settled = await merchant.describe(returned);

      assert.equal(doubtful["order-stage"], "reversal_unknown");
      assert.equal(settled["order-stage"], "reversal_approved");
      assert.equal(sent(reference, named("0400")), 1);
      assert.ok(sent(reference, named("0401")) >= 2);
      assert.deepEqual(bookedFor(world, settled), ["sale 1015", "reversal 400"]);
      const traces = world.bank
        .messages(reference)
        .filter(({ mti }) => mti === named("0400") || mti === named("0401"));
      assert.equal(new Set(traces.map(({ fields }) => fields["11"])).size, 1);
    },
  );
}

testOnEachDialect("a capture answered 94 is repeated, and done once", async (_t, { through }) => {
  const merchant = world.merchant(through);
  const order = await merchant.preauth();
  await world.settle();
  await world.bank.setSwitches({ followUpCode: "94" });
  await merchant.capture(order, { amount: "7.00" });
  await world.settle();
  const doubtful = await merchant.status(order);
  await world.bank.setSwitches({ followUpCode: null });
  await world.pass(longestGapMs);
  const settled = await merchant.status(order);

  assert.equal(doubtful["order-stage"], "capture_unknown");
  assert.equal(settled["order-stage"], "capture_approved");
  assert.deepEqual(bookedFor(world, settled), ["authorisation 1015", "capture 700"]);
});

testOnEachDialect("a return answered 57 or 30 is declined", async (_t, { through }) => {
  const merchant = world.merchant(through);
  for (const code of ["57", "30"]) {
    const sale = await merchant.sale();
    await world.settle();
    await world.bank.setSwitches({ followUpCode: code });
    await merchant.return(sale, { amount: "4.00" });
    await world.settle();
    await world.bank.setSwitches({ followUpCode: null });

    assert.equal((await merchant.status(sale))["order-stage"], "reversal_declined");
  }
});

for (const [asked, code] of [
  ["capture", "12"],
  ["return", "25"],
] as const) {
  testOnEachDialect(
    `a ${asked} whose repeat is answered ${code} is not declined: the first may have been done`,
    async (_t, { through, inquires, mti, code: named }) => {
      const merchant = world.merchant(through);
      const [done, undone] = [await begin(merchant), await begin(merchant)];
      // The host refuses because of a fault, and has not booked it.
      await world.bank.setSwitches({ followUpCode: "96" });
      await ask(merchant, undone);
      await world.settle();
      await world.bank.setSwitches({ followUpCode: null, lostAnswerShare: 1 });
      const reference = await ask(merchant, done);
      const type = mti(asked === "capture" ? "0220" : "0400");
      await world.bank.waitForMessage({ mti: type, reference });
      await world.bank.setSwitches({ lostAnswerShare: 0, repeatCode: code });
      await world.pass(answerTimeoutMs);
      await world.pass(answerTimeoutMs);
      const [first, second] = [await merchant.status(done), await merchant.status(undone)];
      const listed = JSON.stringify(await readGw(world, "doubt", "list"));
      await world.bank.setSwitches({ repeatCode: null });
      await world.pass(longestGapMs);
      const settled = [await merchant.status(done), await merchant.status(undone)];

      const stage = asked === "capture" ? "capture" : "reversal";
      const booked =
        asked === "capture" ? ["authorisation 1015", "capture 400"] : ["sale 1015", "reversal 400"];
      const stages = [first, second].map((status) => status["order-stage"]);
      if (inquires) {
        assert.deepEqual(stages, [`${stage}_approved`, `${stage}_declined`]);
        assert.deepEqual(bookedFor(world, second), booked.slice(0, 1));
      } else {
        assert.deepEqual(stages, [`${stage}_unknown`, `${stage}_unknown`]);
        assert.match(listed, new RegExp(`${reference}[^}]*"refused":"${named(code)}"`));
        const isAlert = (line: string) =>
          line.includes('"order.repeat_refused"') && line.includes(reference);
        assert.ok(world.logged.some(isAlert));
        for (const status of settled) {
          assert.equal(status["order-stage"], `${stage}_approved`);
          assert.deepEqual(bookedFor(world, status), booked);
        }
      }
      assert.deepEqual(bookedFor(world, first), booked);
    },
  );

  type Merchant = ReturnType<typeof world.merchant>;

  async function begin(merchant: Merchant) {
    const order = asked === "capture" ? await merchant.preauth() : await merchant.sale();
    await world.settle();
    return order;
  }

  /** Returns the order's reference. */
  async function ask(merchant: Merchant, order: Acknowledged): Promise<string> {
    await merchant[asked](order, { amount: "4.00" });
    const { "processor-rrn": reference = "" } = await merchant.status(order);
    return reference;
  }
}
