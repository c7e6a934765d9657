/**
 * A merchant is moved to another cell while it accepts payments of every kind, by commands that are
 * killed at each of their steps: nothing is lost or charged twice, and other merchants do not wait.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { assertMoneyAddsUp, readRows } from "../support/books.ts";
import { atEnd } from "../support/clean-up.ts";
import {
  type Pay,
  payAt,
  payToTheEnd,
  type SecureWorld,
  startSecureWorld,
} from "../support/crash-payments.ts";
import {
  type Load,
  type Merchants,
  makeLoadClient,
  makePatientClient,
  startLoad,
} from "../support/load.ts";
import { makeMerchant } from "../support/merchant.ts";
import { readGw, runGw, startProgram } from "../support/programs.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { cards } from "../support/threeds.ts";
import { until, untilTrue } from "../support/until.ts";

/** The first cell of the demonstration merchant, and the one to which it is moved. */
const [home, away] = ["second", "main"];

test("a merchant that is moved under load by commands killed at every step loses nothing", async (t) => {
  const world = await startSecureWorld(t);
  const shop = await startReceiver(t);
  const place = { installation: { databaseUrl: world.databaseUrl }, dataDir: world.dataDir };
  const neighbour = (await readGw(place, "merchant", "create", "neighbour")) as SecureWorld["set"];
  // A result that arrives while the merchant is stopped is not sent again, so the payment is
  // declined.
  const node = await world.startNode({ GW_RESULT_WAIT_S: "5" });
  await node.untilReady();
  const url = () => node.url;
  const paying = startLoad(t, { set: world.set, url, clients: 2 });
  const others = startLoad(t, { set: neighbour, url, clients: 1 });
  const pay = payAt(world, node, makePatientClient);
  const waiting = await pay.begin(cards.challengeNoMethod);
  const mixed = startMixed(pay, world, { url, shop });
  // This also happens if the test fails, so that no journey continues after it.
  atEnd(t, mixed.leave);
  const more = async (load: Load) => {
    const enough = load.acknowledged + 10;
    await untilTrue("more orders are taken", () => load.acknowledged >= enough);
  };
  const gw = (...words: readonly string[]) =>
    runGw(place, "cell", "move-merchant", world.set.login, ...words);
  await more(paying);

  const listCells = async () => JSON.stringify(await readGw(place, "cell", "list"));
  await killAt(world, "Copying");
  // If the kill comes late, the merchant is stopped.
  if (/\(stopped\)/.test(await listCells())) await gw("--abort");
  await more(paying);
  await killBehindFence(world);
  // Only this merchant is stopped.
  await more(others);
  assert.match(await listCells(), /to main \(stopped\)/);
  const doctor = await runGw(place, "doctor");
  assert.match(doctor.printed, /trouble unfinished moves/);
  assert.equal((await gw("--abort")).code, 0);
  await more(paying);
  await killAt(world, "Stopping");
  await killAt(world, "lives in its new cell");
  assert.equal((await gw("--abort")).code, 2);
  await killAt(world, "Deleting");
  const ended = await gw(away);
  await more(paying);
  await pay.pass(waiting);
  await Promise.all([paying.finish(), others.finish(), mixed.finish()]);
  await untilAllFinal(world);

  assert.ok(ended.code === 0 || /lives there already/.test(ended.complaint), ended.complaint);
  assert.equal((await readRows(world.databaseUrl, `select from cell_${home}.orders`)).length, 0);
  assert.doesNotMatch(await listCells(), /to main/);
  await assertNoneLost(world, paying, others);
  await assertRepeatsAnswered(paying, { set: world.set, url });
  await assertMoneyAddsUp(world);
  await assertToldToShop(world, shop);
  assert.equal((await pay.status(waiting)).status, "approved");
  t.diagnostic(`${paying.sales.length} sales, ${mixed.journeys} journeys, ${others.sales.length}`);
});

type Around = { readonly url: () => string; readonly shop: Receiver };

/** Runs captures, rebills and authenticated payments, one journey after the other. */
function startMixed(pay: Pay, { set }: SecureWorld, { url, shop }: Around) {
  const merchant = makeMerchant({ set, baseUrl: url, makeClient: makePatientClient });
  const ends = async (order: Parameters<typeof merchant.describe>[0]) => {
    const status = () => merchant.describe(order);
    const isOver = async () => ((await status()).status === "processing" ? undefined : true);
    await until("the request has ended", isOver);
    return order;
  };
  let [journeys, isFinishing] = [0, false];
  const going = (async () => {
    const first = await ends(await merchant.sale({ server_callback_url: shop.url }));
    const { "card-ref-id": cardrefid = "" } = await merchant.register(first);
    for (; !isFinishing; journeys += 1) {
      const held = await ends(await merchant.preauth({ server_callback_url: shop.url }));
      await ends(await merchant.capture(held, { amount: "5.00" }));
      await ends(await merchant.rebill({ cardrefid }));
      await payToTheEnd(pay, { credit_card_number: cards.challengeNoMethod });
    }
  })();
  return {
    get journeys() {
      return journeys;
    },
    async finish() {
      isFinishing = true;
      await going;
    },
    leave() {
      isFinishing = true;
      going.catch(() => undefined);
    },
  };
}

function startMove({ databaseUrl, dataDir, set }: SecureWorld) {
  const words = ["gateway/cli/gw.ts", "cell", "move-merchant", set.login, away];
  return startProgram(words, { GW_DATABASE_URL: databaseUrl, GW_DATA_DIR: dataDir });
}

/** The output of a move, in order. The next run continues where a killed one has stopped. */
const steps = ["Copying", "Stopping", "lives in its new cell", "Deleting", "lives there already"];

/**
 * Kills the command as soon as it prints the step. A late kill is as good, because a later step is
 * printed then.
 */
async function killAt(world: SecureWorld, step: string): Promise<void> {
  const run = startMove(world);
  const says = (some: readonly string[]) => some.some((each) => run.output.includes(each));
  const stop = () => void (says([step]) && run.child.kill("SIGKILL"));
  run.child.stdout?.on("data", stop);
  run.child.stderr?.on("data", stop);
  await untilTrue(`the move says ${step}, or has ended`, () => !run.isRunning);
  assert.ok(says(steps.slice(steps.indexOf(step))), run.output);
}

/** Kills the command between its fence and its switch, where a slow writer keeps it. */
async function killBehindFence(world: SecureWorld): Promise<void> {
  const writer = new pg.Client({ connectionString: world.databaseUrl });
  await writer.connect();
  try {
    await writer.query(`begin; lock table cell_${home}.due in row exclusive mode`);
    const run = startMove(world);
    await until("the merchant is fenced", async () => {
      const { rowCount } = await writer.query(`select from cell_${home}.moved_merchants`);
      return rowCount === 0 ? undefined : true;
    });
    await run.kill();
  } finally {
    await writer.end();
  }
}

const bothCells = `(select * from cell_${home}.orders union all select * from public.orders)`;

async function untilAllFinal({ databaseUrl }: SecureWorld): Promise<void> {
  const isOpen = "owes is not null or finished_at is null";
  const open = `select id from ${bothCells} as stored where ${isOpen}`;
  await until("every order is final", async () =>
    (await readRows(databaseUrl, open)).length === 0 ? true : undefined,
  );
}

/** Asserts that every sale has one order, the acknowledged one. */
async function assertNoneLost({ databaseUrl }: SecureWorld, paying: Load, others: Load) {
  const stored = await readRows<{ id: string; client_orderid: string }>(
    databaseUrl,
    `select id, client_orderid from ${bothCells} as stored`,
  );
  const byName = Map.groupBy(stored, (order) => order.client_orderid);
  for (const { fields, reply } of [...paying.sales, ...others.sales]) {
    const ids = (byName.get(fields.client_orderid) ?? []).map(({ id }) => id);
    assert.deepEqual(ids, [reply?.["gw-order-id"]], fields.client_orderid);
  }
}

/**
 * Asserts that the identical request is answered with the same order, much later and in another
 * cell.
 */
async function assertRepeatsAnswered(paying: Load, merchants: Merchants): Promise<void> {
  const endpoint = makeLoadClient(merchants);
  for (const { fields, reply } of paying.sales.slice(0, 10)) {
    assert.equal((await endpoint.sale(fields))["gw-order-id"], reply?.["gw-order-id"]);
  }
}

async function assertToldToShop({ databaseUrl }: SecureWorld, shop: Receiver): Promise<void> {
  const unended = "select from public.callbacks where due_at is not null";
  await until("every callback is delivered", async () =>
    (await readRows(databaseUrl, unended)).length === 0 ? true : undefined,
  );
  const told = await readRows<{ id: string }>(
    databaseUrl,
    "select distinct order_id as id from public.callbacks where ended = 'delivered'",
  );
  const heard = new Set(shop.heard.map(({ fields }) => fields["orderid"]));
  assert.ok(told.length > 0);
  for (const { id } of told) assert.ok(heard.has(id), `order ${id} was not told`);
}
