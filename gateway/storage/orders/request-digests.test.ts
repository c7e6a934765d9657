/** Repeats are recognised for ever, and other CVVs for some minutes, after which none is known. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Secret } from "../../values/secret.ts";
import { asInstant } from "../../values/time.ts";
import { newKey, openKeys } from "../../vault/keys.ts";
import { makeRequestDigests } from "../../vault/request-digests.ts";
import { makeVault } from "../../vault/vault.ts";
import { makeCvvKeyStore, makeKeyStore } from "../cards/vault-keys.ts";
import type { Query } from "../server/database.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";

const minute = 60_000;
/** The first moment of a key's use. */
const slotStart = 240_000 * 7_500_000;
const masterKey = new Uint8Array(32).fill(7);
let tables: DatabaseForTests;

before(async () => {
  tables = await startDatabase();
});
after(() => tables.stop());

const asked = (cvv: string | undefined, text = "sale") => ({
  text: new Secret(cvv === undefined ? text : `${text}\ncvv2`),
  cvv: cvv === undefined ? undefined : new Secret(cvv),
});

test("another CVV is another request for ten minutes at least, at every node", async () => {
  const [here, there] = [await startNode(), await startNode()];
  here.now = there.now = slotStart + 4 * minute - 1;
  const first = await here.digests.make(asked("123"));
  there.now = slotStart + 14 * minute - 1;

  assert.equal(await there.digests.isSame(asked("123"), first), true);
  assert.equal(await there.digests.isSame(asked("124"), first), false);
  assert.equal(await there.digests.isSame(asked(undefined), first), false);
  assert.equal(await there.digests.isSame(asked("123", "preauth"), first), false);
});

test("a quarter of an hour later the CVV is not compared any more, and its key is gone", async () => {
  const node = await startNode();
  node.now = slotStart + 100 * minute;
  const first = await node.digests.make(asked("123"));
  const read = () => tables.database.query<{ slot: string }>("select slot from vault.cvv_keys");
  assert.equal((await read()).length > 0, true);

  node.now += 15 * minute;
  assert.equal(await node.digests.isSame(asked("999"), first), true);
  assert.equal(await node.digests.isSame(asked("999", "preauth"), first), false);
  await node.digests.destroyExpired();
  assert.deepEqual(await read(), []);
  // A clock that is set back reveals no CVV, because the key is deleted from memory too.
  node.now -= 15 * minute;
  assert.equal(await node.digests.isSame(asked("999"), first), true);
});

test("without a key from the database, payments go on and do not wait for it each time", async () => {
  let failures = 0;
  const node = await startNode(async (...statement) => {
    if (failures === 2) return tables.database.query(...statement);
    failures += 1;
    throw new Error("the database is unreachable");
  });
  node.now = slotStart + 300 * minute;

  const first = await node.digests.make(asked("123"));
  const second = await node.digests.make(asked("123"));
  node.now += 6_000;
  const third = await node.digests.make(asked("123"));
  node.now += 6_000;
  const fourth = await node.digests.make(asked("123"));

  assert.deepEqual(
    [first, second, third, fourth].map(({ cvv }) => cvv !== undefined),
    [false, false, false, true],
  );
  // The second request did not try to store a key.
  assert.equal(failures, 2);
});

test("if the database loses the keys in a crash, no CVV is compared and no payment fails", async () => {
  const node = await startNode();
  node.now = slotStart + 200 * minute;
  const first = await node.digests.make(asked("123"));
  await tables.database.query("truncate vault.cvv_keys");
  const next = await startNode();
  next.now = node.now;

  assert.equal(await next.digests.isSame(asked("124"), first), true);
  const second = await next.digests.make(asked("124"));
  assert.equal(await next.digests.isSame(asked("125"), second), false);
  // Both nodes have a key for the same minutes here, and each one that the other never had.
  assert.equal(await next.digests.isSame(asked("123"), first), true);
  assert.equal(await node.digests.isSame(asked("124"), second), true);
  assert.equal(await node.digests.isSame(asked("124"), first), false);
  assert.equal(await next.digests.isSame(asked("124", "preauth"), first), false);
});

test("without the table of keys a payment goes on, and its CVV is not compared", async () => {
  const node = await startNode(() => Promise.reject(new Error("the database is unreachable")));

  const digest = await node.digests.make(asked("123"));

  assert.equal(digest.cvv, undefined);
  assert.equal(await node.digests.isSame(asked("124"), digest), true);
});

test("equal CVVs of two requests have different digests", async () => {
  const node = await startNode();

  const [one, two] = [
    await node.digests.make(asked("123")),
    await node.digests.make(asked("123", "b")),
  ];

  assert.notDeepEqual(one.cvv?.subarray(4), two.cvv?.subarray(4));
  assert.equal(one.cvv?.length, 20);
});

test("digests are compared by the key that made them, and receivers' secrets stay", async () => {
  const node = await startNode();
  const first = await node.digests.make(asked("123"));
  const vault = makeVault(node.keys, async () => undefined);
  const secret = vault.secretFor("webhook/1001");
  await rotate("digests");
  const other = await startNode();

  assert.equal(await other.digests.isSame(asked("123"), first), true);
  assert.notEqual((await other.digests.make(asked("123"))).keyId, first.keyId);
  // The first node does not know the new key yet.
  assert.equal(
    await node.digests.isSame(asked("123"), await other.digests.make(asked("123"))),
    true,
  );
  assert.deepEqual(makeVault(other.keys, async () => undefined).secretFor("webhook/1001"), secret);
  assert.equal(await other.digests.isSame(asked("123"), { ...first, keyId: 0 }), false);
});

async function rotate(purpose: "digests"): Promise<void> {
  const { query } = tables.database;
  await query("update vault.keys set retired_at = now() where purpose = $1", [purpose]);
  await makeKeyStore(query).add(newKey(masterKey, purpose));
}

async function startNode(broken?: Query) {
  const { query } = tables.database;
  const node = { now: slotStart, keys: await openKeys(masterKey, makeKeyStore(query)) };
  const clock = { now: () => asInstant(node.now) };
  const store = makeCvvKeyStore(broken ?? query);
  return Object.assign(node, { digests: makeRequestDigests({ keys: node.keys, store, clock }) });
}
