/** The vault opens sealed values only in the context for which it sealed them. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { CardNumber } from "../values/card-number.ts";
import { asCardId, asMerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import {
  type KeyStore,
  type NewKey,
  newKey,
  open,
  openKeys,
  rewrapKey,
  type SealedKey,
  seal,
  WrongMasterKey,
} from "./keys.ts";
import { makeVault, type SealedCard } from "./vault.ts";

const [shop, other] = [asMerchantId("101"), asMerchantId("102")];
const card = {
  number: new CardNumber("4000001000000018"),
  expiryYear: "31",
  expiryMonth: "12",
};

test("a card comes out for its merchant only, and its number is not in what is stored", async () => {
  const { vault, stored } = await makeTestVault();
  const { fingerprint } = vault.fingerprint(shop, card.number);
  stored.push(vault.seal(shop, asCardId("7"), { ...card, fingerprint }));

  const revealed = await vault.findCard(shop, asCardId("7"));
  const bytes = Buffer.from(stored[0]?.sealed ?? []).toString("latin1");

  assert.equal(revealed?.number.reveal(), "4000001000000018");
  assert.equal(revealed?.expiryYear, "31");
  assert.ok(!bytes.includes("4000001000000018"));
  stored[0] = { ...(stored[0] ?? assert.fail()), merchantId: other };
  await assert.rejects(vault.findCard(other, asCardId("7")));
});

test("the same card has the same fingerprint within one merchant and another elsewhere", async () => {
  const { vault } = await makeTestVault();
  const again = new CardNumber("4000001000000018");

  const first = vault.fingerprint(shop, card.number);

  assert.equal(vault.fingerprint(shop, again).hashId, first.hashId);
  assert.notEqual(vault.fingerprint(other, again).hashId, first.hashId);
  assert.match(first.hashId, /^\d{1,19}$/);
});

test("the digest of a request depends on every character and on the installation's key", async () => {
  const [one, two] = [await makeTestVault(), await makeTestVault()];
  const text = new Secret("cvv2=3:123");

  assert.deepEqual(one.vault.digest(text), one.vault.digest(new Secret("cvv2=3:123")));
  assert.notDeepEqual(one.vault.digest(text), one.vault.digest(new Secret("cvv2=3:124")));
  assert.notDeepEqual(one.vault.digest(text), two.vault.digest(text));
});

test("a sealed thing with another key, another context or a changed bit does not open", () => {
  const [key, wrong] = [randomBytes(32), randomBytes(32)];
  const sealed = seal(key, "secret", "here");
  const changed = Buffer.from(sealed);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;

  assert.equal(open(key, sealed, "here").toString(), "secret");
  assert.throws(() => open(wrong, sealed, "here"));
  assert.throws(() => open(key, sealed, "there"));
  assert.throws(() => open(key, changed, "here"));
  assert.notDeepEqual(seal(key, "secret", "here"), sealed);
});

test("another key-encryption key is told apart from broken data", async () => {
  const store = makeKeyTable();
  await openKeys(randomBytes(32), store);
  await assert.rejects(openKeys(randomBytes(32), store), WrongMasterKey);
});

test("a second start opens the keys that the first one made", async () => {
  const [store, masterKey] = [makeKeyTable(), randomBytes(32)];
  const first = await openKeys(masterKey, store);
  const second = await openKeys(masterKey, store);

  assert.deepEqual(second.current("cards"), first.current("cards"));
  assert.equal(first.find(99), undefined);
});

test("keys that the database has lost are made again", async () => {
  const [before, empty] = [makeKeyTable(), makeKeyTable()];
  let table = before;
  const keys = await openKeys(randomBytes(32), {
    list: () => table.list(),
    add: (key) => table.add(key),
  });
  const lost = keys.current("secrets");

  table = empty;
  await keys.reload();

  assert.notEqual(keys.current("secrets").id, lost.id);
});

test("a card under a key that was made elsewhere opens, and new cards are sealed with it", async () => {
  const [table, masterKey, stored] = [makeKeyTable(), randomBytes(32), [] as SealedCard[]];
  const find = async () => stored[0];
  const keys = await openKeys(masterKey, table);
  const [here, old] = [makeVault(keys, find), keys.current("cards").id];
  table.replace(newKey(masterKey, "cards"));
  const there = makeVault(await openKeys(masterKey, table), find);
  const { fingerprint } = here.fingerprint(shop, card.number);
  stored[0] = there.seal(shop, asCardId("7"), { ...card, fingerprint });

  const revealed = await here.findCard(shop, asCardId("7"));
  const next = here.seal(shop, asCardId("8"), { ...card, fingerprint });

  assert.equal(revealed?.number.reveal(), "4000001000000018");
  assert.equal(next.keyId, stored[0].keyId);
  assert.notEqual(next.keyId, old);
});

test("a key that was destroyed elsewhere is forgotten, and one that is open needs no opening", async () => {
  const [table, masterKey] = [makeKeyTable(), randomBytes(32)];
  const keys = await openKeys(masterKey, table);
  const { id } = keys.current("secrets");
  const sealed = makeVault(keys, async () => undefined).sealSecret(new Secret("word"), "here");
  table.replace(newKey(masterKey, "secrets"));

  await keys.reload();
  const vault = makeVault(keys, async () => undefined);
  assert.equal(vault.openSecret(sealed, "here").reveal(), "word");
  table.remove(id);
  await keys.reload();

  assert.throws(() => vault.openSecret(sealed, "here"), /nothing opens/);
  assert.equal(keys.find(id), undefined);
});

test("the keys are sealed anew by another key-encryption key, and stay the same", async () => {
  const [table, from, to] = [makeKeyTable(), randomBytes(32), randomBytes(32)];
  const keys = await openKeys(from, table);
  const anew = makeKeyTable();
  for (const key of await table.list()) {
    await anew.add({ ...key, sealed: rewrapKey(key, { from, to }) });
  }

  const opened = await openKeys(to, anew);

  assert.deepEqual(opened.current("cards"), keys.current("cards"));
  await assert.rejects(openKeys(from, anew), WrongMasterKey);
});

async function makeTestVault() {
  const stored: SealedCard[] = [];
  const keys = await openKeys(randomBytes(32), makeKeyTable());
  const vault = makeVault(keys, async (_, id) => stored.find(({ cardId }) => cardId === id));
  return { vault, stored };
}

/** A table of keys in memory; the scenarios use the real one. */
type KeyTable = KeyStore & {
  /** Acts like another process: it retires the current key of the purpose and adds another. */
  replace(key: NewKey): void;
  remove(id: number): void;
};

function makeKeyTable(): KeyTable {
  let rows: SealedKey[] = [];
  const add = (key: NewKey) => void rows.push({ ...key, retired: false });
  return {
    list: async () => [...rows],
    add: async (key) => add(key),
    replace(key) {
      rows = rows.map((row) => (row.purpose === key.purpose ? { ...row, retired: true } : row));
      add(key);
    },
    remove(id) {
      rows = rows.filter((row) => row.id !== id);
    },
  };
}
