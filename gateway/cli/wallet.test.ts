/** The certificate request that an operator hands to walleta. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { CertificationRequest } from "pkijs";
import { makeCertificateRequest } from "./wallet.ts";

test("a certificate request names the merchant, holds the public key and is signed with it", async () => {
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
  // Attributes are required by PKCS #10, also when there are none.
  assert.ok(der.includes(Buffer.of(0xa0, 0x00, 0x30)));
});
