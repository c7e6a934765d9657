/** For any text, the result is a minted token or a fault that contains no value of it. */
import assert from "node:assert/strict";
import {
  createCipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { readEphemeralKey } from "./encryption.ts";
import { mintToken, openToken, WalletFault, writePayload } from "./index.ts";
import { makeKeys, merchantKeys, mintingOf, payload, trust } from "./samples.ts";

const plaintext = writePayload(payload);
const tokens = {
  EC_v1: mintToken(plaintext, mintingOf("EC_v1", { applicationData: "ab".repeat(32) })),
  RSA_v1: mintToken(plaintext, mintingOf("RSA_v1", { applicationData: "ab".repeat(32) })),
};
const version = fc.constantFrom("EC_v1", "RSA_v1");

test("a token with any of its characters changed is refused", () => {
  const character = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(version, fc.nat(), character, (which, position, changed) => {
      const token = tokens[which];
      const at = position % token.length;
      const was = token[at] ?? "";
      fc.pre(was !== changed);

      const opened = openToken(token.slice(0, at) + changed + token.slice(at + 1), trust);

      // Hex digits mean the same in upper case, so this is the same token.
      const isSame = was.toLowerCase() === changed.toLowerCase() && "payload" in opened;
      if (isSame) assert.deepEqual(opened, openToken(token, trust));
      else assertFault(opened);
    }),
    { numRuns: 500 },
  );
});

test("a signature with any of its bytes changed is refused", () => {
  const names = ["EC_v1", "RSA_v1"] as const;
  for (const which of names) {
    const fields = JSON.parse(tokens[which]);
    const signature = Buffer.from(fields.signature, "base64");
    for (let at = 0; at < signature.length; at += 1) {
      const changed = Buffer.from(signature);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      const token = JSON.stringify({ ...fields, signature: changed.toString("base64") });
      assertFault(openToken(token, trust), `byte ${at}`);
    }
    for (const cut of [0, 1, 2, 100, signature.length - 2, signature.length - 1]) {
      const short = signature.subarray(0, cut).toString("base64");
      assertFault(openToken(JSON.stringify({ ...fields, signature: short }), trust));
    }
  }
});

test("any text is opened or refused", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.constant(tokens.EC_v1));
  fc.assert(
    fc.property(text, fc.nat(), (value, cut) => {
      const token = value.slice(0, cut % (value.length + 1));
      const opened = openToken(token, trust);
      if (token !== tokens.EC_v1) assertFault(opened);
    }),
  );
});

test("texts that are no tokens are refused with different reasons", () => {
  const fields = JSON.parse(tokens.EC_v1);
  const { header } = fields;
  const twice = `{"version":"EC_v1",${tokens.EC_v1.slice(1)}`;
  const offCurve = Buffer.from(header.ephemeralPublicKey, "base64");
  offCurve[offCurve.length - 1] = (offCurve.at(-1) ?? 0) ^ 1;

  // biome-ignore format: a table
  const refusals = [
    ["not_json",        ""],
    ["not_json",        "eyJ2ZXJzaW9uIjoiRUNfdjEifQ=="],
    ["encoded_twice",   JSON.stringify(tokens.EC_v1)],
    ["wrong_fields",    '"text"'],
    ["wrong_fields",    "[]"],
    ["wrong_fields",    "null"],
    ["wrong_fields",    twice],
    ["wrong_fields",    JSON.stringify({ paymentData: fields })],
    ["wrong_fields",    JSON.stringify({ ...fields, more: 1 })],
    ["wrong_fields",    JSON.stringify({ ...fields, header: JSON.stringify(header) })],
    ["wrong_fields",    JSON.stringify({ ...fields, header: { ...header, wrappedKey: "AAAA" } })],
    ["wrong_fields",    "[".repeat(5_000) + "]".repeat(5_000)],
    ["too_large",       " ".repeat(65_537)],
    ["malformed_field", JSON.stringify({ ...fields, data: `${fields.data}\n` })],
    ["malformed_field", JSON.stringify({ ...fields, data: 1 })],
    ["malformed_field", JSON.stringify({ ...fields, signature: "" })],
    ["malformed_field", JSON.stringify({ ...fields, header: { ...header, transactionId: "ab" } })],
    ["malformed_field", JSON.stringify({ ...fields, header: { ...header, publicKeyHash: null } })],
    ["malformed_field", JSON.stringify({ ...fields, header: { ...header, applicationData: "" } })],
    ["bad_signature",   JSON.stringify({ ...fields, header: { ...header, ephemeralPublicKey: offCurve.toString("base64") } })],
    ["malformed_signature", JSON.stringify({ ...fields, signature: "AAAA" })],
    ["malformed_signature", JSON.stringify({ ...fields, signature: Buffer.alloc(4096, "\x30\x80", "latin1").toString("base64") })],
  ] as const;
  for (const [reason, text] of refusals) {
    const refused = openToken(text, trust);
    assert.ok(refused instanceof WalletFault);
    assert.equal(refused.reason, reason, text.slice(0, 80));
  }
});

test("an invalid payload with a good signature is a fault without values", () => {
  const number = payload.applicationPrimaryAccountNumber;
  for (const text of ["", "plaintext", "{}", `{"${number}":"${number}"}`, plaintext.slice(1)]) {
    const refused = openToken(mintToken(text, mintingOf("EC_v1")), trust);
    assertFault(refused);
  }
});

test("shared secrets with leading zeros open like all others", () => {
  const publicKey = createPublicKey(merchantKeys.EC_v1.privateKey);
  const ephemeralKey = findKeyWithLeadingZero(publicKey);

  const token = mintToken(plaintext, mintingOf("EC_v1", { ephemeralKey }));

  assert.ok("payload" in openToken(token, trust));
});

test("a ciphertext with an initialisation vector of 12 bytes, or a changed tag, is refused", () => {
  const key = Buffer.alloc(16, 7);
  const short = createCipheriv("aes-128-gcm", key, Buffer.alloc(12));
  const bytes = [short.update(plaintext), short.final(), short.getAuthTag()];
  const open = (distort: (encrypted: Buffer) => Buffer) =>
    openToken(mintToken(plaintext, mintingOf("RSA_v1", { random: fill, distort })), trust);
  const fill = (count: number) => new Uint8Array(count).fill(7);

  assert.ok("payload" in open((same) => same));
  assert.deepEqual(
    open(() => Buffer.concat(bytes)),
    new WalletFault("bad_ciphertext"),
  );
  assert.deepEqual(
    open((encrypted) => encrypted.subarray(1)),
    new WalletFault("bad_ciphertext"),
  );
  assert.deepEqual(
    open(() => Buffer.alloc(16)),
    new WalletFault("bad_ciphertext"),
  );
});

test("an ephemeral key that is no point of the curve, or of another curve, is refused", () => {
  const { publicKey } = makeKeys();
  const point = publicKey.export({ format: "der", type: "spki" });
  const offCurve = Buffer.from(point);
  offCurve[point.length - 1] = (point.at(-1) ?? 0) ^ 1;
  const other = generateKeyPairSync("ec", { namedCurve: "secp384r1" }).publicKey;

  assert.ok(readEphemeralKey(point) !== undefined);
  assert.equal(readEphemeralKey(offCurve), undefined);
  assert.equal(readEphemeralKey(Buffer.concat([point, Buffer.alloc(1)])), undefined);
  assert.equal(readEphemeralKey(other.export({ format: "der", type: "spki" })), undefined);
});

function findKeyWithLeadingZero(publicKey: KeyObject): KeyObject {
  for (;;) {
    const { privateKey } = makeKeys();
    if (diffieHellman({ privateKey, publicKey })[0] === 0) return privateKey;
  }
}

/** Checks that a token is refused and that the fault contains no value of it. */
function assertFault(opened: unknown, message = "opened") {
  assert.ok(opened instanceof WalletFault, message);
  const said = JSON.stringify(opened);
  assert.ok(!said.includes(payload.applicationPrimaryAccountNumber) && said.length < 120);
}
