/** The rows of callbacks in a real database: which node may move a row, and to which time. */
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import type { Callback, DeliveryAttempt, DeliveryDecision } from "../../callbacks/callback.ts";
import { asMerchantId, asOrderId, asSerialNumber, receiverOf } from "../../values/ids.ts";
import { asInstant, type Instant, later } from "../../values/time.ts";
import { makeFixedName } from "../server/presence.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeResend, resendCallbacks } from "./callback-journal.ts";
import { makeCallbackStore } from "./callbacks.ts";

const now = asInstant(1_800_000_000_000);
const lease = later(now, 60_000);
const merchantId = asMerchantId("7");
const orderId = asOrderId("42");
const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const url = "https://shop.example/told";
const delivered: DeliveryDecision = { ended: "delivered" };
const { database, stop } = await startDatabase();
const { claimDue, record, release, waitsForEarlier } = makeCallbackStore(
  { query: database.hot, node: makeFixedName("left"), findOrder: async () => undefined },
  {},
);
after(stop);
beforeEach(() => database.query("truncate callbacks, callback_attempts"));

test("two callbacks of one order that are recorded together are both stored", async () => {
  await owe(1, lease);
  await owe(2, lease);
  await owe(3, lease);

  await Promise.all([tell(1, failed(later(now, 120_000))), tell(2, delivered)]);

  // The third callback is not compared, because either of the two records may have moved it.
  assert.deepEqual((await rows()).slice(0, 2), [
    [1, 1, null, now + 120_000],
    [2, 1, "delivered", null],
  ]);
});

test("an attempt that ends after an operator's decision is stored but does not count", async () => {
  for (const decision of [failed(later(now, 120_000)), delivered]) {
    await database.query("truncate callbacks, callback_attempts");
    await owe(1, lease);
    await owe(2, later(now, 90_000));

    await resendCallbacks(database.query, { merchantId, orderId, sequence: 1 }, { now, by: "ann" });
    await tell(1, decision);

    assert.deepEqual(await rows(), [
      [1, 0, null, now],
      [2, 0, null, now + 90_000],
    ]);
    assert.equal((await database.query("select from callback_attempts")).length, 1);
  }
});

test("a node releases only callbacks that it still holds", async () => {
  await owe(1, lease);
  await release([callback(1)], now);
  const given = await rows();
  await release([{ ...callback(1), leaseUntil: later(now, -1) }], later(now, 5));

  assert.deepEqual(given, [[1, 0, null, now]]);
  assert.deepEqual(await rows(), given);
});

test("a callback that is due before its turn is deferred by the first look", async () => {
  await owe(1, later(now, 3_600_000));
  await owe(2, later(now, -1000));
  await owe(3, later(now, -1000));

  const claim = { now, until: lease, countMax: 10, except: { receivers: [], merchants: [] } };
  assert.deepEqual(await claimDue(claim), []);

  assert.deepEqual(
    (await rows()).map(([sequence, , , due]) => [sequence, due]),
    [1, 2, 3].map((sequence) => [sequence, now + 3_600_000]),
  );
});

test("a callback that waits for an earlier one is deferred, unless the earlier one has ended", async () => {
  await owe(1, later(now, 3_600_000));
  await owe(2, lease);
  await owe(3, later(now, 5_000));

  assert.equal(await waitsForEarlier(callback(1)), false);
  assert.equal(await waitsForEarlier(callback(2)), true);
  assert.equal(await waitsForEarlier(callback(3)), true);

  assert.deepEqual(
    (await rows()).map(([, , , due]) => due),
    [now + 3_600_000, now + 3_600_000, now + 5_000],
  );
});

test("callbacks to one URL wait for each other, and those to another URL for none of them", async () => {
  const [own, changed, other] = [url, "https://shop.example/later", "https://books.example/told"];
  await owe(1, later(now, 3_600_000), undefined, own);
  await owe(10_001, lease, "delivered", other);
  await owe(2, lease, undefined, changed);
  await owe(10_002, lease, undefined, other);
  await owe(20_002, lease, undefined, own);

  const waits = [
    [2, changed],
    [10_002, other],
    [20_002, own],
  ] as const;
  const answers = [];
  for (const [sequence, to] of waits) {
    answers.push(await waitsForEarlier({ ...callback(sequence), url: to }));
  }
  const claim = { now, until: lease, countMax: 10, except: { receivers: [], merchants: [] } };
  const resent = await resendCallbacks(
    database.query,
    { merchantId, orderId, sequence: 10_002 },
    { now, by: "ann" },
  );

  assert.deepEqual(answers, [true, false, true]);
  assert.deepEqual(
    resent.map(({ sequence }) => sequence),
    [10_002],
  );
  assert.deepEqual(
    (await claimDue(claim)).map(({ sequence }) => sequence),
    [10_002],
  );
});

test("the end of a callback makes the next one to its URL due, and no other", async () => {
  const other = "https://books.example/told";
  await owe(1, lease);
  await owe(2, later(now, 3_600_000));
  await owe(10_002, later(now, 3_600_000), undefined, other);
  await owe(20_002, later(now, 3_600_000));

  await tell(1, delivered);

  assert.deepEqual(
    (await rows()).map(([sequence, , , due]) => [sequence, due]),
    [
      [1, null],
      [2, now],
      [10_002, now + 3_600_000],
      [20_002, now],
    ],
  );
});

test("the limit of callbacks to send again holds over all cells together", async () => {
  for (const sequence of [1, 2, 3]) await owe(sequence, later(now, 3_600_000), "given_up");

  const resend = makeResend({ merchantId, orderId }, { now, by: "ann", most: 2 });
  const sent = await Promise.all([resend(database.query), resend(database.query)]);

  assert.deepEqual(
    sent.map(({ length }) => length),
    [2, 0],
  );
});

test("sending a callback again also sends the earlier open ones", async () => {
  await owe(1, lease, "delivered");
  await owe(2, later(now, 3_600_000));
  await owe(3, later(now, 3_600_000), "given_up");
  await owe(4, later(now, 3_600_000));

  const sent = await resendCallbacks(
    database.query,
    { merchantId, orderId, sequence: 3 },
    { now, by: "ann" },
  );

  assert.deepEqual(sent.map(({ sequence, asked }) => [sequence, asked]).sort(), [
    [2, false],
    [3, true],
  ]);
  assert.deepEqual(
    (await rows()).map(([, , ended, due]) => [ended, due]),
    [
      ["delivered", null],
      [null, now],
      [null, now],
      [null, now + 3_600_000],
    ],
  );
});

function callback(sequence: number): Callback {
  return {
    merchantId,
    orderId,
    sequence,
    serialNumber,
    url,
    receiver: receiverOf(url),
    tries: 0,
    begunAt: now,
    leaseUntil: lease,
  };
}

function tell(sequence: number, decision: DeliveryDecision): Promise<void> {
  const attempt: DeliveryAttempt = {
    at: now,
    method: "GET",
    url,
    body: "",
    status: 200,
    failure: undefined,
    durationMs: 3,
    answer: "",
    retryAfterMs: undefined,
  };
  return record({ callback: callback(sequence), attempt, decision });
}

function failed(dueAt: Instant): DeliveryDecision {
  return { dueAt, isCounted: true };
}

async function owe(sequence: number, due: Instant, ended?: string, at = url): Promise<void> {
  await database.query(
    `insert into callbacks (merchant_id, order_id, sequence, serial, url, receiver, made_at,
       begun_at, due_at, ended, ended_at)
     select $1, $2, $3, $4, $5, $6, moment, moment,
       case when $8::text is null then to_timestamp($7::float8 / 1000) end, $8,
       case when $8::text is not null then moment end
     from to_timestamp($9::float8 / 1000) as moment`,
    [merchantId, orderId, sequence, serialNumber, at, receiverOf(at), due, ended ?? null, now],
  );
}

type Row = readonly [sequence: number, tries: number, ended: string | null, due: number | null];

async function rows(): Promise<readonly Row[]> {
  const found = await database.query<{ row: Row }>(
    `select json_build_array(sequence, tries, ended, (extract(epoch from due_at) * 1000)::float8)
       as row
     from callbacks order by sequence`,
  );
  return found.map(({ row }) => row);
}
