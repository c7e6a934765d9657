/**
 * Published wallet tokens, used for payments through the merchant interface up to the host's
 * message. They have expired, so the clock is set to their time, and the roots, keys and recipients
 * are theirs.
 */
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openWalletKeys } from "../../gateway/administration/installation/wallets.ts";
import { asMerchantId } from "../../gateway/values/ids.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { atEnd } from "../support/clean-up.ts";
import { assertWalletRefused, chargeAtHost, paid } from "../support/wallets.ts";
import { startWorld, type World } from "../support/world.ts";

const folder = join(import.meta.dirname, "../../protocols");
const read = (file: string) => readFileSync(join(folder, file), "utf8");

const walleta: {
  readonly nowMs: number;
  readonly merchantIdentifier: string;
  readonly token: { readonly data: string; readonly header: { readonly transactionId: string } };
  readonly expected: {
    readonly plaintext: {
      readonly applicationPrimaryAccountNumber: string;
      readonly paymentData: { readonly onlinePaymentCryptogram: string };
    };
  };
} = JSON.parse(read("walleta/vectors/ec-v1.json"));

type Published = {
  readonly nowMs: number;
  readonly recipientId: string;
  readonly rootKeys: { readonly keys: readonly object[] };
  readonly recipientPrivateKeys: readonly string[];
  readonly token: string;
};
const walletb = {
  ECv1: JSON.parse(read("walletb/vectors/ecv1.json")) as Published,
  ECv2: JSON.parse(read("walletb/vectors/ecv2.json")) as Published,
};

const dayMs = 86_400_000;
const amount = { fields: { amount: "1.00" } };

test("a published token of walleta reaches the host once, and only at its time", async (t) => {
  const roots = join(folder, "walleta/vectors/root-ca.pem");
  const world = await startWorld(t, { GW_WALLETA_ROOTS_FILE: roots });
  const key = createPrivateKey(read("walleta/vectors/private-key.pem"));
  const certificate = read("walleta/vectors/certificate.pem");
  await addKey(world, "walleta", key.export({ format: "der", type: "pkcs8" }), certificate);
  const { merchantIdentifier, nowMs, token, expected } = walleta;
  const pay = (sent: object, how: object = amount) =>
    paid(world, "walleta_encrypted", JSON.stringify(sent), how);

  await world.changeMerchant({ wallets: { walleta: { merchantIdentifier } } });
  setClock(world, nowMs + dayMs);
  assertWalletRefused(await pay(token), 3004, "a day later");
  setClock(world, nowMs);
  const changed = { ...token, data: `A${token.data.slice(1)}` };
  assertWalletRefused(await pay(changed), 3003, "changed");
  assertWalletRefused(await pay(token, { fields: { amount: "1.01" } }), 3007, "another amount");

  const status = await pay(token);

  // The bank uses the present time, at which the card in the token has expired, so the bank
  // declines it.
  assert.deepEqual([status["error-code"], status["error-message"]], ["101", "EXPIRED_CARD: [54]"]);
  const { plaintext } = expected;
  const { fields, authenticationValue } = await chargeAtHost(world, status);
  assert.equal(fields[2], plaintext.applicationPrimaryAccountNumber);
  assert.equal(authenticationValue, plaintext.paymentData.onlinePaymentCryptogram);
  assertWalletRefused(await pay(token), 3005, "a second time");
});

/**
 * The published plaintext is the word "plaintext", so a refusal of it proves that the token was
 * verified and decrypted.
 */
// biome-ignore format: a table
const cases = [
  ["ECv1", "as published",           (token: string) => token,                             3000],
  ["ECv2", "as published",           (token: string) => token,                             3000],
  ["ECv1", "with another signature", (token: string) => token.replace("MEUCI", "MEUCJ").replace("MEQCI", "MEQCJ"), 3003],
  ["ECv2", "with another signature", (token: string) => token.replace("MEUCI", "MEUCJ"),   3003],
] as const;

test("published tokens of walletb are verified and decrypted", async (t) => {
  const keys = Object.values(walletb).flatMap(({ rootKeys }) => rootKeys.keys);
  const roots = await mkdtemp(join(tmpdir(), "tollgate-roots-"));
  atEnd(t, () => rm(roots, { recursive: true }));
  await writeFile(join(roots, "keys.json"), JSON.stringify({ keys }));
  const world = await startWorld(t, { GW_WALLETB_ROOT_KEYS: join(roots, "keys.json") });
  for (const der of walletb.ECv2.recipientPrivateKeys) {
    await addKey(world, "walletb", Buffer.from(der, "base64"));
  }
  for (const [version, what, change, code] of cases) {
    const { recipientId, nowMs, token } = walletb[version];
    await world.changeMerchant({ wallets: { walletb: { recipientId, versions: [version] } } });
    setClock(world, nowMs);

    const status = await paid(world, "walletb_encrypted", change(token));

    assertWalletRefused(status, code, `${version} ${what}`);
  }
  await world.changeMerchant({
    wallets: { walletb: { recipientId: "gateway:other", versions: ["ECv2"] } },
  });
  setClock(world, walletb.ECv2.nowMs);
  const status = await paid(world, "walletb_encrypted", walletb.ECv2.token);
  assertWalletRefused(status, 3003, "another recipient");
});

function setClock({ clock }: World, nowMs: number): void {
  clock.advance(nowMs - clock.now());
}

async function addKey(
  { installation, set }: World,
  wallet: "walleta" | "walletb",
  der: Buffer,
  certificate?: string,
): Promise<void> {
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const [merchant] = await installation.database.query<{ id: string }>(
    "select id from merchants where login = $1",
    [set.login],
  );
  const keys = await openWalletKeys(installation);
  const id = await keys.add({
    merchantId: asMerchantId(merchant?.id ?? ""),
    wallet,
    privateKey: new Secret(key.export({ format: "pem", type: "pkcs8" }).toString()),
    publicKey: createPublicKey(key).export({ format: "pem", type: "spki" }).toString(),
  });
  if (certificate === undefined) return;
  await keys.certify(id, certificate, Date.parse(new X509Certificate(certificate).validTo));
}
