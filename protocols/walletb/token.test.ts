/** For any text, the result is a minted token or a fault that contains no value of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  mintToken,
  openToken,
  readRootKeys,
  WalletFault,
  writePayload,
  writeRootKeys,
} from "./index.ts";
import { mintingOf, payload, trust } from "./samples.ts";

const tokens = {
  ECv1: mintToken(writePayload(payload, "ECv1"), mintingOf("ECv1")),
  ECv2: mintToken(writePayload(payload, "ECv2"), mintingOf("ECv2")),
};

test("a token with any of its characters changed is refused", () => {
  const version = fc.constantFrom("ECv1", "ECv2");
  const character = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(version, fc.nat(), character, (which, position, changed) => {
      const token = tokens[which];
      const at = position % token.length;
      fc.pre(token[at] !== changed);

      assertFault(openToken(token.slice(0, at) + changed + token.slice(at + 1), trust));
    }),
    { numRuns: 1000 },
  );
});

test("any text is opened or refused", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.constant(tokens.ECv2));
  fc.assert(
    fc.property(text, fc.nat(), (value, cut) => {
      const token = value.slice(0, cut % (value.length + 1));
      if (token !== tokens.ECv2) assertFault(openToken(token, trust));
      readRootKeys(token);
    }),
  );
});

test("texts that are no tokens are refused with different reasons", () => {
  const fields = JSON.parse(tokens.ECv2);
  const { intermediateSigningKey: key, ...others } = fields;
  // biome-ignore format: a table
  const refusals = [
    ["not_json",        ""],
    ["not_json",        "eyJwcm90b2NvbFZlcnNpb24iOiJFQ3YyIn0="],
    ["not_json",        tokens.ECv2.replaceAll('"', '\\"')],
    ["encoded_twice",   JSON.stringify(tokens.ECv2)],
    ["wrong_fields",    '"text"'],
    ["wrong_fields",    "[]"],
    ["wrong_fields",    "7"],
    ["wrong_fields",    "{}"],
    ["wrong_fields",    `{"signature":"AAAA",${tokens.ECv2.slice(1)}`],
    ["wrong_fields",    JSON.stringify({ ...fields, more: 1 })],
    ["wrong_fields",    JSON.stringify(others)],
    ["wrong_fields",    JSON.stringify({ ...fields, intermediateSigningKey: JSON.stringify(key) })],
    ["wrong_fields",    JSON.stringify({ ...fields, intermediateSigningKey: { ...key, more: 1 } })],
    ["wrong_fields",    "[".repeat(5_000) + "]".repeat(5_000)],
    ["too_large",       " ".repeat(65_537)],
    ["unknown_version", JSON.stringify({ ...fields, protocolVersion: "" })],
    ["malformed_field", JSON.stringify({ ...fields, signedMessage: JSON.parse(fields.signedMessage) })],
    ["malformed_field", JSON.stringify({ ...fields, signature: `${fields.signature}\n` })],
    ["malformed_field", JSON.stringify({ ...fields, signature: "" })],
    ["malformed_field", JSON.stringify({ ...fields, intermediateSigningKey: { ...key, signatures: [] } })],
    ["malformed_field", JSON.stringify({ ...fields, intermediateSigningKey: { ...key, signatures: "AAAA" } })],
    ["malformed_field", JSON.stringify({ ...fields, intermediateSigningKey: { ...key, signatures: Array(9).fill("AAAA") } })],
    ["untrusted_root",  JSON.stringify({ ...fields, intermediateSigningKey: { ...key, signatures: ["AAAA"] } })],
  ] as const;
  for (const [reason, text] of refusals) {
    const refused = openToken(text, trust);
    assert.ok(refused instanceof WalletFault);
    assert.equal(refused.reason, reason, text.slice(0, 80));
  }
});

test("hostile text does not take long to refuse", () => {
  const before = process.cpuUsage();
  for (const text of ['"\\', '"', "[", "{", '{"', " ", '":']) {
    assertFault(openToken(text.repeat(65_536 / text.length), trust));
  }
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
});

test("an invalid payload with a good signature is a fault without values", () => {
  for (const text of ["x", "{}", `{"${payload.pan}":"${payload.pan}"}`, JSON.stringify("{}")]) {
    assertFault(openToken(mintToken(text, mintingOf("ECv2")), trust));
  }
  assertFault(openToken(mintToken("", mintingOf("ECv2")), trust));
});

test("a list of root keys is read as it was written", () => {
  const read = readRootKeys(writeRootKeys(trust.rootKeys));
  assert.ok(!(read instanceof WalletFault));
  assert.equal(writeRootKeys(read), writeRootKeys(trust.rootKeys));
  assert.equal(read.length, 2);
});

test("root keys of other versions are skipped, and so are ECv2 keys without expiry", () => {
  const { keys } = JSON.parse(writeRootKeys(trust.rootKeys));
  const [first, second] = keys;
  const { keyExpiration: _, ...endless } = second;
  const list = (...entries: readonly unknown[]) => readRootKeys(JSON.stringify({ keys: entries }));

  const read = list(first, { protocolVersion: "ECv9", keyValue: "?" }, endless);
  assert.ok(!(read instanceof WalletFault));
  assert.deepEqual(
    read.map(({ protocolVersion }) => protocolVersion),
    ["ECv1"],
  );
  assert.deepEqual(list(endless), new WalletFault("bad_root_keys"));
  assert.deepEqual(list(), new WalletFault("bad_root_keys"));
  assert.deepEqual(list("text"), new WalletFault("bad_root_keys"));
  const spoilt = (changes: object) => list(first, { ...second, ...changes });
  assert.deepEqual(spoilt({ keyValue: "AAAA" }), new WalletFault("bad_root_keys", "keyValue"));
  for (const keyExpiration of [1, "soon", "", null]) {
    const refused = new WalletFault("bad_root_keys", "keyExpiration");
    assert.deepEqual(spoilt({ keyExpiration }), refused);
  }
  assert.deepEqual(readRootKeys(JSON.stringify(keys)), new WalletFault("wrong_fields"));
});

/** Checks that a token is refused and that the fault contains no value of it. */
function assertFault(opened: unknown) {
  assert.ok(opened instanceof WalletFault);
  const said = JSON.stringify(opened);
  assert.ok(!said.includes(payload.pan) && said.length < 120);
}
