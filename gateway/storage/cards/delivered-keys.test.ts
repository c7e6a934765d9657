/** Delivered keys are stored once and sealed, and the previous key gets an end. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asGateId } from "../../values/ids.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant } from "../../values/time.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { makeDueKeys, makeStoreKey } from "./delivered-keys.ts";
import { loadMacKeys, loadZoneKeys } from "./mac-keys.ts";

let place: DatabaseForTests;
let now = asInstant(1_800_000_000_000);
const [one, two] = [asGateId("1"), asGateId("2")];
const hourMs = 3_600_000;

/** Replaces the vault. A secret that is sealed for one context cannot be opened in another. */
const sealSecret = (secret: Secret<string>, context: string) =>
  Buffer.from(JSON.stringify([context, secret.reveal()]));
const openSecret = (sealed: Uint8Array, context: string) => {
  const [own, text] = JSON.parse(Buffer.from(sealed).toString());
  assert.equal(own, context);
  return new Secret<string>(text);
};

before(async () => {
  place = await startDatabase();
  await place.database.query(
    `insert into gates (id, name, kind, settings) values (1, 'one', 'sandbox', '{}'),
       (2, 'two', 'sandbox', '{}')`,
  );
});
after(() => place.stop());

function store(gate: typeof one, key: string, digest = key) {
  const dependencies = { audit: place.audit, sealSecret, clock: { now: () => now } };
  return makeStoreKey(
    dependencies,
    gate,
  )({
    algorithm: "retail",
    bytes: 8,
    key: new Secret(key),
    checkValue: "08D7B4",
    digest: Buffer.from(digest),
  });
}

async function keysOf(gate: typeof one) {
  const keys = (await loadMacKeys(place.database.query, openSecret)).get(gate) ?? [];
  return keys.map(({ key, writesAt, verifiesUntil }) => [key.reveal(), writesAt, verifiesUntil]);
}

test("the first key is used at once, and later ones after a minute, when they end the previous key", async () => {
  const begun = now;
  assert.equal(await store(one, "A"), "stored");
  now = asInstant(begun + 1_000);
  assert.equal(await store(one, "B"), "stored");

  assert.deepEqual(await keysOf(one), [
    ["B", now + 60_000, undefined],
    ["A", undefined, now + hourMs],
  ]);
  now = asInstant(begun + 2 * hourMs);
  assert.equal(await store(one, "C"), "stored");
  assert.deepEqual(
    (await keysOf(one)).map(([key]) => key),
    ["C", "B"],
  );
});

test("a repeated delivery is known while its key is the newest, and a replay later", async () => {
  const [first, second] = await Promise.all([store(two, "X"), store(two, "X")]);
  assert.deepEqual([first, second].sort(), ["known", "stored"]);
  assert.equal(await store(two, "Y"), "stored");
  assert.equal(await store(two, "X"), "replayed");
  assert.equal(await store(two, "Y"), "known");
  // Deliveries to another gate do not affect this one.
  assert.equal(await store(one, "X"), "stored");
  assert.equal((await keysOf(two)).length, 2);
});

test("one node asks for a due key, and asks again a minute after a failure", async () => {
  const { query } = place.database;
  await query(
    `insert into gate_zone_keys
       (gate_id, cipher, algorithm, mac_bytes, check_value, sealed, every_s, asked_at)
     values (1, 'tdes', 'retail', 8, '80FB24', $1, 3600, to_timestamp($2::float8 / 1000)),
       (2, 'aes', 'cmac', 8, '80FB24', $3, null, to_timestamp($2::float8 / 1000))`,
    [sealSecret(new Secret("Z"), "zone-key/1"), now, sealSecret(new Secret("Q"), "zone-key/2")],
  );
  let laterMs = 0;
  const keys = makeDueKeys(query, { now: () => asInstant(now + laterMs) });
  assert.deepEqual(await keys.claimDue(), []);
  now = asInstant(now + hourMs);
  const claims = await Promise.all([keys.claimDue(), keys.claimDue()]);
  assert.deepEqual(claims.flat(), ["1"]);
  await keys.postpone(one);
  laterMs = 59_000;
  assert.deepEqual(await keys.claimDue(), []);
  laterMs = 60_000;
  assert.deepEqual(await keys.claimDue(), ["1"]);
  const zones = await loadZoneKeys(query, openSecret);
  assert.deepEqual([zones.get(one)?.key.reveal(), zones.get(two)?.cipher], ["Z", "aes"]);
});
