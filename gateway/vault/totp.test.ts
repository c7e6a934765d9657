/** The vectors of RFC 6238, appendix B, and attacks with codes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../values/secret.ts";
import { asInstant } from "../values/time.ts";
import {
  digestRecoveryCode,
  findTotpStep,
  newRecoveryCodes,
  newTotpSecret,
  stepOf,
  totpAddress,
  totpAt,
} from "./totp.ts";

/** "12345678901234567890" in base32. */
const secret = new Secret("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");

// biome-ignore format: a table
const vectors: readonly (readonly [seconds: number, code: string])[] = [
  [59,          "94287082"],
  [1111111109,  "07081804"],
  [1111111111,  "14050471"],
  [1234567890,  "89005924"],
  [2000000000,  "69279037"],
  [20000000000, "65353130"],
];

for (const [seconds, code] of vectors) {
  test(`RFC 6238: the code at ${seconds} s is ${code}`, () => {
    assert.equal(totpAt(secret, stepOf(asInstant(seconds * 1000)), 8), code);
  });
}

test("a code counts in its step and the ones beside it, and once", () => {
  const now = asInstant(1234567890_000);
  const step = stepOf(now);

  for (const near of [step - 1, step, step + 1]) {
    assert.equal(findTotpStep(secret, totpAt(secret, near), { now, after: 0 }), near);
  }
  for (const far of [step - 2, step + 2]) {
    assert.equal(findTotpStep(secret, totpAt(secret, far), { now, after: 0 }), undefined);
  }
  assert.equal(findTotpStep(secret, totpAt(secret, step), { now, after: step }), undefined);
  assert.equal(findTotpStep(secret, totpAt(secret, step - 1), { now, after: step }), undefined);
});

test("a new secret has 160 bits and can be scanned", () => {
  const made = newTotpSecret();

  assert.match(made.reveal(), /^[A-Z2-7]{32}$/);
  assert.notEqual(made.reveal(), newTotpSecret().reveal());
  assert.match(
    totpAddress(made, "Tollgate Pay", "ann@x"),
    /^otpauth:\/\/totp\/Tollgate%20Pay:ann%40x\?/,
  );
});

test("recovery codes are stored as digests, and read in any case", () => {
  const { codes, digests } = newRecoveryCodes();

  assert.equal(new Set(codes).size, 10);
  assert.deepEqual(digestRecoveryCode(` ${codes[3]?.toUpperCase()} `), digests[3]);
});
