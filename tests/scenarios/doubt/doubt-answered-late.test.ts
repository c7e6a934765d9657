/**
 * The bank's answer and the operator's decision: an order is settled by the first of them, and the
 * later one changes nothing.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { comeBack, detailsOf, settleByHand, startDoubtPlace } from "../../support/doubt.ts";
import { bookedFor } from "../../support/expect.ts";
import { runGw } from "../../support/programs.ts";
import { until, untilTrue } from "../../support/until.ts";
import type { World } from "../../support/world.ts";

const hourMs = 3_600_000;
const answerTimeoutMs = 30_000;
const lateAnswer = "4000004000000145";

test("no operator settles an order while the bank is being asked about it", async (t) => {
  const { world, merchant, line } = await startDoubtPlace(t, 2 * hourMs);
  const order = await merchant.preauth();
  await world.settle();
  line.hold();
  await merchant.capture(order);
  await world.bank.waitForMessage({ mti: "0220" });
  world.clock.advance(answerTimeoutMs);
  await world.bank.waitForMessage({ mti: "0221" });

  const ran = await settleByHand(world, order, "not-done");
  line.release();
  await world.settle();
  const status = await merchant.status(order);

  assert.match(ran.complaint, /^The acquirer is being asked about order \d+ at this moment\./);
  assert.equal(ran.code, 2);
  assert.equal(status["order-stage"], "capture_approved");
});

// biome-ignore format: a table
const answers = [
  { says: "yes", card: "4111111111111111", as: "done",     stage: "capture_approved", code: undefined },
  { says: "no",  card: "4000004000000236", as: "not-done", stage: "capture_error",    code: "5006" },
];

for (const { says, card, as, stage, code } of answers) {
  test(`a bank that says ${says} after the operator's decision changes nothing`, async (t) => {
    const { world, merchant, line } = await startDoubtPlace(t, 2 * hourMs);
    const order = await merchant.preauth({ credit_card_number: card });
    await world.settle();
    line.hold();
    await merchant.capture(order);
    await world.bank.waitForMessage({ mti: "0220" });
    world.clock.advance(answerTimeoutMs);
    await world.bank.waitForMessage({ mti: "0221" });
    await world.pass(answerTimeoutMs);

    const ran = await settleByHand(world, order, as);
    const before = await merchant.status(order);
    line.release();
    await untilTrue("the gateway has heard both answers", () => unmatchedIn(world) === 2);
    await world.pass(hourMs);
    const after = await merchant.status(order);

    assert.equal(ran.code, 0, ran.complaint);
    assert.equal(after["order-stage"], stage);
    assert.equal(after["error-code"], code);
    assert.deepEqual({ ...after, "serial-number": "" }, { ...before, "serial-number": "" });
  });
}

test("an approval after a sale was settled as done is recorded, and the sale stays approved", async (t) => {
  const place = await startDoubtPlace(t, 2 * hourMs);
  const { world, merchant } = place;
  const order = await merchant.sale({ credit_card_number: lateAnswer });
  await world.bank.waitForMessage({ mti: "0200" });
  place.line.shut();
  await world.linksDown("sandbox");
  await world.settle();

  const ran = await settleByHand(world, order, "done");
  await comeBack(place);
  // The bank reports its approval of the sale only when it is asked to refund it.
  await merchant.return(order);
  await world.settle();
  const status = await merchant.status(order);

  assert.equal(ran.code, 0, ran.complaint);
  assert.equal(status["order-stage"], "reversal_approved");
  assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
  await until("the approval is noted", async () => {
    const [noted] = await detailsOf(world, order, "noted");
    return noted?.["what"] === "approved_late" || undefined;
  });
});

test("an approval after a sale was settled as not done is refunded", async (t) => {
  const { world, merchant, line } = await startDoubtPlace(t, 2 * hourMs);
  line.hold();
  const order = await merchant.sale();
  await world.bank.waitForMessage({ mti: "0200" });
  world.clock.advance(answerTimeoutMs);
  await world.bank.waitForMessage({ mti: "0420" });
  await world.pass(answerTimeoutMs);

  const ran = await settleByHand(world, order, "not-done");
  line.release();
  await untilTrue("the gateway has heard both answers", () => unmatchedIn(world) === 2);
  await until("the approval is known", async () => {
    return (await detailsOf(world, order, "approved_late")).length === 1 || undefined;
  });
  await world.pass(hourMs);
  const status = await merchant.status(order);

  assert.equal(ran.code, 0, ran.complaint);
  assert.equal(status["order-stage"], "sale_error");
  assert.equal(status["error-code"], "5006");
  assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
  assert.equal((await runGw(world, "doubt", "list")).printed, "Nothing is in doubt.\n");
});

/** Counts the answers to timed-out requests in the log. */
function unmatchedIn({ logged }: World): number {
  return logged.filter((line) => line.includes("acquirer.message_unmatched")).length;
}
