/**
 * An outage with full queues: hundreds of sales, captures and returns are in doubt for hours, more
 * than a node claims at once. After the host returns, all of them are settled in order.
 */
import assert from "node:assert/strict";
import type { LoggedMessage } from "@tollgate/sandbox-bank";
import { type Dialect, testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import type { World } from "../../support/world.ts";

/** One dialect has more orders than a node claims at once, the others a few. */
const waveOf = ({ through }: Dialect) => (through === "plain" ? 100 : 12);
const claimBatch = 256;
const hourMs = 3_600_000;
const longestGapMs = 300_000;
// An echo whose answer is still on its way when the clock jumps would count as unanswered.
const settingsFor = (wave: number) => ({
  GW_IN_FLIGHT_MAX: String(wave),
  GW_ACQUIRER_ECHO_AFTER_S: "864000",
});

testOnEachDialect(
  "hundreds of orders in doubt through an outage of hours are all settled, each in order",
  async (t, dialect) => {
    const { mti } = dialect;
    const wave = waveOf(dialect);
    const world = await joinWorld(t, settingsFor(wave));
    const merchant = world.merchant(dialect.through);
    const held = await ask(world, wave, () => merchant.preauth());
    const paid = await ask(world, wave, () => merchant.sale());

    const course = { world, merchant, wave };
    const sales = await leaveInDoubt(course, mti("0200"), () => merchant.sale());
    const captures = await leaveInDoubt(course, mti("0220"), (at) =>
      merchant.capture(nth(held, at), { amount: "7.00" }),
    );
    const returns = await leaveInDoubt(course, mti("0400"), (at) =>
      merchant.return(nth(paid, at), { amount: "4.00" }),
    );
    for (let hour = 0; hour < 3; hour += 1) await world.pass(hourMs);
    const doubtful = await stagesOf(merchant, [...sales, ...captures, ...returns]);
    const repeated = await merchant.capture(nth(held, 0), { amount: "7.00" });
    await assertRefused(merchant.return(nth(held, 0)), 9);
    await assertRefused(merchant.return(nth(paid, 0), { amount: "1.00" }), 9);
    await comeBack(world);
    const taken = await world.gateway.claimDue();
    await world.settle();

    assert.deepEqual(count(doubtful), {
      sale_unknown: wave,
      capture_unknown: wave,
      reversal_unknown: wave,
    });
    assert.equal(repeated["gw-order-id"], nth(held, 0)["gw-order-id"]);
    assert.equal(taken, Math.min(claimBatch, 3 * wave));
    assert.deepEqual(count(await stagesOf(merchant, sales)), { sale_error: wave });
    assert.deepEqual(count(await stagesOf(merchant, captures)), { capture_approved: wave });
    assert.deepEqual(count(await stagesOf(merchant, returns)), { reversal_approved: wave });
    assertExchangesOrderly(world.bank.messages());
  },
);

testOnEachDialect(
  "returns of captures that were in doubt wait for them, through one outage after the other",
  async (t, dialect) => {
    const { mti } = dialect;
    const wave = waveOf(dialect);
    const world = await joinWorld(t, settingsFor(wave));
    const merchant = world.merchant(dialect.through);
    const held = await ask(world, wave, () => merchant.preauth());
    const course = { world, merchant, wave };
    const refund = (comment: string) => (at: number) =>
      merchant.return(nth(held, at), { amount: "2.00", comment });

    await leaveInDoubt(course, mti("0220"), (at) => merchant.capture(nth(held, at)));
    const early = await Promise.allSettled(held.map((_, at) => refund("too early")(at)));
    await comeBack(world);
    await world.settle();
    await leaveInDoubt(course, mti("0400"), refund("first"));
    await world.pass(hourMs);
    await comeBack(world);
    await world.settle();
    await leaveInDoubt(course, mti("0400"), refund("second"));
    await comeBack(world);
    await world.settle();

    const statuses = await Promise.all(held.map((order) => merchant.status(order)));
    const books = statuses.map((status) => bookedFor(world, status).join(", "));
    assert.ok(early.every(({ status }) => status === "rejected"));
    assert.deepEqual(count(books), {
      "authorisation 1015, capture 1015, reversal 200, reversal 200": wave,
    });
    assertExchangesOrderly(world.bank.messages());
  },
);

type Merchant = ReturnType<World["merchant"]>;
type Course = { readonly world: World; readonly merchant: Merchant; readonly wave: number };

async function ask(
  world: World,
  wave: number,
  one: (at: number) => Promise<Acknowledged>,
): Promise<readonly Acknowledged[]> {
  const orders = await Promise.all(Array.from({ length: wave }, (_, at) => one(at)));
  await world.settle();
  return orders;
}

/** Makes the bank carry out all requests without an answer, and then stops it. */
async function leaveInDoubt(
  { world, merchant, wave }: Course,
  mti: string,
  one: (at: number) => Promise<Acknowledged>,
): Promise<readonly Acknowledged[]> {
  await world.bank.setSwitches({ hostDown: false, lostAnswerShare: 1 });
  await world.linksUp();
  const orders = await Promise.all(Array.from({ length: wave }, (_, at) => one(at)));
  const statuses = await Promise.all(orders.map(merchant.describe));
  for (const { "processor-rrn": reference = "", "order-stage": stage = "" } of statuses) {
    assert.match(stage, /_processing$/);
    await world.bank.waitForMessage({ mti, reference });
  }
  // The maximum number of orders is in flight, and one more is refused for now.
  await assert.rejects(merchant.sale(), { httpStatus: 503 });
  await world.bank.setSwitches({ hostDown: true, lostAnswerShare: 0 });
  await world.linksDown();
  await world.settle();
  return orders;
}

/**
 * Starts the host again when everything is due, because the longest gap between two attempts is
 * over.
 */
async function comeBack(world: World): Promise<void> {
  world.clock.advance(longestGapMs);
  await world.startHost();
}

async function stagesOf(merchant: Merchant, orders: readonly Acknowledged[]) {
  const statuses = await Promise.all(orders.map(merchant.describe));
  return statuses.map((status) => status["order-stage"] ?? "");
}

function count(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function nth(orders: readonly Acknowledged[], at: number): Acknowledged {
  return orders[at] ?? assert.fail(`there is no order ${at}`);
}

const charges: ReadonlySet<string> = new Set(["0100", "0200"]);
const followUps: ReadonlySet<string> = new Set(["0220", "0221", "0400", "0401"]);
const advices: ReadonlySet<string> = new Set(["0420", "0421"]);

/**
 * Checks the messages to a bank in the bank's own log: one message at a time about one charge, and
 * the same content under one trace number. The log must not be longer than the trace numbers last.
 */
function assertExchangesOrderly(messages: readonly LoggedMessage[]): void {
  const about = messages.filter(({ fields }) => fields["37"] !== undefined).map(inWordsOf1987);
  const byCharge = Map.groupBy(about, ({ fields }) => fields["37"]);
  for (const [reference, all] of byCharge) assertOneAfterTheOther(all, `${reference}`);
  assertSameContent(about.filter(({ direction }) => direction === "received"));
}

/**
 * Translates a message into the types of 1987. In 1993 a return is a reversal advice too, because
 * the customer cancels.
 */
function inWordsOf1987(message: LoggedMessage): LoggedMessage {
  const { mti, fields } = message;
  const isReturn = mti.startsWith("142") && fields["25"] === "4000";
  return { ...message, mti: isReturn ? `040${mti[3]}` : `0${mti.slice(1)}` };
}

/** Asserts that a capture or a return is sent only after the previous message was answered. */
function assertOneAfterTheOther(messages: readonly LoggedMessage[], reference: string): void {
  const answered = new Set<string | undefined>();
  let latest: string | undefined;
  for (const { direction, mti, fields } of messages) {
    const trace = fields["11"];
    if (direction === "sent") answered.add(trace);
    else if (charges.has(mti)) latest = trace;
    else if (followUps.has(mti)) {
      const isNew = trace !== latest;
      assert.ok(!isNew || answered.has(latest), `${reference}: ${mti} ${trace} came too early`);
      latest = trace;
    }
  }
}

/**
 * Asserts that a repeat equals the first message except for its type, and for the time of an
 * advice.
 */
function assertSameContent(received: readonly LoggedMessage[]): void {
  const byTrace = Map.groupBy(received, ({ fields }) => fields["11"]);
  for (const [trace, same] of byTrace) {
    const [first, ...repeats] = same.map(contentOf);
    for (const repeat of repeats) assert.deepEqual(repeat, first, `two messages ${trace}`);
  }
}

function contentOf({ mti, fields }: LoggedMessage) {
  const { "7": time, ...others } = fields;
  const kind = mti.slice(0, 3);
  return { kind, time: advices.has(mti) ? undefined : time, others };
}
