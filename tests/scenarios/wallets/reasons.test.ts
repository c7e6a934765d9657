/**
 * The reasons why payment data is refused, each distinguishable from the others. Cryptograms that
 * no bank can receive are refused at once.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import {
  assertWalletRefused,
  chargeAtHost,
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  payloadOf,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
} from "../../support/wallets.ts";
import type { World } from "../../support/world.ts";

test("causes with the same code are distinguished in messages to merchants and in the log", async (t) => {
  const world = await joinWalletWorld(t);
  const ofA = (defect: Parameters<typeof mintA>[2]) => mintA(world, {}, defect);
  const ofB = (defect: Parameters<typeof mintB>[2]) => mintB(world, {}, defect);
  const { clock } = world;
  // biome-ignore format: a table
  const rows: readonly (readonly [kind: WalletKind, text: string, message: string])[] = [
    ["walleta_encrypted", await ofA({ defect: "wrong-root" }),            "WALLET_SIGNATURE_INVALID: signed under no root that is trusted here"],
    ["walleta_encrypted", await ofA({ defect: "tampered" }),              "WALLET_SIGNATURE_INVALID: changed after it was signed, or signed for another recipient"],
    ["walleta_encrypted", await ofA({ defect: "no-marker" }),             "WALLET_SIGNATURE_INVALID: the certificates are not the wallet's"],
    ["walleta_encrypted", await ofA({ defect: "wrong-recipient" }),       "WALLET_DATA_NOT_DECRYPTED: made for a key that the merchant does not have here"],
    ["walleta_encrypted", await ofA({ defect: "other-merchant" }),        "WALLET_DATA_NOT_DECRYPTED: made for another merchant identifier, or changed"],
    ["walleta_encrypted", await ofA({ signingTime: clock.now() - 9e5 }),  "WALLET_DATA_EXPIRED: signed too long ago, or in the future"],
    ["walleta_encrypted", await ofA({ defect: "wrong-amount" }),          "WALLET_AMOUNT_MISMATCH: amount"],
    ["walleta_encrypted", await ofA({ defect: "wrong-currency" }),        "WALLET_AMOUNT_MISMATCH: currency"],
    ["walleta_encrypted", swollen(await ofA({})),                         "WALLET_DATA_REFUSED: signature: larger than any of the wallet"],
    ["walletb_encrypted", await ofB({ defect: "wrong-root" }),            "WALLET_SIGNATURE_INVALID: signed under no root that is trusted here"],
    ["walletb_encrypted", await ofB({ defect: "tampered" }),              "WALLET_SIGNATURE_INVALID: changed after it was signed, or signed for another recipient"],
    ["walletb_encrypted", await ofB({ defect: "expired" }),               "WALLET_DATA_EXPIRED: the token has expired"],
    ["walletb_encrypted", await ofB({ defect: "expired-intermediate" }),  "WALLET_DATA_EXPIRED: the wallet's signing key has expired"],
    ["walletb_encrypted", await ofB({ defect: "wrong-mac" }),             "WALLET_DATA_NOT_DECRYPTED: made for none of the merchant's keys"],
    ["walletb_encrypted", await ofB({ version: "ECv1" }),                 "WALLET_TYPE_MISMATCH: a version that is not taken here"],
    ["walletb_decrypted", await textOf(world, "walletb_decrypted", { year: 2020 }), "WALLET_CARD_INVALID: expired"],
    ["walletb_decrypted", await textOf(world, "walletb_decrypted", { pan: "4111111111111112" }), "WALLET_CARD_INVALID: check digit"],
  ];
  for (const [kind, text, message] of rows) {
    const status = await paid(world, kind, text);

    assert.equal(status["error-message"], message, `${kind} ${status["error-code"]}`);
    const [, phrase = ""] = /: (.*)/.exec(message) ?? [];
    assert.ok(findLogged(world, kind, phrase), message);
  }
});

test("an expired root key of the gateway is not reported as an old token", async (t) => {
  const world = await startWalletWorld(t);
  const file = join(world.bank.walletFolder, "walletb-root-keys.json");
  const list = await readFile(file, "utf8");
  await writeFile(file, list.replaceAll(/("keyExpiration":")\d+/g, "$11000"));
  await world.restart();

  const status = await paid(world, "walletb_encrypted", await mintB(world));

  assertWalletRefused(status, 3004, "walletb");
  assert.match(status["error-message"] ?? "", /: the root key that is trusted here has expired$/);
});

test("a test token in production is reported as such", async (t) => {
  const world = await startWalletWorld(t);
  const walletaRootsFile = join(world.bank.walletFolder, "walleta-root.pem");
  const environment = "production" as const;
  const node = await world.otherNode("real", { environment, walletaRootsFile });

  const token = await mintA(world);
  const order = await world.merchantAt(node).sale(walletFields("walleta_encrypted", token));
  const status = await world.merchantAt(node).status(order);

  assertWalletRefused(status, 3003, "walleta");
  assert.match(status["error-message"] ?? "", /: a test token, which is not taken in production$/);
});

/** Makes a token with a signature of 18 KB, which is more than certificates need. */
function swollen(token: string): string {
  const signature = Buffer.alloc(18_000, 48).toString("base64");
  return JSON.stringify({ ...JSON.parse(token), signature });
}

function findLogged({ logged }: World, kind: WalletKind, phrase: string): boolean {
  const told = logged.filter((line) => line.includes("wallet.token_refused"));
  return told.some((line) => line.includes(`"type":"${kind}"`) && line.includes(phrase));
}

const kinds = ["walleta_decrypted", "walletb_decrypted"] as const;

test("a cryptogram in another spelling than base64's own is refused", async (t) => {
  const world = await joinWalletWorld(t);
  const own = randomBytes(20).toString("base64");
  const spare = `${own.slice(0, -2)}${next(own)}=`;
  for (const kind of kinds) {
    for (const spelling of [own.slice(0, -1), spare, `${own.slice(0, 8)}-_${own.slice(10)}`]) {
      const status = await paid(world, kind, withCryptogram(world, kind, spelling));
      assertWalletRefused(status, 3000, kind);
      assert.match(status["error-message"] ?? "", /ryptogram: missing, or not of its form$/);
    }
    const fine = await paid(world, kind, withCryptogram(world, kind, own));
    assert.equal((await chargeAtHost(world, fine)).authenticationValue, own, kind);
  }
});

/** Changes the spare bits of the last letter: a lenient reader decodes the same bytes. */
function next(text: string): string {
  return String.fromCharCode((text.at(-2) ?? "A").charCodeAt(0) + 1);
}

function withCryptogram(world: World, kind: (typeof kinds)[number], cryptogram: string): string {
  const text = JSON.stringify(payloadOf(world, kind));
  return text.replace(/(ryptogram":")[^"]+/, (_, name) => name + cryptogram);
}
