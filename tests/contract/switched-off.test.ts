/**
 * The answers of an entry point that the operator has disabled: it begins nothing new, and
 * completes existing orders. An operation that is added later has to be refused.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { answerPareq, passChallenge } from "../support/cardholder.ts";
import { atEnd, type Test } from "../support/clean-up.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { assertRefused, bookedFor } from "../support/expect.ts";
import { about, rebillFields, type SaleFields, saleFields } from "../support/merchant.ts";
import {
  beginChallenge,
  beginPares,
  beginWith,
  cards,
  type Pending,
  statusOf,
  uploadMethod,
} from "../support/threeds.ts";
import { until } from "../support/until.ts";
import { giveKey, makeKeyPair } from "../support/wire.ts";
import { startWorld } from "../support/world.ts";

const unknownEndpoint = 3;
const currencyNotSupported = 10;
const goesOn = ["status", "capture", "return", "void"];
const uploads = ["uploadMethodUrlResult", "uploadCresResult", "uploadParesResult"];

const world = await startWorld(endOfFile);
const pair = makeKeyPair();
await giveKey(world, world.set.login, pair);
const secure = world.merchant("secure");

test("a disabled endpoint begins nothing new in any version, and completes existing orders", async (t) => {
  const [sold, partly, taken, held] = await Promise.all([
    pay("sale"),
    pay("sale"),
    pay("sale"),
    pay("preauth"),
  ]);
  const [method, challenge, pares] = [
    await beginWith(world, cards.frictionless),
    await beginChallenge(world),
    await beginPares(world),
  ];
  const { "card-ref-id": cardrefid = "" } = await secure.register(sold.order);

  await switchOff(t, "endpoints");
  const known = { ...about(sold.order, {}), cardrefid };
  await assertAllRefused([...goesOn, ...uploads], known);
  await secure.return(sold.order);
  await secure.return(partly.order, { amount: "4.15" });
  await secure.void(taken.order);
  await secure.endpoint("secure").sync.capture(about(held.order, {}));
  await uploadMethod(method);
  const { cres } = await passChallenge(challenge.status);
  await challenge.merchant.uploadCres(challenge.order, cres);
  await pares.merchant.uploadPares(
    pares.order,
    await answerPareq(pares.status, "https://shop.example/3ds"),
  );
  await world.settle();

  assert.deepEqual(await booked(sold), ["sale 1015", "reversal 1015"]);
  assert.deepEqual(await booked(partly), ["sale 1015", "reversal 415"]);
  assert.deepEqual(await booked(taken), ["sale 1015", "reversal 1015"]);
  assert.deepEqual(await booked(held), ["authorisation 1015", "capture 1015"]);
  for (const each of [method, challenge, pares]) {
    assert.deepEqual(await booked(each), ["sale 1015"]);
    assert.equal((await statusOf(each)).status, "approved");
  }
});

test("a request from before the endpoint was disabled, or a card expired, is acknowledged again", async (t) => {
  const merchant = world.merchant();
  const [expire_year = "", expire_month = ""] = new Date().toISOString().split("-");
  const fields = { ...saleFields(), expire_month, expire_year };
  const first = await merchant.sale(fields);
  await world.settle();

  world.clock.advance(45 * 86_400_000);
  await world.linksUp();
  const expired = await merchant.sale(fields);
  await assertRefused(merchant.sale({ ...fields, order_desc: "other" }), 5);
  await switchOff(t, "endpoints", "plain");
  const disabled = await merchant.sale(fields);
  await assertRefused(merchant.sale({ ...saleFields() }), unknownEndpoint);

  const { "gw-order-id": id } = first;
  assert.deepEqual([expired["gw-order-id"], disabled["gw-order-id"]], [id, id]);
  assert.deepEqual(bookedFor(world, await merchant.status(first)), ["sale 1015"]);
});

test("a group skips a disabled endpoint, and finds its existing orders", async (t) => {
  const held = await beginWith(world, cards.notEnrolled, { kind: "preauth", through: "plain" });
  await switchOff(t, "endpoints", "plain");

  const { group } = held.merchant;
  await assertRefused(group().sale(saleFields({ currency: "USD" })), currencyNotSupported);
  await group().sync.capture(about(held.order, {}));
  const captured = await group().status(about(held.order, {}));

  assert.equal(captured["order-stage"], "capture_approved");
});

test("a disabled merchant can only read the status of its orders", async (t) => {
  const [held, challenge] = [await pay("preauth"), await beginChallenge(world)];
  const { "card-ref-id": cardrefid = "" } = await secure.register(held.order);

  await switchOff(t, "merchants");
  await assertAllRefused(["status"], { ...about(held.order, {}), cardrefid });
  const [approved, waiting] = [await statusOf(held), await statusOf(challenge)];

  assert.equal(approved["order-stage"], "auth_approved");
  assert.equal(waiting["tds-status"], "CReqForm");
  assert.deepEqual(await booked(held), ["authorisation 1015"]);
});

async function pay(kind: "sale" | "preauth"): Promise<Pending> {
  return beginWith(world, cards.notEnrolled, { kind });
}

async function booked(pending: Pending): Promise<readonly string[]> {
  return bookedFor(world, await statusOf(pending));
}

/** Disables for the rest of the test. The node is notified, so that the bank still finds it. */
async function switchOff(t: Test, table: "endpoints" | "merchants", name = "secure") {
  const { endpoints, login } = world.set;
  const [key, value] = table === "endpoints" ? ["id", endpoints[name]] : ["login", login];
  const set = async (enabled: boolean) => {
    const { query } = world.installation.database;
    await query(`update ${table} set enabled = $1 where ${key} = $2`, [enabled, value]);
    await query("select pg_notify('tollgate_configuration', '')");
    await until("the gateway knows", async () => (await isServed(name)) === enabled || undefined);
  };
  await set(false);
  atEnd(t, () => set(true));
}

async function isServed(name: string): Promise<boolean> {
  const asked = secure.endpoint(name).getCardInfo({ cardrefid: "1" });
  return asked.then(
    () => true,
    ({ code }) => code !== unknownEndpoint,
  );
}

type Calls = Readonly<Record<string, (fields: SaleFields) => Promise<unknown>>>;

/**
 * Asserts that every operation but these is refused, in both versions and as synchronous variant.
 */
async function assertAllRefused(names: readonly string[], known: SaleFields): Promise<void> {
  const id = world.set.endpoints["secure"] ?? "";
  const signer = { consumerKey: world.set.login, privateKey: pair.privateKey };
  const oauth = { ...signer, now: () => world.clock.now() };
  const v4 = makeClient({ baseUrl: world.gateway.url, oauth, tries: 1 }).endpoint(id);
  const fields = { ...saleFields(), ...rebillFields({}), ...known };
  // The client has the registration of each version under a different name. Profiles, payouts
  // and tickets are for v4.
  const profiles = Object.keys(v4).filter((name) => /RecurringPayment|^payout|Ticket/.test(name));
  const entries = [
    { entry: secure.endpoint("secure"), others: ["createCardRefV4", ...profiles] },
    { entry: v4, others: ["createCardRef"] },
  ];
  for (const { entry, others } of entries) {
    const { id: _, sync, waitForResult: __, ...calls } = entry;
    const exempt = new Set([...names, ...others]);
    // The compiler cannot know that the request of every operation is part of these fields.
    const all = [calls, sync].flatMap((each) => Object.entries(each as unknown as Calls));
    for (const [name, call] of all) {
      if (!exempt.has(name)) await assertRefused(call(fields), unknownEndpoint);
    }
  }
}
