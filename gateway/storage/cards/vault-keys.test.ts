/** A rotation of the vault's keys seals everything with the new keys, in every cell. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, test } from "node:test";
import { CardNumber } from "../../values/card-number.ts";
import { asMerchantId } from "../../values/ids.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant, later } from "../../values/time.ts";
import type { Keys } from "../../vault/keys.ts";
import { rotateKeys } from "../../vault/rotate-keys.ts";
import { makePendingCards, type Vault } from "../../vault/vault.ts";
import { controlKeyContext } from "../configuration/configuration.ts";
import type { Database } from "../server/database.ts";
import { startVault } from "../testing/database-for-tests.ts";
import { makePendingCardStore } from "./cards.ts";
import { loadMacKeys, macKeyContext } from "./mac-keys.ts";
import { isPendingKeyDue, listKeyAges, makeRotationStore } from "./vault-keys.ts";
import { loadWalletKeys, makeWalletKeyAdministration } from "./wallets.ts";

const merchantId = asMerchantId("101");
const number = new CardNumber("4000001000000018");
const card = { number, expiryYear: "31", expiryMonth: "12", cvv: new Secret("739") };
const now = asInstant(1_800_000_000_000);
const tables = await startVault();
after(() => tables.stop());
const { cell, open: openAll } = tables;

test("control keys, wallet keys, MAC keys and pending cards are sealed again", async () => {
  const { query } = tables.database;
  const old = await openAll();
  const pem = makePrivateKey();
  await storeSecrets(old.vault, pem);
  const pending = makePendingCards(old.keys, makePendingCardStore(cell.query, retries));
  await pending.store("101/7", card, later(now, 60_000));
  const { hashId } = old.vault.fingerprint(merchantId, number);
  const [secret, sealedBefore] = [old.vault.secretFor("webhook/1"), await readSealed()];

  const { destroyed, kept } = await rotate();

  const next = await openAll();
  const retired = ["cards", "secrets", "held", "transfers"] as const;
  assert.deepEqual(
    destroyed,
    retired.map((purpose) => old.keys.current(purpose).id),
  );
  assert.deepEqual(kept, []);
  const sealedAfter = await readSealed();
  assert.equal(sealedAfter.length, 4);
  for (const [at, sealed] of sealedAfter.entries()) assert.notDeepEqual(sealed, sealedBefore[at]);
  const [row] = await query<{ control_key: Buffer }>("select control_key from merchants");
  const opened = next.vault.openSecret(
    row?.control_key ?? Buffer.alloc(0),
    controlKeyContext("shop"),
  );
  assert.equal(opened.reveal(), "control");
  const wallets = await loadWalletKeys(query, next.vault.openSecret);
  assert.deepEqual([wallets.keys.length, wallets.unreadable], [1, []]);
  const [mac] = [...(await loadMacKeys(query, next.vault.openSecret)).values()].flat();
  assert.equal(mac?.key.reveal(), "0123456789abcdef");
  // A node that was not notified of the rotation finds the new key by itself.
  assert.equal((await pending.find("101/7", now))?.cvv?.reveal(), "739");
  assert.equal(next.vault.fingerprint(merchantId, number).hashId, hashId);
  assert.deepEqual(next.vault.secretFor("webhook/1"), secret);
  for (const purpose of ["fingerprints", "webhooks"] as const) {
    assert.equal(next.keys.current(purpose).id, old.keys.current(purpose).id);
  }
});

test("a key of digests is kept for repeats, and destroyed when they are no longer expected", async () => {
  const { id } = (await openAll()).keys.current("digests");

  await rotate();
  assert.notEqual((await openAll()).keys.find(id), undefined);
  const { destroyed } = await rotate(0);

  assert.ok(destroyed.includes(id));
  assert.equal((await openAll()).keys.find(id), undefined);
});

test("after a failover to a standby without the new keys, nothing is sealed with them", async () => {
  const { query } = tables.database;
  const old = await openAll();
  const sealed = old.vault.sealSecret(new Secret("control"), controlKeyContext("shop"));
  await query("delete from gate_mac_keys");
  await query("delete from vault.wallet_keys");
  const set = "update merchants set control_key = $1";
  await query(set, [sealed]);
  const before = await query<{ id: number; isInUse: boolean }>(
    `select id, retired_at is null as "isInUse" from vault.keys`,
  );
  const ids = before.flatMap(({ id, isInUse }) => (isInUse ? [id] : []));

  await rotate(86_400_000, async () => {
    await query("delete from vault.keys where id <> all($1)", [before.map(({ id }) => id)]);
    await query("update vault.keys set retired_at = null where id = any($1)", [ids]);
    await query(set, [sealed]);
  });

  const [row] = await query<{ sealed: Buffer }>("select control_key as sealed from merchants");
  const { keys, vault } = await openAll();
  const opened = vault.openSecret(row?.sealed ?? Buffer.alloc(0), controlKeyContext("shop"));
  assert.equal(opened.reveal(), "control");
  const closed = await query(
    "select from card_keys where id = any($1) and destroyed_at > '-infinity'",
    [ids],
  );
  assert.deepEqual(closed, []);
  assert.equal(keys.current("secrets").id, old.keys.current("secrets").id);
});

test("a node writes nothing under a key that a promoted standby lacks", async () => {
  const { keys } = await openAll();
  const row = { context: "7/lost", sealed: Buffer.alloc(20), sealedKey: Buffer.alloc(20) };
  const { id: known } = keys.current("held");
  const put = (keyId: number) =>
    makePendingCardStore(cell.query, { retryMs: 0, confirmKeys: keys.confirm }).put(
      { ...row, keyId },
      now,
    );
  const listed = (id: number) => cell.query("select from card_keys where id = $1", [id]);

  await assert.rejects(put(known - 1000), /the vault does not have the key/);
  assert.deepEqual(await listed(known - 1000), []);
  await put(known);
  assert.equal((await listed(known)).length, 1);
});

test("a key that is made after a failover is not mistaken for a lost key in a node's memory", async () => {
  const { query } = tables.database;
  const old = (await openAll()).keys;
  const { replace } = makeRotationStore(tables.database, [cell]);
  await replace([old.sealNew("held")]);
  const { keys } = await openAll();
  const put = (context: string, by: Keys) => {
    const store = makePendingCardStore(cell.query, { retryMs: 0, confirmKeys: by.confirm });
    return makePendingCards(by, store).store(context, card, later(now, 60_000));
  };

  // A standby that lacks the key takes over.
  await query("delete from vault.keys where id = $1", [keys.current("held").id]);
  await query("update vault.keys set retired_at = null where id = $1", [old.current("held").id]);
  await replace([old.sealNew("held")]);
  const next = (await openAll()).keys;
  await put("101/8", next);

  await assert.rejects(put("101/9", keys), /the vault does not have the key/);
  await put("101/9", keys);
  const found = await makePendingCards(next, makePendingCardStore(cell.query)).find("101/9", now);
  assert.equal(found?.cvv?.reveal(), "739");
});

test("the key of pending card data is due when it and the last rewrap are a day old", async () => {
  const { query } = tables.database;
  const isDue = () => isPendingKeyDue(query, query);
  const rewrapped = (age: string) =>
    query(
      `insert into audit (seq, at, actor, origin, action, subject, hash)
       values (9001, now() - $1::interval, 'jo', '', 'key rewrap', '', '')`,
      [age],
    );
  await openAll();
  assert.equal(await isDue(), false);
  await query("update vault.keys set created_at = now() - interval '25 hours'");
  assert.equal(await isDue(), true);

  await rewrapped("1 hour");
  assert.equal(await isDue(), false);
  await query("delete from audit");
  await rewrapped("25 hours");
  assert.equal(await isDue(), true);
});

test("the age of the key-encryption key is that of the last completed rewrap", async () => {
  const { query } = tables.database;
  const end = (outcome: string) =>
    tables.audit.write({ action: "key rewrap ended", subject: "key rewrap", after: { outcome } });
  const ageOf = async () => (await listKeyAges(query)).get("key-encryption");
  await openAll();
  await query("update vault.keys set created_at = now() - interval '400 days'");

  await tables.audit.write({ action: "key rewrap", subject: "key rewrap" });
  for (const outcome of ["refused", "failed"]) await end(outcome);
  assert.equal(await ageOf(), 400);
  await end("done");
  assert.equal(await ageOf(), 0);
});

const retries = { retryMs: 0 };

async function rotate(keepDigestsMs = 86_400_000, pause?: () => Promise<void>) {
  return rotateKeys({
    keepDigestsMs,
    graceMs: pause ? 60_000 : 0,
    report: () => undefined,
    keys: (await openAll()).keys,
    store: makeRotationStore(tables.database, tables.cells),
    pause: pause ?? (async () => undefined),
  });
}

async function storeSecrets(vault: Vault, pem: string): Promise<void> {
  const { query } = tables.database;
  const seal = (text: string, context: string) => vault.sealSecret(new Secret(text), context);
  const control = seal("control", controlKeyContext("shop"));
  await query("insert into merchants (id, login, name, control_key) values (101, 'shop', '', $1)", [
    control,
  ]);
  await query("insert into gates (id, name, kind, settings) values (11, 'g', 'iso8583', '{}')");
  await query(
    `insert into gate_mac_keys (gate_id, algorithm, mac_bytes, sealed, check_value)
     values (11, 'retail', 8, $1, '')`,
    [seal("0123456789abcdef", macKeyContext("11"))],
  );
  const wallets = makeWalletKeyAdministration(tables.audit, query, vault.sealSecret);
  await wallets.add({ merchantId, wallet: "walletb", publicKey: "", privateKey: new Secret(pem) });
}

async function readSealed(): Promise<readonly Buffer[]> {
  const read = async (query: Database["query"], statement: string) =>
    (await query<{ sealed: Buffer }>(statement)).map(({ sealed }) => sealed);
  const { query } = tables.database;
  return [
    ...(await read(query, "select control_key as sealed from merchants")),
    ...(await read(query, "select sealed from gate_mac_keys")),
    ...(await read(query, "select sealed from vault.wallet_keys")),
    ...(await read(cell.query, "select sealed from held_keys")),
  ];
}

function makePrivateKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
