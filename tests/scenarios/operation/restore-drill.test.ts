/**
 * The drill: payments run, a backup is made in the middle, more payments follow, and the machine is
 * lost. The backup is restored on another machine. Nothing is sent from there until the books were
 * compared and an operator has released the installation. Then doubt is settled, and no cardholder
 * is charged twice.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchSettlement, reconcile } from "../../support/bank/settlement.ts";
import { startTrapProxy } from "../../support/bank/trap-proxy.ts";
import {
  assertBalancesAgree,
  orderPart,
  type StoredOrder,
  selectStoredOrders,
} from "../../support/books.ts";
import { atEnd } from "../../support/clean-up.ts";
import {
  backUp,
  makeElsewhere,
  makeIdentity,
  type Restored,
  restore,
  startRestored,
} from "../../support/databases/restored.ts";
import { makeFolder } from "../../support/folder.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { openPage, pay } from "../../support/posted-page.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { answerWith, startReceiver } from "../../support/receiver.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const unavailable = 5001;
const gates = ["sandbox", "sandbox-binary", "sandbox-iso93"];
const dayMs = 86_400_000;

test("a lost installation is restored elsewhere on hold, reconciled and released, without double charges", async (t) => {
  const world = await startWorld(t, {}, { keepsBooks: false });
  const line = await startTrapProxy({ host: "127.0.0.1", port: world.bank.hostPort });
  atEnd(t, () => line.close());
  await world.changeGate("sandbox", { port: line.port });
  const shop = await startReceiver(t, answerWith(500));
  const folder = await makeFolder(t);
  const identity = await makeIdentity(world, folder);
  const merchant = world.merchant();
  await world.changeEndpoint("plain", { pageLifeS: 7 * 86_400 });
  const page = await openPage(merchant);
  const before = await merchant.sale({ server_callback_url: shop.url });
  await world.settle();
  await shop.untilHeard(1);

  // The bank has booked it, and its answer is on the way while the backup is taken.
  line.hold();
  const inFlight = await merchant.sale();
  const { "processor-rrn": reference = "" } = await merchant.status(inFlight);
  await world.bank.waitForMessage({ mti: "0200", reference });
  const [file, ...during] = await Promise.all([
    backUp(world, folder, identity),
    ...Array.from({ length: 4 }, () => merchant.sale()),
  ]);
  line.release();
  const after = [await merchant.sale(), await merchant.sale()];
  await pay(page);
  await world.settle();
  for (const sale of [inFlight, page, ...after]) {
    assert.equal((await merchant.status(sale)).status, "approved");
  }

  const place = await makeElsewhere(t, world);
  const ran = await restore(place, file, identity, "--verify");
  assert.equal(ran.code, 0, `${ran.complaint}${ran.printed}`);
  assert.equal(JSON.parse(ran.printed).verified, "yes");
  const there = await startRestored(t, world, place);
  await assertOnHold(world, there, { before, inFlight, after, calls: shop.heard });

  await compareBooks(world, there, [reference, ...(await referencesOf(world, after))]);
  shop.answer(answerWith(200));
  const unsure = await runGw(there, "restore", "release", "--why", "the drill");
  assert.equal(unsure.code, 2, unsure.printed);
  assert.match(unsure.complaint, new RegExp(`sandbox .*: missing here, reference ${reference}`));
  const released = await runGw(there, "restore", "release", "--yes", "--why", "the drill");
  assert.equal(released.code, 0, released.complaint);
  assert.match(released.complaint, new RegExp(`missing here, reference ${reference}`));
  assert.match(released.printed, /1 open payment pages take no further card/);
  await untilPaying(world, there);
  await settleDoubt(world, there);
  const fresh = await there.merchant.sale();
  await payAgain(there, page);
  await there.gateway.settle();

  assert.equal((await there.merchant.status(fresh)).status, "approved");
  await shop.untilHeard(2);
  await assertBooks(world, there, { inFlight, page, during, after });
  const actions = await auditedBy(there);
  for (const action of ["backup", "restore", "restore release"]) assert.ok(actions.has(action));
  const verified = await runGw(there, "audit", "verify");
  assert.equal(verified.code, 0);
  assert.match(verified.printed, /restored the backup of .*\nThe audit is whole/s);
});

type Orders = {
  readonly before: Acknowledged;
  readonly inFlight: Acknowledged;
  readonly after: readonly Acknowledged[];
  readonly calls: readonly unknown[];
};

/**
 * Asserts that merchants can read the status of known orders, that all other requests get 503, and
 * that the bank receives nothing.
 */
async function assertOnHold(world: World, there: Restored, orders: Orders): Promise<void> {
  const heard = () => [
    world.bank.ledger().length,
    world.bank.messages().length,
    orders.calls.length,
  ];
  const quietly = heard();
  const { merchant, gateway } = there;

  assert.equal((await merchant.status(orders.before)).status, "approved");
  assert.equal((await merchant.status(orders.inFlight)).status, "processing");
  for (const ask of [
    () => merchant.sale(),
    () => merchant.preauth(),
    () => merchant.return(orders.before),
    () => merchant.register(orders.before),
  ]) {
    await assert.rejects(ask, (error: { code?: number }) => error.code === unavailable);
  }
  const untouched = await readVersions(there);
  world.clock.advance(dayMs);
  await gateway.settle();
  assert.equal(await gateway.claimDue(), 0);
  assert.deepEqual(await readVersions(there), untouched, "an order went on");
  const ready = await there.ready();
  assert.deepEqual([ready.code, ready.status], [503, "on hold"]);
  assert.match(ready.why ?? "", /^restored from the backup of /);
  const doctor = await runGw(there, "doctor");
  assert.match(doctor.printed, /trouble hold: restored from the backup/);
  assert.deepEqual(heard(), quietly, "something was sent");
}

/** Compares the books: the bank has orders that the backup does not have, or has as unanswered. */
async function compareBooks(world: World, there: Restored, lost: readonly string[]): Promise<void> {
  const status = (await readGw(there, "restore", "status")) as Readonly<Record<string, string>>;
  const needed = status["not reconciled"]?.split(", ") ?? [];
  const earlier = new Date(world.clock.now() - 4 * dayMs).toISOString().slice(0, 10);
  for (const gate of gates) {
    const lines = await fetchSettlement(world, gate);
    const elsewhere = { ...world, dataDir: there.dataDir, installation: there.installation };
    const compare = (day: string) => reconcile(elsewhere, gate, lines, "--day", day);
    // A day before the backup proves nothing about lost payments.
    assert.ok((await compare(earlier)).report !== undefined);
    const early = await runGw(there, "restore", "release");
    assert.match(early.complaint, new RegExp(`${gate} \\S+.* were not compared`));
    const days = needed.filter((each) => each.startsWith(`${gate} `));
    assert.ok(days.length > 0);
    const reports = await Promise.all(days.map((each) => compare(each.split(" ")[1] ?? "")));
    if (gate !== "sandbox") continue;
    const missing = reports
      .flatMap(({ report }) => report?.differences ?? [])
      .filter(({ kind }) => kind === "missing here");
    for (const each of lost) {
      assert.ok(
        missing.some((one) => one.reference === each),
        each,
      );
    }
  }
}

function readVersions({ installation }: Restored) {
  return installation.database.query("select id, version, owes from orders order by id");
}

async function untilPaying({ clock }: World, there: Restored): Promise<void> {
  await until("the node has signed on", async () => {
    clock.advance(1_000);
    const { code } = await there.ready();
    return code === 200 ? true : undefined;
  });
}

async function settleDoubt({ clock }: World, { gateway, installation }: Restored): Promise<void> {
  await until("nothing is in doubt", async () => {
    await gateway.settle();
    clock.advance(600_000);
    // A node that has not looked for so long concludes that it was paused, and gives other nodes
    // ten seconds.
    await gateway.settle();
    clock.advance(10_000);
    const orders = await installation.database.query<StoredOrder>(selectStoredOrders);
    return orders.every(({ due }) => !due) ? true : undefined;
  });
}

/** The page was open in the backup, and was paid in the time that was lost. */
async function payAgain({ gateway, merchant }: Restored, page: OpenedPage): Promise<void> {
  const there = new URL(new URL(page["redirect-url"]).pathname, gateway.url).href;
  await pay({ "redirect-url": there });
  const { status, "error-code": code } = await merchant.status(page);
  assert.deepEqual([status, code], ["declined", "2900"]);
}

type OpenedPage = Awaited<ReturnType<typeof openPage>>;
type Sold = Record<"during" | "after", readonly Acknowledged[]> &
  Record<"inFlight" | "page", Acknowledged>;

async function assertBooks(world: World, there: Restored, sold: Sold): Promise<void> {
  const orders = await there.installation.database.query<StoredOrder>(selectStoredOrders);
  const known = new Set(orders.map(({ id }) => String(id)));
  const lost = await referencesOf(
    world,
    [...sold.after, ...sold.during].filter((each) => !known.has(each["gw-order-id"])),
  );
  const unknown = [...lost, ...(await referencesOf(world, [sold.page]))];
  const isLost = new Set(unknown.map(orderPart));
  const ledger = world.bank.ledger();
  assertBalancesAgree(
    orders,
    ledger.filter((each) => !isLost.has(orderPart(each.reference))),
  );
  const charges = ledger.filter(({ kind }) => kind === "sale").map((each) => each.reference);
  assert.equal(new Set(charges).size, charges.length, "a reference came twice");
  assert.ok(known.has(sold.inFlight["gw-order-id"]));
  for (const each of sold.after) assert.ok(!known.has(each["gw-order-id"]));
}

/** Returns references as the lost world knew them. */
function referencesOf(world: World, orders: readonly Acknowledged[]): Promise<readonly string[]> {
  const merchant = world.merchant();
  return Promise.all(
    orders.map(async (each) => (await merchant.status(each))["processor-rrn"] ?? ""),
  );
}

async function auditedBy(there: Restored): Promise<ReadonlySet<string>> {
  const entries = (await readGw(there, "audit", "list")) as readonly { action: string }[];
  return new Set(entries.map(({ action }) => action));
}
