/**
 * The card data of an order that waits for its cardholder: kept until the bank has answered and no
 * longer, by any node, and in no stored or logged text.
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import {
  beginChallenge,
  beginPares,
  beginWith,
  cards,
  chargesAt,
  countPending,
  joinPatientWorld,
  standingOf,
  startPatientWorld,
  statusOf,
  untilNothingHeld,
  uploadMethod,
  uploadMethodOnly,
} from "../../support/threeds.ts";
import type { World } from "../../support/world.ts";

const one = { secrets: 1, keys: 1 };

test("card data is kept while an order waits, and not after the bank has answered", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, cards.challenge);
  const counts = [await countPending(world)];
  const { cres } = await passChallenge(await uploadMethod(pending));
  counts.push(await countPending(world));

  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();

  assert.deepEqual(counts, [one, one]);
  assert.equal((await statusOf(pending)).status, "approved");
  await untilNothingHeld(world);
});

test("the card data is destroyed before the bank's answer is written", async (t) => {
  const world = await joinPatientWorld(t);
  const pending = await beginWith(world, "4000004000000194");
  await uploadMethodOnly(pending);
  await world.bank.waitForMessage({ mti: "0200" });

  await world.whileOrdersWait(
    async () => undefined,
    async () => assert.deepEqual(await countPending(world), { secrets: 0, keys: 0 }),
  );
  await world.settle();

  assert.equal((await statusOf(pending)).status, "approved");
});

test("nothing is kept for cards that are not enrolled, and where 3-D Secure is off", async (t) => {
  const world = await joinPatientWorld(t);
  const ends = [
    await beginWith(world, cards.frictionless, { through: "plain" }),
    await beginWith(world, cards.notEnrolled),
    await beginWith(world, cards.notEnrolled, { through: "secureAlways" }),
  ];

  const statuses = await Promise.all(ends.map(statusOf));

  assert.deepEqual(
    statuses.map(({ status }) => status),
    ["approved", "approved", "declined"],
  );
  assert.deepEqual(await countPending(world), { secrets: 0, keys: 0 });
});

for (const [end, card, cvv2] of [
  ["the issuer refuses", "4000002000000073", "123"],
  ["the host refuses", cards.other, "116"],
] as const) {
  test(`when ${end}, its card data is destroyed`, async (t) => {
    const world = await joinPatientWorld(t);
    const pending = await beginWith(world, card, { fields: { cvv2 } });
    assert.deepEqual(await countPending(world), one);

    const final = await uploadMethod(pending);

    assert.equal(final.status, "declined");
    await untilNothingHeld(world);
  });
}

test("at a deadline every card that was held for it is destroyed", async (t) => {
  const world = await joinPatientWorld(t);
  const waiting = [
    await beginWith(world, cards.challenge),
    await beginChallenge(world),
    await beginPares(world),
  ];
  const before = await countPending(world);

  await world.pass(900_000);

  assert.deepEqual(before, { secrets: 3, keys: 3 });
  const statuses = await Promise.all(waiting.map(statusOf));
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ["declined", "declined", "declined"],
  );
  await untilNothingHeld(world);
});

// biome-ignore format: a table
const values = [
  ["123", ["sale_approved", undefined]],
  ["116", ["sale_declined", "116"]],
  ["999", ["sale_declined", "160"]],
] as const;

for (const [cvv2, end] of values) {
  test(`the CVV ${cvv2} reaches the host after the pause, and decides the result`, async (t) => {
    const world = await joinPatientWorld(t);
    const pending = await beginWith(world, cards.other, { fields: { cvv2 } });

    const final = await uploadMethod(pending);

    assert.deepEqual(standingOf(final), [...end, "AUTHENTICATED", "05"]);
    assert.equal(chargesAt(world), 1);
  });
}

test("a waiting order continues after a restart of the gateway, at every step", async (t) => {
  const world = await startPatientWorld(t, { GW_RESULTS_PORT: await freePort() });
  const pending = await beginWith(world, cards.challenge, { fields: { cvv2: "116" } });
  const pares = await beginPares(world, undefined, { fields: { cvv2: "116" } });

  await world.restart();
  const second = await uploadMethod(pending);
  await world.restart();
  const { cres } = await passChallenge(second);
  await world.restart();
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();
  const answer = await answerPareq(pares.status, "https://shop.example/term");
  await pares.merchant.uploadPares(pares.order, answer);
  await world.settle();

  const insufficient = ["sale_declined", "116", "AUTHENTICATED", "05"];
  assert.deepEqual(standingOf(await statusOf(pending)), insufficient);
  assert.deepEqual(standingOf(await statusOf(pares)), insufficient);
  assert.equal(chargesAt(world), 2);
  await untilNothingHeld(world);
});

test("an order that began on one node continues at another", async (t) => {
  const world = await startPatientWorld(t);
  const pending = await beginWith(world, cards.challenge, { fields: { cvv2: "116" } });
  const other = await world.otherNode("another");
  const merchant = world.merchantAt(other);
  const { order } = pending;
  const first = await merchant.status(order, "secure");
  const threeDSServerTransID = first["tds-method-url-frame-3ds-server-trans-id"] ?? "";

  await merchant.uploadMethod(order, { threeDSServerTransID }, "secure");
  await other.settle();
  const { cres } = await passChallenge(await statusOf(pending));
  await pending.merchant.uploadCres(order, cres);
  await world.settle();

  const insufficient = ["sale_declined", "116", "AUTHENTICATED", "05"];
  assert.deepEqual(standingOf(await statusOf(pending)), insufficient);
  assert.equal(chargesAt(world), 1);
});

for (const table of ["held_secrets", "held_keys"]) {
  test(`a card whose ${table} the database has lost ends its order, and nothing is sent`, async (t) => {
    const world = await startPatientWorld(t);
    const pending = await beginWith(world, cards.frictionless);
    await world.installation.database.query(`delete from ${table}`);

    await uploadMethodOnly(pending);
    await world.settle();
    const final = await statusOf(pending);

    assert.deepEqual(standingOf(final).slice(0, 2), ["sale_error", "5007"]);
    assert.equal(chargesAt(world), 0);
  });
}

test("neither card number nor CVV is in a log, an order or its events after 3-D Secure", async (t) => {
  const world = await startPatientWorld(t);
  const cvv2 = "7391";
  const numbers = [cards.challenge, cards.v1Authenticated, cards.challengeNoMethod, cards.other];
  const [challenge, pares, noMethod, other] = [
    await beginChallenge(world, cards.challenge, { fields: { cvv2 } }),
    await beginPares(world, undefined, { fields: { cvv2 } }),
    await beginChallenge(world, cards.challengeNoMethod, { fields: { cvv2 } }),
    await beginWith(world, cards.other, { fields: { cvv2 } }),
  ];
  const waiting = await readAll(world);
  const { cres } = await passChallenge(challenge.status);
  await challenge.merchant.uploadCres(challenge.order, cres);
  await pares.merchant.uploadPares(
    ...[pares.order, await answerPareq(pares.status, "https://shop.example/term")],
  );
  await world.pass(600_000);

  const statuses = await Promise.all([challenge, pares, noMethod, other].map(statusOf));
  const messages = [...world.bank.threeDsMessages(), ...world.bank.messages()];
  const rows = await readAll(world);
  const told = JSON.stringify([statuses, messages]);
  const everything = [waiting, rows, told, ...world.logged].join("\n");
  for (const number of numbers) {
    assert.ok(!everything.includes(number), `${number.slice(-4)} was found`);
    assert.ok(everything.includes(number.slice(-4)), `${number.slice(-4)} was not paid with`);
  }
  const standing = new RegExp(`(?<![0-9A-Za-z])${cvv2}(?![0-9A-Za-z])`);
  assert.doesNotMatch(everything, standing);
});

/** Returns every row of every table as text. */
async function readAll({ installation: { database } }: World): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('public', 'vault')`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database.query<{ row: string }>(`select each::text as row from ${name} as each`),
    ),
  );
  return rows.flatMap((each) => each.map(({ row }) => row)).join("\n");
}

/** Returns a free port. Results are posted to the address in the AReq, even after a restart. */
async function freePort(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
  });
  return String(await promise);
}
