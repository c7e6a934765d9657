/** Checks a merchant's identifiers at wallets and the certificate request for walleta. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { CertificationRequest } from "pkijs";
import { Problem } from "../../values/problem.ts";
import { makeCertificateRequest, readSettings } from "./wallets.ts";

test("a certificate request names the merchant, contains the public key and is signed with it", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

  const pem = await makeCertificateRequest(privateKey, "démo");

  const [, base64 = ""] =
    /^-----BEGIN CERTIFICATE REQUEST-----\n((?:.{1,64}\n)+)-----END CERTIFICATE REQUEST-----\n$/.exec(
      pem,
    ) ?? [];
  const der = Buffer.from(base64, "base64");
  const request = CertificationRequest.fromBER(der);
  assert.ok(await request.verify());
  assert.equal(request.subject.typesAndValues[0]?.value.valueBlock.value, "démo");
  assert.ok(der.includes(publicKey.export({ format: "der", type: "spki" })));
  // PKCS #10 requires the attributes to be present even if they are empty.
  assert.ok(der.includes(Buffer.of(0xa0, 0x00, 0x30)));
});

const known = {
  walleta: { merchantIdentifier: "shop.example", country: "AT" },
  walletb: { recipientId: "gateway:tollgate", gatewayMerchantId: "shop", versions: ["ECv1"] },
} as const;

// biome-ignore format: a table
const changes: readonly (readonly [Parameters<typeof readSettings>[0], object])[] = [
  [{},                                                      known],
  [{ walletaCountry: "de" },                                { ...known, walleta: { ...known.walleta, country: "DE" } }],
  [{ walletaCountry: "none" },                              { ...known, walleta: { merchantIdentifier: "shop.example" } }],
  [{ walletaMerchant: "none" },                             { walletb: known.walletb }],
  [{ walletbMerchant: "none" },                             { ...known, walletb: { recipientId: "gateway:tollgate", versions: ["ECv1"] } }],
  [{ walletbRecipient: "none" },                            { walleta: known.walleta }],
  [{ walletaMerchant: "none", walletbRecipient: "none" },   {}],
];

for (const [given, expected] of changes) {
  test(`identifiers at wallets: ${JSON.stringify(given)}`, () => {
    assert.deepEqual(readSettings(given, known), expected);
  });
}

test("settings of a wallet need the wallet", () => {
  for (const given of [{ walletaCountry: "AT" }, { walletbMerchant: "shop" }]) {
    assert.ok(readSettings(given) instanceof Problem);
  }
  assert.deepEqual(readSettings({ walletaCountry: "none", walletbMerchant: "none" }), {});
});
