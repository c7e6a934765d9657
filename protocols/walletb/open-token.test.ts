/** Tokens of our own test wallet open, and each fault of a token has its own reason. */
import assert from "node:assert/strict";
import {
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { test } from "node:test";
import {
  distortToken,
  type Minting,
  mintToken,
  openToken,
  type SignedMessage,
  type Trust,
  type Version,
  WalletFault,
  writePayload,
} from "./index.ts";
import {
  hourMs,
  intermediateKey,
  makeKey,
  mintingOf,
  networkToken,
  now,
  payload,
  recipientKey,
  rootKeys,
  trust,
} from "./samples.ts";

const versions = ["ECv1", "ECv2"] as const;

test("a minted token with any card opens", () => {
  for (const version of versions) {
    for (const held of [payload, networkToken]) {
      const token = mintToken(writePayload(held, version), mintingOf(version));
      assert.deepEqual(openToken(token, trust), { version, payload: held });
    }
  }
});

test("a change after signing is refused", () => {
  for (const version of versions) {
    const token = mint(version);
    assertRefused("bad_signature", distortToken(token, "signature"));
    assertRefused("bad_signature", distortToken(token, "signedMessage"));
  }
  assertRefused("untrusted_root", distortToken(mint("ECv2"), "intermediateSigningKey"));
});

test("the signed text is used unchanged: the same JSON in another form is refused", () => {
  for (const version of versions) {
    const fields = JSON.parse(mint(version));
    const signedMessage = JSON.stringify(JSON.parse(fields.signedMessage));
    assert.notEqual(signedMessage, fields.signedMessage);
    assertRefused("bad_signature", JSON.stringify({ ...fields, signedMessage }));
  }
  const fields = JSON.parse(mint("ECv2"));
  const { intermediateSigningKey: key } = fields;
  key.signedKey = JSON.stringify(JSON.parse(key.signedKey));
  assertRefused("untrusted_root", JSON.stringify(fields));
});

test("lengths are counted in bytes, so a recipient may have any name", () => {
  const recipientId = "merchant:Ünïcødé-店";
  const token = mint("ECv2", { recipientId });

  assert.ok("payload" in openToken(token, { ...trust, recipientId }));
  assertRefused("bad_signature", token);
});

test("lengths in the other byte order are refused", () => {
  const fields = JSON.parse(mint("ECv1"));
  const parts = ["Google", trust.recipientId, "ECv1", fields.signedMessage];
  const framed = (write: (length: Buffer, value: number) => void) =>
    Buffer.concat(
      parts.flatMap((part) => {
        const length = Buffer.alloc(4);
        write(length, Buffer.byteLength(part));
        return [length, Buffer.from(part)];
      }),
    );
  const signed = (bytes: Buffer) =>
    JSON.stringify({
      ...fields,
      signature: sign("sha256", bytes, rootKeys.ECv1).toString("base64"),
    });

  assert.ok("payload" in openToken(signed(framed((at, value) => at.writeUInt32LE(value))), trust));
  assertRefused("bad_signature", signed(framed((at, value) => at.writeUInt32BE(value))));
});

test("another recipient, root or intermediate key is refused", () => {
  const privateKey = makeKey();
  assertRefused("bad_signature", mint("ECv2", { recipientId: "merchant:12345678901234567890" }));
  assertRefused("bad_signature", mint("ECv1", { recipientId: "gateway:other" }));
  assertRefused("untrusted_root", mint("ECv2", { rootKey: makeKey() }));
  assertRefused("bad_signature", mint("ECv1", { rootKey: makeKey() }));

  const foreign = JSON.parse(
    mint("ECv2", { intermediate: { privateKey, keyExpiration: now + 1 } }),
  );
  const { intermediateSigningKey } = JSON.parse(mint("ECv2"));
  assertRefused("bad_signature", JSON.stringify({ ...foreign, intermediateSigningKey }));
});

test("a root key serves its own version only, until it expires, and needs an expiry for ECv2", () => {
  const key = createPublicKey(rootKeys.ECv2);
  const token = mint("ECv2");
  const withRoot = (keyExpiration?: number) => ({
    rootKeys: [
      { protocolVersion: "ECv2", key, ...(keyExpiration === undefined ? {} : { keyExpiration }) },
    ] as const,
  });

  assert.ok("payload" in openToken(token, { ...trust, ...withRoot(now + 1) }));
  assertRefused("expired_root_key", token, withRoot(now));
  assertRefused("untrusted_root", token, withRoot());
  assertRefused("untrusted_root", token, { rootKeys: [{ protocolVersion: "ECv1", key }] });
  const old = [
    { protocolVersion: "ECv1", key: createPublicKey(rootKeys.ECv1), keyExpiration: now },
  ];
  assertRefused("expired_root_key", mint("ECv1"), { rootKeys: old as Trust["rootKeys"] });
});

test("any of several roots and signatures may match", () => {
  const other = {
    protocolVersion: "ECv2",
    key: createPublicKey(makeKey()),
    keyExpiration: now + 1,
  } as const;
  const fields = JSON.parse(mint("ECv2"));
  const { intermediateSigningKey: key } = fields;
  key.signatures = [fields.signature, ...key.signatures];

  const opened = openToken(JSON.stringify(fields), {
    ...trust,
    rootKeys: [other, ...trust.rootKeys],
  });

  assert.ok("payload" in opened);
});

test("expiry is compared as a number: of the intermediate key, and of the message", () => {
  const signing = (keyExpiration: number) =>
    mint("ECv2", { intermediate: { privateKey: intermediateKey, keyExpiration } });
  assert.ok("payload" in openToken(signing(now + 1), trust));
  assertRefused("expired_intermediate_key", signing(now));
  // Compared as a text, this would be later than now.
  assertRefused("expired_intermediate_key", signing(9_999_999));

  for (const version of versions) {
    const expiring = (messageExpiration: number) =>
      mintToken(writePayload({ ...payload, messageExpiration }, version), mintingOf(version));
    assert.ok("payload" in openToken(expiring(now + 1), trust));
    assertRefused("expired_message", expiring(now));
    assertRefused("expired_message", expiring(9_999_999));
  }
  const lasting = mint("ECv2", {
    intermediate: { privateKey: intermediateKey, keyExpiration: now + 9 * hourMs },
  });
  assertRefused("expired_message", lasting, { now: now + hourMs });
});

test("the version in the token must be allowed and changes no rules", () => {
  const fields = JSON.parse(mint("ECv2"));
  const { intermediateSigningKey, ...plain } = fields;

  assertRefused("unknown_version", mint("ECv1"), { versions: ["ECv2"] });
  assertRefused("wrong_fields", JSON.stringify({ ...fields, protocolVersion: "ECv1" }));
  assertRefused("bad_signature", JSON.stringify({ ...plain, protocolVersion: "ECv1" }));
  assertRefused("unknown_version", JSON.stringify({ ...fields, protocolVersion: "ECv3" }));
});

test("the tag is right before anything is decrypted", () => {
  for (const version of versions) {
    const distorted = (distort: (message: SignedMessage) => SignedMessage) =>
      mint(version, { distort });
    const flip = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);

    assertRefused(
      "bad_mac",
      distorted((message) => ({ ...message, tag: flip(message.tag) })),
    );
    assertRefused(
      "bad_mac",
      distorted((message) => ({ ...message, tag: "AAAA" })),
    );
    const other = distorted((message) => ({
      ...message,
      encryptedMessage: flip(message.encryptedMessage),
    }));
    assertRefused("bad_mac", other);
    const off = distorted((message) => ({ ...message, ephemeralPublicKey: offCurve(message) }));
    assertRefused("malformed_field", off, {}, "ephemeralPublicKey");
    const more = distorted((message) => ({ ...message, more: "" }));
    assertRefused("wrong_fields", more, {}, "signedMessage");
  }
});

test("keys can be rotated, and keys of another kind are skipped", () => {
  const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { privateKey: other } = generateKeyPairSync("ec", { namedCurve: "secp384r1" });
  const strange = [rsa, other, createPublicKey(recipientKey)];

  const opened = openToken(mint("ECv2"), { ...trust, recipientKeys: [...strange, recipientKey] });

  assert.ok("payload" in opened);
  assertRefused("no_key", mint("ECv2"), { recipientKeys: strange });
  assertRefused("bad_mac", mint("ECv2"), { recipientKeys: [makeKey()] });
});

test("shared secrets with leading zeros open like all others", () => {
  const publicKey = createPublicKey(recipientKey);
  for (const version of versions) {
    const token = mint(version, { ephemeralKey: findKeyWithLeadingZero(publicKey) });
    assert.ok("payload" in openToken(token, trust));
  }
});

function mint(version: Version, changes: Partial<Minting> = {}): string {
  return mintToken(writePayload(payload, version), mintingOf(version, changes));
}

function offCurve({ ephemeralPublicKey }: SignedMessage): string {
  const point = Buffer.from(ephemeralPublicKey, "base64");
  point[64] = (point[64] ?? 0) ^ 1;
  return point.toString("base64");
}

function findKeyWithLeadingZero(publicKey: KeyObject): KeyObject {
  for (;;) {
    const privateKey = makeKey();
    if (diffieHellman({ privateKey, publicKey })[0] === 0) return privateKey;
  }
}

function assertRefused(
  reason: WalletFault["reason"],
  token: string,
  changes: Partial<Trust> = {},
  field?: string,
) {
  assert.deepEqual(openToken(token, { ...trust, ...changes }), new WalletFault(reason, field));
}
