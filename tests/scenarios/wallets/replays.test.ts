/** Payment data pays once, for one order, for any number of simultaneous requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { saleFields } from "../../support/merchant.ts";
import { rowsOf } from "../../support/series.ts";
import { chargesAt } from "../../support/threeds.ts";
import { until } from "../../support/until.ts";
import {
  assertWalletRefused,
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  pay,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";
import type { World } from "../../support/world.ts";

/** Where time or many requests make a test slow, the short run takes one kind. */
const kindsOfRun = rowsOf(walletKinds, (kind) => kind === "walletb_encrypted");

test("the same payment data with another order is declined", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const text = await textOf(world, kind);
    const first = await paid(world, kind, text);
    const second = await paid(world, kind, text);
    const elsewhere = await paid(world, kind, text, { through: "secure" });

    assert.equal(first["order-stage"], "sale_approved", kind);
    assertWalletRefused(second, 3005, kind);
    assertWalletRefused(elsewhere, 3005, `${kind} elsewhere`);
  }
  assert.equal(chargesAt(world), walletKinds.length);
});

test("payment data that the bank has refused cannot be used a second time", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const text = await textOf(world, kind, { pan: "4000004000000020" });
    const first = await paid(world, kind, text);
    const fields = { client_orderid: first["merchant-order-id"], comment: "once more" };
    const second = await paid(world, kind, text, { fields });

    assert.match(first["error-message"] ?? "", /\[51\]/, kind);
    assertWalletRefused(second, 3005, kind);
  }
});

test("a hold and a sale cannot be paid with the same payment data", async (t) => {
  const world = await joinWalletWorld(t);
  const fields = saleFields(walletFields("walletb_encrypted", await mintB(world)));
  const held = await world.merchant().preauth(fields);
  await world.settle();

  await assertRefused(world.merchant().sale(fields), 7);
  const sale = await world.merchant().sale({ ...fields, client_orderid: `${held["gw-order-id"]}` });
  await world.settle();

  assertWalletRefused(await world.merchant().status(sale), 3005, "sale after a hold");
  assert.equal(chargesAt(world), 1);
});

test("an identical request is acknowledged as before, with any result", async (t) => {
  const world = await startWalletWorld(t);
  const merchant = world.merchant();
  const texts: [WalletKind, string][] = [];
  for (const kind of walletKinds) texts.push([kind, await textOf(world, kind)]);
  texts.push(["walletb_encrypted", await mintB(world, {}, { defect: "tampered" })]);
  const requests = texts.map(([kind, text]) => saleFields(walletFields(kind, text)));
  const firsts = [];
  for (const fields of requests) firsts.push(await merchant.sale(fields));
  await world.settle();

  for (const hours of [0, 25]) {
    world.clock.advance(hours * 3_600_000);
    await world.linksUp();
    for (const [index, fields] of requests.entries()) {
      const again = await merchant.sale(fields);
      const about = `${texts[index]?.[0]} after ${hours} h`;
      assert.equal(again["gw-order-id"], firsts[index]?.["gw-order-id"], about);
      assert.notEqual(again["serial-number"], firsts[index]?.["serial-number"], about);
    }
    await world.settle();
  }
  assert.equal(chargesAt(world), walletKinds.length);
  assert.equal(
    (await world.installation.database.query("select from orders")).length,
    requests.length,
  );
});

test("twenty identical requests at the same moment are one charge", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of kindsOfRun) {
    const before = chargesAt(world);
    const fields = saleFields(walletFields(kind, await textOf(world, kind)));
    const all = await Promise.all(Array.from({ length: 20 }, () => world.merchant().sale(fields)));
    await world.settle();
    const status = await world.merchant().status(all[0] ?? assert.fail());

    assert.equal(new Set(all.map((each) => each["gw-order-id"])).size, 1, kind);
    assert.equal(status["order-stage"], "sale_approved", kind);
    assert.deepEqual(bookedFor(world, status), ["sale 1015"], kind);
    assert.equal(chargesAt(world), before + 1, kind);
  }
});

test("only one of twenty simultaneous orders with one token continues", async (t) => {
  const world = await startWalletWorld(t);
  const other = await world.otherNode("other");
  const merchants = [world.merchant(), world.merchantAt(other)];
  for (const kind of kindsOfRun) {
    const before = chargesAt(world);
    const text = await textOf(world, kind);
    const orders = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (merchants[index % 2] ?? assert.fail()).sale(walletFields(kind, text)),
      ),
    );
    await world.settle();
    const statuses = await untilFinal(world, orders);

    const approved = statuses.filter(({ status }) => status === "approved");
    assert.equal(approved.length, 1, kind);
    for (const status of statuses.filter(({ status: word }) => word !== "approved")) {
      assertWalletRefused(status, 3005, kind);
    }
    assert.equal(chargesAt(world), before + 1, kind);
  }
});

test("a token is not valid again after it was forgotten", async (t) => {
  const world = await startWalletWorld(t);
  const a = await mintA(world);
  const b = await mintB(world);
  await paid(world, "walleta_encrypted", a);
  await paid(world, "walletb_encrypted", b);

  world.clock.advance(26 * 3_600_000);
  await world.linksUp();
  // At this payment the gateway forgets the old ones.
  await paid(world, "walletb_decrypted", await textOf(world, "walletb_decrypted"));
  await until("both are forgotten", async () => {
    const rows = await world.installation.database.query("select from wallet_messages");
    // The cryptogram of walleta remains, because it has no age once it is decrypted.
    return rows.length === 2 || undefined;
  });

  assertWalletRefused(await paid(world, "walleta_encrypted", a), 3004, "walleta");
  assertWalletRefused(await paid(world, "walletb_encrypted", b), 3004, "walletb");
});

test("tokens of two merchants are not confused", async (t) => {
  const world = await startWalletWorld(t);
  const stranger = await world.stranger();
  await world.changeMerchant({ decryptedWallets: true }, "stranger");
  const text = await textOf(world, "walletb_decrypted");
  const own = await paid(world, "walletb_decrypted", text);
  const theirs = await stranger.sale(walletFields("walletb_decrypted", text));
  await world.settle();

  assert.equal(own["order-stage"], "sale_approved");
  assert.equal((await stranger.status(theirs))["order-stage"], "sale_approved");
});

test("a restart after the acknowledgement loses nothing and charges nothing twice", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of kindsOfRun) {
    const text = await textOf(world, kind);
    const fields = saleFields(walletFields(kind, text));
    const order = await world.merchant().sale(fields);
    await world.restart();
    await world.settle();
    await world.pass(60_000);
    const status = await world.merchant().status(order);
    const again = await world.merchant().sale(fields);
    const other = await paid(world, kind, text);

    // A node that ended had begun the order: it was charged and answered, or it is proved not to be
    // charged.
    assert.match(status["order-stage"] ?? "", /^sale_(approved|error)$/, kind);
    assert.equal(again["gw-order-id"], order["gw-order-id"], kind);
    // The clock may have passed the end of the token.
    assert.match(other["error-code"] ?? "", /^300[45]$/, kind);
    const isPaid = status.status === "approved";
    const booked = bookedFor(world, status).filter((entry) => entry.startsWith("sale"));
    assert.ok(booked.length <= 1 && (!isPaid || booked.length === 1), `${kind} ${booked}`);
  }
});

test("a request that is refused as a duplicate does not use the token up", async (t) => {
  const world = await joinWalletWorld(t);
  const taken = await world.merchant().sale();
  const token = await mintB(world);

  await assertRefused(
    pay(world, "walletb_encrypted", token, {
      fields: { client_orderid: taken["merchant-order-id"] },
    }),
    7,
  );
  const status = await paid(world, "walletb_encrypted", token);

  assert.equal(status.status, "approved");
});

test("a rejection stands after a restart", async (t) => {
  const world = await joinWalletWorld(t);
  const token = await mintA(world, {}, { defect: "wrong-root" });
  const order = await pay(world, "walleta_encrypted", token);
  await world.restart();
  await world.settle();

  assertWalletRefused(await world.merchant().status(order), 3003, "after a restart");
});

type Status = Awaited<ReturnType<ReturnType<World["merchant"]>["status"]>>;

/** Waits for orders at two nodes, each of which runs its own. */
function untilFinal(
  world: World,
  orders: readonly Parameters<ReturnType<World["merchant"]>["status"]>[0][],
): Promise<readonly Status[]> {
  return until("all have ended", async () => {
    const statuses = await Promise.all(orders.map((order) => world.merchant().status(order)));
    return statuses.every(({ status }) => status !== "processing") ? statuses : undefined;
  });
}
