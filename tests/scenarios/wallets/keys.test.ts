/**
 * The keys for which wallets encrypt: made, certified, renewed beside the old ones, and removed;
 * and what `gw wallet key` prints and stores.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { readGw, runGw } from "../../support/programs.ts";
import { testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import {
  assertWalletRefused,
  mintA,
  mintB,
  paid,
  startWalletWorld,
  withWallets,
} from "../../support/wallets.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Restarts take long on the test's clock. */
const patient = { GW_WALLET_SIGNING_WINDOW_S: "86400" };

type Listed = {
  readonly id: string;
  readonly merchant: string;
  readonly wallet: string;
  readonly certificate: string;
  readonly expires: string;
};

test("a merchant is set up completely while the gateway runs", async (t) => {
  const world = await startWorld(t);
  const names = ["--walleta-merchant", "merchant.shop", "--walletb-recipient", "merchant:shop"];
  const set = await readGw(world, "wallet", "set", "demo", ...names);
  const a = await makeKey(world, "walleta");
  const b = await makeKey(world, "walletb");
  const file = await certify(world, a.request ?? "", "merchant.shop");
  const certified = await runGw(world, "wallet", "key", "certify", a.id, file);
  await tellBank(world, { publicKey: b.publicKey ?? "", recipientId: "merchant:shop" });

  assert.deepEqual(set, {
    merchant: "demo",
    merchantIdentifier: "merchant.shop",
    recipientId: "merchant:shop",
  });
  assert.equal(certified.code, 0, certified.complaint);
  await until("the gateway knows the keys", async () => {
    // This token is not for a gateway, so it names no merchant of one.
    const ofB = await paid(world, "walletb_encrypted", await mintB(world));
    const ofA = await paid(world, "walleta_encrypted", await mintA(world));
    for (const { "error-code": code } of [ofA, ofB]) assert.match(code ?? "3002", /^300[29]$/);
    return (ofA.status === "approved" && ofB.status === "approved") || undefined;
  });
});

test("tokens for the old key of walletb are accepted until it is removed", async (t) => {
  const world = await startWalletWorld(t);
  const [old] = (await listKeys(world)).filter(({ wallet }) => wallet === "walletb");
  const [first, second] = [await mintB(world), await mintB(world)];
  const { publicKey = "" } = await makeKey(world, "walletb");
  await tellBank(world, {
    publicKey,
    recipientId: "gateway:tollgate",
    gatewayMerchantId: world.set.login,
  });
  await world.restart();

  const before = await paid(world, "walletb_encrypted", first);
  const after = await paid(world, "walletb_encrypted", await mintB(world));
  const removed = await runGw(world, "wallet", "key", "remove", old?.id ?? "");
  await world.restart();
  const late = await paid(world, "walletb_encrypted", second);
  const fine = await paid(world, "walletb_encrypted", await mintB(world));

  assert.deepEqual([before.status, after.status, fine.status], Array(3).fill("approved"));
  assert.equal(removed.code, 0, removed.complaint);
  assertWalletRefused(late, 3009, "its key is removed");
});

testInLongRun("tokens for the old key of walleta open until it is removed", async (t) => {
  const world = await startWalletWorld(t, patient);
  const [old] = (await listKeys(world)).filter(({ wallet }) => wallet === "walleta");
  const { id, request = "" } = await makeKey(world, "walleta");
  const first = await mintA(world);
  const second = await mintA(world);
  const file = await certify(world, request, "merchant.tollgate.demo");
  await runGw(world, "wallet", "key", "certify", id, file);
  await world.restart();

  const before = await paid(world, "walleta_encrypted", first);
  const after = await paid(world, "walleta_encrypted", await mintA(world));
  await runGw(world, "wallet", "key", "remove", old?.id ?? "");
  await world.restart();
  const late = await paid(world, "walleta_encrypted", second);

  assert.deepEqual([before.status, after.status], ["approved", "approved"]);
  assertWalletRefused(late, 3009, "its key is removed");
});

test("after the last key is removed the missing key is named, and no private part stays", async (t) => {
  const world = await startWalletWorld(t);
  const [a, b] = [await mintA(world), await mintB(world)];
  for (const { id } of await listKeys(world)) await runGw(world, "wallet", "key", "remove", id);
  await world.restart();

  const [ofA, ofB] = [
    await paid(world, "walleta_encrypted", a),
    await paid(world, "walletb_encrypted", b),
  ];

  assertWalletRefused(ofA, 3002, "walleta");
  assertWalletRefused(ofB, 3002, "walletb");
  assert.match(ofA["error-message"] ?? "", /walleta: no certificate/);
  assert.match(ofB["error-message"] ?? "", /walletb: no key/);
  assert.deepEqual(await listKeys(world), []);
  const { query } = world.installation.database;
  const kept = await query("select from vault.wallet_keys where length(sealed) > 0");
  assert.equal(kept.length, 0);
});

test("a certificate is accepted for its own key only", async (t) => {
  const world = await startWalletWorld(t);
  const [mine, other] = [await makeKey(world, "walleta"), await makeKey(world, "walleta")];
  const b = await makeKey(world, "walletb");
  const file = await certify(world, mine.request ?? "", "merchant.tollgate.demo");
  const noCertificate = join(world.dataDir, "none.pem");
  await writeFile(noCertificate, "hello");
  const tryIt = (...words: readonly string[]) => runGw(world, "wallet", "key", "certify", ...words);

  const ofOther = await tryIt(other.id, file);
  const none = await tryIt(mine.id, noCertificate);
  const away = await tryIt(mine.id, join(world.dataDir, "away.pem"));
  const unknown = await tryIt("12345", file);
  const ofB = await tryIt(b.id, file);
  const right = await tryIt(mine.id, file);

  assert.match(ofOther.complaint, /is the certificate of another key\./);
  assert.match(none.complaint, /none\.pem is no certificate/);
  assert.match(away.complaint, /away\.pem/);
  assert.match(unknown.complaint, /There is no walleta key 12345/);
  assert.match(ofB.complaint, /There is no walleta key/);
  for (const { code, complaint } of [ofOther, none, away, unknown, ofB]) {
    assert.equal(code, 2, complaint);
    assert.doesNotMatch(complaint, /\n {4}at /);
  }
  assert.equal(right.code, 0, right.complaint);
  const keys = new Map((await listKeys(world)).map((key) => [key.id, key.certificate]));
  assert.deepEqual(
    [keys.get(mine.id), keys.get(other.id), keys.get(b.id)],
    ["yes", "missing", "not needed"],
  );
});

testInLongRun(
  "the list tells when certificates end, and warns of one that ends soon",
  async (t) => {
    const world = await startWalletWorld(t);
    const { id, request = "" } = await makeKey(world, "walleta");
    const file = await certify(world, request, "merchant.tollgate.demo", 10);
    await runGw(world, "wallet", "key", "certify", id, file);

    const keys = await listKeys(world);
    const shown = await runGw(world, "wallet", "key", "list");

    const ends = new Map(keys.map((key) => [key.id, key.expires]));
    const soon = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
    assert.match(ends.get(id) ?? "", /^\d{4}-\d\d-\d\d \(in (9|10) days: make another\)$/);
    assert.ok(ends.get(id)?.startsWith(soon), `${ends.get(id)} instead of ${soon}`);
    const [first] = keys.filter(({ wallet }) => wallet === "walleta");
    assert.match(first?.expires ?? "", /^\d{4}-\d\d-\d\d$/);
    assert.match(shown.printed, /make another/);
    assert.ok(!/PRIVATE KEY/.test(shown.printed));
  },
);

test("impossible changes of an operator are refused with a reason", async (t) => {
  const world = await startWorld(t);
  // biome-ignore format: a table
  const rows: readonly (readonly [words: string, sentence: RegExp])[] = [
    ["set nobody --walleta-merchant a",             /There is no merchant nobody/],
    ["set demo --walletb-recipient shop",           /walletb-recipient is merchant:<id> or gateway:<id>/],
    ["set demo --walletb-merchant shop",            /walletb-merchant also needs walletb-recipient/],
    ["key make nobody walleta",                     /There is no merchant nobody/],
    ["key make demo walletc",                       /use is one of walleta, walletb, walleta-identity, not walletc/],
    ["key remove 12345",                            /There is no key 12345/],
    ["key remove abc",                              /There is no key abc/],
  ];
  for (const [words, sentence] of rows) {
    const { code, complaint } = await runGw(world, "wallet", ...words.split(" "));

    assert.equal(code, 2, words);
    assert.match(complaint, sentence);
    assert.doesNotMatch(complaint, /\n {4}at /, words);
  }
  const { query } = world.installation.database;
  assert.equal((await query("select from vault.wallet_keys")).length, 0);
});

testInLongRun("names that are set later leave the others as they are", async (t) => {
  const world = await startWalletWorld(t);
  await readGw(world, "wallet", "set", "demo", "--walletb-merchant", "shop-7");
  await world.restart();

  const own = await paid(world, "walletb_encrypted", await mintB(world));
  const named = await mintB(world, {}, { gatewayMerchantId: "shop-7" });
  const fine = await paid(world, "walletb_encrypted", named);
  const ofA = await paid(world, "walleta_encrypted", await mintA(world));

  assertWalletRefused(own, 3006, "the login is no name any more");
  assert.deepEqual([fine.status, ofA.status], ["approved", "approved"]);
});

testInLongRun(
  "a start leaves the names that the operator has set for the demonstration",
  async (t) => {
    const world = await startWalletWorld(t);
    const names = ["--walleta-merchant", "merchant.own", "--walletb-recipient", "merchant:own"];
    const own = [...names, "--walletb-merchant", "shop-7"];
    const set = await readGw(world, "wallet", "set", "demo", ...own);

    await withWallets(world);
    const after = await readGw(world, "wallet", "set", "demo");
    const ofA = await paid(world, "walleta_encrypted", await mintA(world));
    const ofB = await paid(world, "walletb_encrypted", await mintB(world));

    assert.deepEqual(after, set);
    assert.deepEqual([ofA.status, ofB.status], ["approved", "approved"]);
  },
);

type Made = { readonly id: string; readonly request?: string; readonly publicKey?: string };

async function makeKey(world: World, wallet: string): Promise<Made> {
  // The output of the command has this type.
  return (await readGw(world, "wallet", "key", "make", "demo", wallet)) as Made;
}

async function listKeys(world: World): Promise<readonly Listed[]> {
  return (await readGw(world, "wallet", "key", "list")) as Listed[];
}

/** Returns the file of a certificate for a request, as the wallet's own site issues it. */
async function certify(world: World, request: string, identifier: string, days = 760) {
  const query = `merchantIdentifier=${identifier}&days=${days}`;
  const url = `${world.bank.url}/wallets/walleta/certificate?${query}`;
  const answer = await fetch(url, { method: "POST", body: request });
  assert.equal(answer.status, 200);
  const file = join(world.dataDir, `certificate-${days}.pem`);
  await writeFile(file, await answer.text());
  return file;
}

async function tellBank({ bank }: World, recipient: object): Promise<void> {
  const url = `${bank.url}/wallets/walletb/recipient`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(recipient) });
  assert.equal(answer.status, 200, await answer.text());
}

const run = promisify(execFile);

test("the printed certificate request is one that OpenSSL reads", async (t) => {
  const world = await startWorld(t);
  const made = await runGw(world, "wallet", "key", "make", "demo", "walleta");

  assert.match(made.printed, /^id +\d+\nrequest\n-----BEGIN CERTIFICATE REQUEST-----\n/m);
  const asked = run("openssl", ["req", "-verify", "-noout", "-pubkey"]);
  asked.child.stdin?.end(made.printed);
  const { stdout } = await asked;
  const [key] = await world.installation.database.query<{ public_key: string }>(
    "select public_key from vault.wallet_keys",
  );
  assert.ok(createPublicKey(stdout).equals(createPublicKey(key?.public_key ?? "")));
});
