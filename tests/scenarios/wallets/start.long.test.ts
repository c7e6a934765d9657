/**
 * Wallets during changes of the gateway: its keys are changed, and production trusts no sandbox.
 */
import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Bank, startBank } from "@tollgate/sandbox-bank";
import { atEnd, type Test } from "../../support/clean-up.ts";
import { makeDatabase } from "../../support/databases/database-server.ts";
import { migrateFirst, runGw, startProgram } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import {
  assertWalletRefused,
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  startWalletWorld,
  textOf,
  withWallets,
} from "../../support/wallets.ts";
import { startWorld, type World } from "../../support/world.ts";

const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");

test("the vault's keys are rotated, and wallets pay as before", async (t) => {
  // Restarts take long on the test's clock.
  const world = await startWalletWorld(t, { GW_WALLET_SIGNING_WINDOW_S: "86400" });
  const [a, b] = [await mintA(world), await mintB(world)];
  const quickly = { ...world, settings: { GW_KEY_GRACE_S: "1" } };

  const rotated = await runGw(quickly, "key", "rotate");
  const running = await paid(world, "walletb_encrypted", b);
  await world.restart();
  const anew = await paid(world, "walleta_encrypted", a);
  const again = await paid(world, "walletb_encrypted", await mintB(world));
  const listed = await runGw(world, "wallet", "key", "list");

  assert.equal(rotated.code, 0, rotated.complaint);
  assert.deepEqual([running.status, anew.status, again.status], Array(3).fill("approved"));
  assert.equal(listed.code, 0, listed.complaint);
});

test("a removed key does not keep the vault's keys from being rotated", async (t) => {
  const world = await startWalletWorld(t);
  const { query } = world.installation.database;
  const [key] = await query<{ id: string }>("select id from vault.wallet_keys order by id");
  await runGw(world, "wallet", "key", "remove", key?.id ?? "");

  const quickly = { ...world, settings: { GW_KEY_GRACE_S: "1" } };
  const rotated = await runGw(quickly, "key", "rotate");
  await world.restart();

  assert.equal(rotated.code, 0, rotated.complaint);
  const left = await query<{ wallet: string }>(
    "select wallet from vault.wallet_keys where removed_at is null",
  );
  for (const { wallet } of left) {
    const kind = wallet === "walleta" ? "walleta_encrypted" : "walletb_encrypted";
    assert.equal((await paid(world, kind, await textOf(world, kind))).status, "approved");
  }
});

test("a bank without merchants gets the demonstration merchant at the next start", async (t) => {
  const world = await startWalletWorld(t);
  await withWallets(world);
  const { query } = world.installation.database;
  const before = await query("select from vault.wallet_keys");
  const bank = await startOtherBank(t);

  await withWallets({ ...world, bank });

  const card = { pan: "4111111111111111", expirationYear: 2031, expirationMonth: 12 };
  const minted = await bank.mintWalletA({ ...card, amount: 1015, currency: "USD" });
  assert.match(minted, /EC_v1/);
  assert.match(await bank.mintWalletB(card), /ECv2/);
  // One known root was enough for the previous start.
  assert.equal(before.length, 2);
});

test("production does not start with the sandbox's roots", async (t) => {
  const world = await startWorld(t);
  const folder = world.bank.walletFolder;
  const place = await makeProduction(world);
  const roots = {
    GW_WALLETA_ROOTS_FILE: join(folder, "walleta-root.pem"),
    GW_WALLETB_ROOT_KEYS: join(folder, "walletb-root-keys.json"),
  };
  const elsewhere = join(world.dataDir, "copied.pem");
  await copyFile(roots.GW_WALLETA_ROOTS_FILE, elsewhere);

  const both = await runGw({ ...world, settings: { ...place, ...roots } }, "start");
  const copied = { ...place, GW_WALLETA_ROOTS_FILE: elsewhere };
  const one = await runGw({ ...world, settings: copied }, "start");

  assert.equal(both.code, 2, both.printed);
  assert.match(both.complaint, /GW_WALLETA_ROOTS_FILE trusts the sandbox's wallets/);
  assert.match(both.complaint, /GW_WALLETB_ROOT_KEYS trusts the sandbox's wallets/);
  assert.equal(one.code, 2, one.printed);
  assert.match(one.complaint, /GW_WALLETA_ROOTS_FILE trusts the sandbox's wallets/);
  assert.doesNotMatch(`${both.complaint}${one.complaint}`, /\n {4}at /);
});

test("production recognises a copy of the sandbox's keys, and an invalid certificate", async (t) => {
  const world = await startWorld(t);
  const place = await makeProduction(world);
  const keys = join(world.dataDir, "copied.json");
  await copyFile(join(world.bank.walletFolder, "walletb-root-keys.json"), keys);
  const broken = join(world.dataDir, "broken.pem");
  const edge = (word: string) => `-----${word} CERTIFICATE-----`;
  await writeFile(broken, `${edge("BEGIN")}\nAAAA\n${edge("END")}\n`);
  const roots = { GW_WALLETA_ROOTS_FILE: broken, GW_WALLETB_ROOT_KEYS: keys };

  const { code, complaint } = await runGw({ ...world, settings: { ...place, ...roots } }, "start");

  assert.equal(code, 2, complaint);
  assert.match(complaint, /GW_WALLETA_ROOTS_FILE has a PEM block that is no certificate/);
  assert.match(complaint, /GW_WALLETB_ROOT_KEYS trusts the sandbox's wallets/);
  assert.doesNotMatch(complaint, /\n {4}at /);
});

test("production starts without roots, and ignores a sandbox beside it", async (t) => {
  const world = await startWorld(t);
  const place = await makeProduction(world);
  const sandbox = join(place.GW_DATA_DIR, "bank", "wallets");
  await mkdir(sandbox, { recursive: true });
  for (const name of ["walleta-root.pem", "walletb-root-keys.json"]) {
    await copyFile(join(world.bank.walletFolder, name), join(sandbox, name));
  }

  const gateway = startProgram([gw, "start"], place);
  atEnd(t, () => gateway.stop());

  await until("it listens", () => {
    assert.ok(gateway.isRunning, gateway.output);
    return gateway.output.includes("Tollgate listens on") || undefined;
  });
  assert.doesNotMatch(gateway.output, /wallet\.roots_unreadable/);
});

test("roots that cannot be read are reported to the operator and to merchants", async (t) => {
  const nowhere = "/nowhere/roots";
  const settings = { GW_WALLETA_ROOTS_FILE: nowhere, GW_WALLETB_ROOT_KEYS: nowhere };
  const world = await startWalletWorld(t, settings);

  const ofA = await paid(world, "walleta_encrypted", await mintA(world));
  const ofB = await paid(world, "walletb_encrypted", await mintB(world));

  assertWalletRefused(ofA, 3002, "walleta");
  assertWalletRefused(ofB, 3002, "walletb");
  assert.match(ofA["error-message"] ?? "", /walleta: no root/);
  assert.match(ofB["error-message"] ?? "", /walletb: no root keys/);
  assert.ok(!ofA["error-message"]?.includes(nowhere));
  const warned = world.logged.filter((line) => line.includes("wallet.roots_unreadable"));
  assert.ok(warned.some((line) => line.includes('"wallet":"walleta"')));
  assert.ok(warned.some((line) => line.includes('"wallet":"walletb"')));
});

test("roots that are added later are found without a restart", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-roots-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  const place = join(folder, "later.json");
  const late = await startWalletWorld(t, { GW_WALLETB_ROOT_KEYS: place });
  const before = await paid(late, "walletb_encrypted", await mintB(late));

  await copyFile(join(late.bank.walletFolder, "walletb-root-keys.json"), place);
  await until("they are read", async () => {
    late.clock.advance(61_000);
    await late.linksUp();
    const status = await paid(late, "walletb_encrypted", await mintB(late));
    return status.status === "approved" || undefined;
  });

  assertWalletRefused(before, 3002, "before");
});

test("a broken list of roots leaves the previous one in force", async (t) => {
  const world = await joinWalletWorld(t);
  const files = ["walleta-root.pem", "walletb-root-keys.json"];
  for (const name of files) await writeFile(join(world.bank.walletFolder, name), "broken");

  const before = world.logged.length;
  world.clock.advance(3_700_000);
  await world.linksUp();
  await until("both were read again", () => {
    const told = world.logged
      .slice(before)
      .filter((line) => line.includes("wallet.roots_unreadable"));
    return told.length >= 2 || undefined;
  });

  const now = world.clock.now();
  const ofA = await paid(world, "walleta_encrypted", await mintA(world, {}, { signingTime: now }));
  const fresh = { messageExpiration: now + 60_000 };
  const ofB = await paid(world, "walletb_encrypted", await mintB(world, {}, fresh));
  assert.deepEqual([ofA.status, ofB.status], ["approved", "approved"]);
});

async function startOtherBank(t: Test): Promise<Bank> {
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-bank-"));
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir });
  atEnd(t, async () => {
    await bank.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return bank;
}

/** Makes the settings of a production without faults, to which a test adds its own. */
async function makeProduction({ dataDir }: World) {
  const key = join(dataDir, "own.key");
  await writeFile(key, "c".repeat(64));
  const settings = {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_DATABASE_URL: await makeDatabase(),
    GW_DATA_DIR: join(dataDir, "production"),
    GW_MASTER_KEY_FILE: key,
    GW_PORT: "0",
    GW_RESULTS_PORT: "0",
    GW_ALLOW: "local-audit",
  };
  await migrateFirst(settings);
  return settings;
}

test("nothing of a removed key is left in the table's file", async (t) => {
  const world = await startWalletWorld(t, { GW_DATABASE_URL: "" });
  const { query } = world.installation.database;
  const keys = await query<{ id: string; sealed: Buffer }>("select * from vault.wallet_keys");
  const readTable = async () => {
    await query("checkpoint");
    const [place] = await query<{ path: string }>(
      "select pg_relation_filepath('vault.wallet_keys') as path",
    );
    return readFile(join(world.dataDir, "postgres", place?.path ?? ""));
  };
  for (const { sealed } of keys) assert.ok((await readTable()).includes(sealed));

  for (const [index, { id, sealed }] of keys.entries()) {
    const removed = await runGw(world, "wallet", "key", "remove", id);

    assert.equal(removed.code, 0, removed.complaint);
    const file = await readTable();
    assert.ok(!file.includes(sealed.subarray(-40)), "its end was found");
    assert.ok(!file.includes(sealed.subarray(0, 40)), "its beginning was found");
    for (const { sealed: other } of keys.slice(index + 1)) assert.ok(file.includes(other));
  }
});
