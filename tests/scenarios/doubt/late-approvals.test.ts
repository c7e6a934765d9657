/**
 * Approvals that arrive after the order has continued with another amount, or while the database is
 * unreachable. Each has charged money, so it is reversed until the reversal is confirmed, even if
 * nodes and hosts restart in between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dialect, dialects, testOnEachDialect } from "../../support/bank/dialects.ts";
import { waitingLocks } from "../../support/databases/locks.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { bookedFor } from "../../support/expect.ts";
import { readGw } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const [ascii = assert.fail()] = dialects;
const answerTimeoutMs = 30_000;
const longestGapMs = 300_000;

/** Sends two amounts without an answer. The first is proved not to be charged. */
async function sendTwoAmounts({ through, inquires, mti }: Dialect) {
  const merchant = world.merchant(through);
  const cardrefid = await world.registerCard();
  await world.bank.setSwitches({ approveLate: true });
  const amounts = { amount: "10.00", enumerate_amounts: "5.00" };
  const payment = await merchant.rebill({ cardrefid, ...amounts });
  const first = (await merchant.status(payment))["processor-rrn"] ?? "";
  await world.bank.waitForMessage({ mti: mti("0200"), reference: first });
  world.clock.advance(answerTimeoutMs);
  if (!inquires) {
    await world.settle();
    world.clock.advance(answerTimeoutMs);
    await world.gateway.claimDue();
  }
  const second = `${first.slice(0, -1)}2`;
  await world.bank.waitForMessage({ mti: mti("0200"), reference: second });
  return { merchant, payment, first, second };
}

testOnEachDialect(
  "a late approval of an earlier amount is reversed until that is proved, by any node",
  async (_t, dialect) => {
    const { merchant, payment, first, second } = await sendTwoAmounts(dialect);
    await world.bank.setSwitches({ approveLate: false, reversalCode: "96" });
    await world.settle();
    const approved = await merchant.status(payment);
    const listed = JSON.stringify(await readGw(world, "doubt", "list"));
    await merchant.return(payment, { amount: "2.00" });
    await world.settle();
    const returned = await merchant.status(payment);

    await world.stopHost();
    await world.pass(longestGapMs);
    await world.restart();
    await world.settle();
    await world.bank.setSwitches({ reversalCode: null });
    await world.startHost();
    await world.pass(longestGapMs);

    assert.equal(approved["order-stage"], "sale_approved");
    assert.equal(approved["charged-amount"], "5.00");
    assert.match(listed, new RegExp(`"10.00 USD".*${first}.*"refused":"${dialect.code("96")}"`));
    assert.deepEqual(bookedFor(world, { "processor-rrn": first }), ["sale 1000", "reversal 1000"]);
    // The return does not wait for the reversal, which concerns another charge.
    assert.equal(returned["order-stage"], "reversal_approved");
    const part = ["sale 500", "reversal 200"];
    assert.deepEqual(bookedFor(world, { "processor-rrn": second }), part);
    await merchant.return(payment);
    await world.settle();
    assert.equal((await merchant.status(payment))["order-stage"], "reversal_approved");
    assert.deepEqual(await readGw(world, "doubt", "list"), []);
  },
);

testOnEachDialect(
  "another node goes on with the reversal of a node that ended without a word",
  async (_t, dialect) => {
    const { payment, first } = await sendTwoAmounts(dialect);
    await world.bank.setSwitches({ approveLate: false, reversalCode: "91" });
    await world.settle();
    const other = await world.otherNode("other");
    await world.bank.setSwitches({ reversalCode: null });
    world.clock.advance(longestGapMs);
    await other.settle();

    const status = await world.merchantAt(other).status(payment, dialect.through);
    assert.equal(status.status, "approved");
    assert.deepEqual(bookedFor(world, { "processor-rrn": first }), ["sale 1000", "reversal 1000"]);
    await other.stop();
  },
);

test("an operator settles the reversal of an earlier amount as the bank confirms", async () => {
  const { merchant, payment, first } = await sendTwoAmounts(ascii);
  await world.bank.setSwitches({ approveLate: false, reversalCode: "12" });
  await world.settle();
  const order = payment["gw-order-id"];
  const why = ["--why", "ticket 4711", "--by", "anna"];

  await assert.rejects(readGw(world, "doubt", "settle", order, "--as", "done", ...why));
  await world.bank.setSwitches({ reversalCode: null });
  await readGw(world, "doubt", "ask", order, ...why);
  await world.settle();

  assert.equal((await merchant.status(payment)).status, "approved");
  assert.deepEqual(bookedFor(world, { "processor-rrn": first }), ["sale 1000", "reversal 1000"]);
});

test("an approval that arrives while the database is unreachable is kept until it is stored", async () => {
  const { merchant, payment, first } = await sendTwoAmounts(ascii);
  const delays = () => world.logged.filter((line) => line.includes("late_approval_delayed")).length;
  const before = delays();
  const { query } = world.installation.database;
  await world.whileOrdersWait(
    () => world.bank.setSwitches({ approveLate: false }),
    () =>
      until("the approval could not be stored", async () => {
        await query(`select pg_terminate_backend(pid) ${waitingLocks}`);
        return delays() > before || undefined;
      }),
  );
  await world.settle();
  await world.pass(longestGapMs);

  assert.equal((await merchant.status(payment)).status, "approved");
  assert.deepEqual(bookedFor(world, { "processor-rrn": first }), ["sale 1000", "reversal 1000"]);
});

test("a late approval finds its order, although the database has lost the latest blocks of ids", async () => {
  const merchant = world.merchant();
  const sale = async () => {
    const sold = await merchant.sale();
    const reference = (await merchant.status(sold))["processor-rrn"] ?? "";
    await world.bank.waitForMessage({ mti: "0200", reference });
    return { "processor-rrn": reference, id: Number(sold["gw-order-id"]) };
  };
  await world.bank.setSwitches({ approveLate: true });
  const charges = [await sale(), await sale(), await sale()] as const;
  // Filtered orders have no sequence number. They are most of the orders that are searched.
  await readGw(world, "list", "add", "block", "email-domain", "blocked.example");
  await until("the node knows the entry", async () => {
    const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
    return metrics.includes("tollgate_list_entries 1\n") || undefined;
  });
  for (let orders = 0; orders < 4; orders += 1) await merchant.sale({ email: "a@blocked.example" });
  world.clock.advance(answerTimeoutMs);
  await world.settle();
  await world.pass(answerTimeoutMs);
  const { database } = world.installation;
  const [{ "processor-rrn": reference, id }] = charges;
  const sequence = Number.parseInt(reference.slice(0, 10), 36);
  await database.query("delete from order_blocks");
  await database.query("insert into order_blocks values ($1, $2, 1, 1)", [sequence - 1, id - 1]);
  await world.bank.setSwitches({ approveLate: false });
  for (const charge of charges) {
    await until("the charge is booked and reversed", async () => {
      await world.pass(answerTimeoutMs);
      return bookedFor(world, charge).length === 2 || undefined;
    });
    assert.deepEqual(bookedFor(world, charge), ["sale 1015", "reversal 1015"]);
  }
});
