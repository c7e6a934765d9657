/**
 * Returns that are sent as refunds: payments to the card with references of their own, carried out
 * once even if the host leaves several messages unanswered. On the merchant interface they are
 * returns.
 */
import assert from "node:assert/strict";
import { type Dialect, testOnEachDialect } from "../../support/bank/dialects.ts";
import { fetchSettlement, reconcile } from "../../support/bank/settlement.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const returnsRefused = "4000004000000210";
const returnsNoAnswer = "4000004000000228";
const answerTimeoutMs = 30_000;
const dayMs = 86_400_000;

/** Sets the gate as an operator does, without earlier settings. */
async function setGate(gate: string, ...options: readonly string[]): Promise<void> {
  const usual = ["--refund-after", "never", "--partial-as", "reversal", "--hold-days", "none"];
  const { code, complaint } = await runGw(world, "gate", "set", gate, ...usual, ...options);
  assert.equal(code, 0, complaint);
  await world.restart();
}

/**
 * Returns the messages that the bank received under a reference: type, processing code, trace
 * number.
 */
function requests(reference: string | undefined): readonly string[] {
  const received = world.bank.messages(reference).filter((each) => each.direction === "received");
  return received.map(({ mti, fields }) => `${mti} ${fields[3]} ${fields[11]}`);
}

const repeatOf = ({ mti }: Dialect) => mti("0200").replace(/0$/, "1");

testOnEachDialect(
  "a return is a payment to the card with its own reference",
  async (_, dialect) => {
    const { through, gate, mti } = dialect;
    const merchant = world.merchant(through);
    await setGate(gate);
    const sale = await merchant.sale({ amount: "10.15" });
    await world.settle();
    const charge = await merchant.status(sale);
    // The setting changes after the charge, and applies to its return.
    await setGate(gate, "--refund-after", "always");

    await merchant.return(sale, { amount: "3.00" });
    await world.settle();
    const part = await merchant.status(sale);
    await assertRefused(merchant.return(sale, { amount: "7.16" }), 11);
    await setGate(gate);
    await merchant.return(sale);
    await world.settle();
    const rest = await merchant.status(sale);
    await assertRefused(merchant.return(sale, { amount: "0.01" }), 9);

    assert.deepEqual(
      [part["order-stage"], part["transaction-type"]],
      ["reversal_approved", "reversal"],
    );
    assert.equal(rest["total-reversal-amount"], "10.15");
    assert.deepEqual(bookedFor(world, charge), ["sale 1015"]);
    assert.deepEqual(bookedFor(world, part), ["refund 300"]);
    // A reversal would return the part again, because the host does not count it.
    assert.deepEqual(bookedFor(world, rest), ["refund 715"]);
    assert.equal(new Set([charge, part, rest].map((each) => each["processor-rrn"])).size, 3);
    assert.match(requests(part["processor-rrn"])[0] ?? "", new RegExp(`^${mti("0200")} 200000 `));
    assert.equal((await merchant.describe(sale))["order-stage"], "sale_approved");
  },
);

testOnEachDialect(
  "a charge that is cleared is refunded, one that is not is reversed",
  async (_, dialect) => {
    const { through, gate } = dialect;
    const merchant = world.merchant(through);
    await setGate(gate, "--refund-after", "24h");
    const [soon, late] = [
      await merchant.sale({ amount: "1.00" }),
      await merchant.sale({ amount: "2.00" }),
    ];
    await world.settle();
    const [soonCharge, lateCharge] = [await merchant.status(soon), await merchant.status(late)];

    await merchant.return(soon);
    await world.settle();
    await world.bank.setSwitches({ clearedAfterS: 0 });
    await world.pass(dayMs);
    await merchant.return(late);
    await world.settle();
    const refunded = await merchant.status(late);
    await setGate(gate);
    const refused = await merchant.sale({ amount: "3.00" });
    await world.settle();
    await merchant.return(refused);
    await world.settle();
    await world.bank.setSwitches({ clearedAfterS: null });

    assert.deepEqual(bookedFor(world, soonCharge), ["sale 100", "reversal 100"]);
    assert.deepEqual(bookedFor(world, lateCharge), ["sale 200"]);
    assert.deepEqual(bookedFor(world, refunded), ["refund 200"]);
    assert.equal((await merchant.status(refused))["order-stage"], "reversal_declined");
  },
);

testOnEachDialect(
  "a part may be refunded where the whole is reversed",
  async (_, { through, gate }) => {
    const merchant = world.merchant(through);
    await setGate(gate, "--partial-as", "refund", "--no-partial-reversal");
    const [whole, part] = [
      await merchant.sale({ amount: "5.00" }),
      await merchant.sale({ amount: "6.00" }),
    ];
    await world.settle();
    await merchant.return(whole);
    await merchant.return(part, { amount: "1.00" });
    await world.settle();
    const [reversed, refunded] = [await merchant.status(whole), await merchant.status(part)];
    await setGate(gate, "--partial-reversal");

    assert.deepEqual(bookedFor(world, reversed), ["sale 500", "reversal 500"]);
    assert.deepEqual(bookedFor(world, refunded), ["refund 100"]);
  },
);

testOnEachDialect(
  "an unanswered refund is repeated under the same numbers and made once",
  async (_, dialect) => {
    const { through, gate, mti } = dialect;
    const merchant = world.merchant(through);
    await setGate(gate, "--refund-after", "always");
    const sale = await merchant.sale({ credit_card_number: returnsNoAnswer, amount: "10.15" });
    await world.settle();

    await merchant.return(sale, { amount: "4.00" });
    const { "processor-rrn": reference = "" } = await merchant.status(sale);
    await world.bank.waitForMessage({ mti: mti("0200"), reference });
    world.clock.advance(answerTimeoutMs);
    await world.bank.waitForMessage({ mti: repeatOf(dialect), reference });
    const doubtful = await merchant.status(sale);
    await assertRefused(merchant.return(sale, { amount: "1.00" }), 9);
    await world.pass(answerTimeoutMs);
    await world.pass(2_000);
    const settled = await merchant.status(sale);

    assert.equal(doubtful["order-stage"], "reversal_unknown");
    assert.equal(settled["order-stage"], "reversal_approved");
    assert.equal(settled["processor-rrn"], reference);
    assert.deepEqual(bookedFor(world, settled), ["refund 400"]);
    const [first = "", ...repeats] = requests(reference);
    assert.ok(repeats.length >= 2);
    const repeat = first.replace(mti("0200"), repeatOf(dialect));
    assert.deepEqual(new Set(repeats), new Set([repeat]));
  },
);

testOnEachDialect(
  "a refund survives its node, and one that may yet be done is not declined",
  async (_, dialect) => {
    const { through, gate, mti } = dialect;
    const merchant = world.merchant(through);
    await setGate(gate, "--refund-after", "always");
    const [lost, pending] = [
      await merchant.sale({ amount: "8.00" }),
      await merchant.sale({ amount: "9.00" }),
    ];
    await world.settle();

    await world.bank.setSwitches({ lostAnswerShare: 1 });
    await merchant.return(lost);
    const { "processor-rrn": reference = "" } = await merchant.status(lost);
    await world.bank.waitForMessage({ mti: mti("0200"), reference });
    await world.bank.setSwitches({ lostAnswerShare: 0, followUpCode: "09" });
    await merchant.return(pending);
    await world.bank.waitForMessage({
      mti: mti("0200"),
      reference: (await merchant.status(pending))["processor-rrn"] ?? "",
    });
    await world.restart();
    const doubtful = await merchant.status(pending);
    await world.bank.setSwitches({ followUpCode: null });
    for (let tries = 0; tries < 5; tries += 1) await world.pass(60_000);
    const [survived, done] = [await merchant.status(lost), await merchant.status(pending)];

    assert.equal(doubtful["order-stage"], "reversal_unknown");
    assert.equal(survived["order-stage"], "reversal_approved");
    assert.equal(done["order-stage"], "reversal_approved");
    assert.deepEqual(bookedFor(world, survived), ["refund 800"]);
    assert.deepEqual(bookedFor(world, done), ["refund 900"]);
  },
);

testOnEachDialect("a refused refund leaves the charge, and the books agree", async (_, dialect) => {
  const { through, gate } = dialect;
  const merchant = world.merchant(through);
  await setGate(gate, "--refund-after", "always");
  const sale = await merchant.sale({ credit_card_number: returnsRefused });
  await world.settle();
  await merchant.return(sale);
  await world.settle();
  const status = await merchant.status(sale);
  const other = await merchant.sale({ amount: "4.44" });
  await world.settle();
  await merchant.return(other, { amount: "1.11" });
  await world.settle();
  const { "processor-rrn": reference } = await merchant.status(other);
  const lines = await fetchSettlement(world, gate);
  // Only lines of the current day count, because the world's clock is ahead of the bank's.
  const own = lines.filter((line) => line.startsWith((reference ?? "").slice(0, 10)));
  const { report } = await reconcile(world, gate, [lines[0] ?? "", ...own]);

  assert.equal(status["order-stage"], "reversal_declined");
  assert.deepEqual(bookedFor(world, status), []);
  const about = report?.differences.filter((each) => each.order === other["gw-order-id"]);
  assert.deepEqual(about, []);
});

testOnEachDialect("a hold ends after the days that the gate says", async (_, { through, gate }) => {
  const merchant = world.merchant(through);
  await setGate(gate);
  const [usual, cancelled] = [await merchant.preauth(), await merchant.preauth()];
  await setGate(gate, "--hold-days", "30");
  const long = await merchant.preauth();
  await world.settle();

  await world.pass(7 * dayMs - 60_000);
  const inTime = await merchant.preauth();
  await world.settle();
  await world.pass(120_000);
  await assertRefused(merchant.capture(usual), 9);
  await merchant.return(cancelled);
  await merchant.capture(long);
  await merchant.capture(inTime);
  await world.settle();

  assert.equal((await merchant.status(cancelled))["order-stage"], "cancel_approved");
  assert.equal((await merchant.status(long))["order-stage"], "capture_approved");
  assert.equal((await merchant.status(inTime))["order-stage"], "capture_approved");
  assert.equal((await merchant.status(usual))["order-stage"], "auth_approved");
});
