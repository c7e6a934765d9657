/** The daily replacement of the key of pending card data, in a real database. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CardNumber } from "../../values/card-number.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant, later } from "../../values/time.ts";
import { openKeys, rewrapKey } from "../../vault/keys.ts";
import { makeReplacePendingKey } from "../../vault/rotate-keys.ts";
import { makePendingCards } from "../../vault/vault.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { makePendingCardStore } from "./cards.ts";
import {
  isPendingKeyDue,
  makeKeyStore,
  makeRotationStore,
  rewrapKeys,
  takeRotationLock,
} from "./vault-keys.ts";

const [masterKey, nextMasterKey] = [new Uint8Array(32).fill(5), new Uint8Array(32).fill(6)];
const now = asInstant(1_800_000_000_000);
const card = {
  number: new CardNumber("4000001000000018"),
  expiryYear: "31",
  expiryMonth: "12",
  cvv: new Secret("739"),
};
let tables: DatabaseForTests;

before(async () => {
  tables = await startDatabase();
});
after(() => tables.stop());

test("a key that is a day old is replaced, and destroyed after the grace period of the nodes", async () => {
  const { keys, clean, replaced, find } = await openNode();
  const old = keys.current("held").id;
  const others = keys.current("cards").id;
  await clean(60_000);
  assert.equal(keys.current("held").id, old, "the key is new");

  await makeOlder();
  await clean(60_000);
  assert.notEqual(keys.current("held").id, old);
  assert.notEqual(keys.find(old), undefined, "another node may still seal with it");
  await clean(0);
  await keys.reload();

  assert.equal(keys.find(old), undefined);
  assert.equal(keys.current("cards").id, others);
  assert.equal((await find())?.cvv?.reveal(), "739");
  assert.deepEqual(replaced, [[old]]);
});

test("a node that still has the old key-encryption key leaves the key alone", async () => {
  const { keys, clean } = await openNode();
  const old = keys.current("held").id;
  await makeOlder();
  await rewrapKeys(tables.database, (key) =>
    rewrapKey(key, { from: masterKey, to: nextMasterKey }),
  );
  await clean(0);

  assert.equal(keys.current("held").id, old);
});

const makeOlder = () =>
  tables.database.query("update vault.keys set created_at = now() - interval '25 hours'");

async function openNode() {
  const { database } = tables;
  const { query } = database;
  const keys = await openKeys(masterKey, makeKeyStore(query));
  const pending = makePendingCards(keys, makePendingCardStore(query, { retryMs: 0 }));
  await pending.store("101/7", card, later(now, 60_000));
  const replaced: (readonly number[])[] = [];
  const clean = (graceMs: number) =>
    makeReplacePendingKey({
      keys,
      graceMs,
      isDue: () => isPendingKeyDue(query, query),
      takeLock: () => takeRotationLock(database),
      openStore: () => makeRotationStore(database, [database]),
      onReplaced: ({ destroyed }) => void replaced.push(destroyed),
    })();
  return { keys, clean, replaced, find: () => pending.find("101/7", now) };
}
