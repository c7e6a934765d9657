/** Tokens of our own test wallet open, and each fault of a token has its own reason. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import {
  distortToken,
  mintToken,
  openToken,
  type Trust,
  WalletFault,
  writePayload,
} from "./index.ts";
import {
  type Authority,
  dayMs,
  intermediate,
  intermediateExtension,
  issue,
  leaf,
  leafExtension,
  makeKeys,
  makeMerchantKey,
  merchantKeys,
  mintingOf,
  minuteMs,
  now,
  payload,
  root,
  rsaLeaf,
  signerOf,
  trust,
  wishes,
} from "./samples.ts";

const plaintext = writePayload(payload);
const versions = ["EC_v1", "RSA_v1"] as const;

test("a minted token opens, with either signer and with or without application data", () => {
  for (const version of versions) {
    for (const signer of [leaf, rsaLeaf]) {
      for (const applicationData of [undefined, "ab".repeat(32)]) {
        const transactionId = randomBytes(32).toString("hex");
        const token = mintToken(plaintext, {
          ...mintingOf(version, { transactionId, signer: signerOf(signer, [intermediate]) }),
          ...(applicationData === undefined ? {} : { applicationData }),
        });

        assert.deepEqual(openToken(token, trust), {
          version,
          transactionId,
          ...(applicationData === undefined ? {} : { applicationData }),
          signingTime: now,
          isSandboxSigner: false,
          payload,
        });
      }
    }
  }
});

test("a change in any place is refused", () => {
  for (const version of versions) {
    const applicationData = "ab".repeat(32);
    const token = mintToken(plaintext, mintingOf(version, { applicationData }));
    const change = (
      edit: (token: Record<string, unknown>, header: Record<string, unknown>) => void,
    ) => {
      const fields = JSON.parse(token);
      edit(fields, fields.header);
      return JSON.stringify(fields);
    };

    assertRefused("bad_signature", distortToken(token, "data"));
    assertRefused("bad_signature", distortToken(token, "signature"));
    assertRefused("bad_signature", distortToken(token, "transactionId"));
    assertRefused("no_key", distortToken(token, "publicKeyHash"));
    assertRefused(
      "bad_signature",
      change((_, header) => (header["applicationData"] = "ac".repeat(32))),
    );
    assertRefused(
      "bad_signature",
      change((_, header) => delete header["applicationData"]),
    );
  }
});

test("a used token cannot be replayed by moving bytes from one field to the next", () => {
  const token = mintToken(plaintext, mintingOf("EC_v1", { applicationData: "ab".repeat(32) }));
  const move = (bytes: number) => {
    const fields = JSON.parse(token);
    const { header } = fields;
    const joined = header.transactionId + header.applicationData;
    header.transactionId = joined.slice(0, 64 + 2 * bytes);
    header.applicationData = joined.slice(64 + 2 * bytes);
    if (header.applicationData === "") delete header.applicationData;
    return JSON.stringify(fields);
  };
  const intoCiphertext = JSON.parse(token);
  const { header } = intoCiphertext;
  intoCiphertext.data = Buffer.concat([
    Buffer.from(intoCiphertext.data, "base64"),
    Buffer.from(header.transactionId, "hex"),
  ]).toString("base64");
  intoCiphertext.header = { ...header, transactionId: header.applicationData };
  delete intoCiphertext.header.applicationData;

  for (const bytes of [-32, -1, 1, 32]) {
    assertRefused("malformed_field", move(bytes), {}, "header.transactionId");
  }
  assertRefused("bad_ciphertext", JSON.stringify(intoCiphertext));
});

test("certificates are identified by their markers, in any order, and a root in the token is ignored", () => {
  const minting = (own: Authority, others: readonly Authority[]) =>
    mintToken(plaintext, mintingOf("EC_v1", { signer: signerOf(own, others) }));
  const otherRoot = issue({ ...wishes.root, keys: makeKeys() });
  const otherIntermediate = issue({ ...wishes.intermediate, keys: makeKeys() }, otherRoot);
  const otherLeaf = issue(wishes.leaf, otherIntermediate);
  const plainLeaf = issue({ ...wishes.leaf, extensions: [] }, intermediate);
  const plainIntermediate = issue({ ...wishes.intermediate, extensions: [] }, root);
  const leafByPlain = issue(wishes.leaf, plainIntermediate);
  const leafByRoot = issue(
    { ...wishes.leaf, extensions: [leafExtension, intermediateExtension] },
    root,
  );
  const leafByLeaf = issue({ ...wishes.leaf, name: "deeper", keys: makeKeys() }, leaf);
  const noAuthority = issue({ ...wishes.intermediate, isAuthority: false }, root);
  const leafByNoAuthority = issue(wishes.leaf, noAuthority);

  for (const others of [[intermediate], [root, intermediate], [intermediate, root, otherRoot]]) {
    assert.ok("payload" in openToken(minting(leaf, others), trust));
  }
  // biome-ignore format: a table
  const refusals = [
    ["untrusted_root",     otherLeaf,         [otherIntermediate, otherRoot]],
    ["wrong_certificates", leaf,              []],
    ["wrong_certificates", leaf,              [root]],
    ["wrong_certificates", leaf,              [otherIntermediate]],
    ["wrong_certificates", leaf,              [intermediate, intermediate]],
    ["wrong_certificates", leaf,              [intermediate, rsaLeaf]],
    ["wrong_certificates", plainLeaf,         [intermediate]],
    ["wrong_certificates", plainLeaf,         [leaf, intermediate]],
    ["wrong_certificates", leafByPlain,       [plainIntermediate]],
    ["wrong_certificates", leafByRoot,        [root]],
    ["wrong_certificates", leafByLeaf,        [intermediate]],
    ["wrong_certificates", leafByNoAuthority, [noAuthority]],
  ] as const;
  for (const [reason, own, others] of refusals) {
    assertRefused(reason, minting(own, others));
  }
});

test("the chain must be valid at the time of signing, which has to be close to now", () => {
  const ended = issue({ ...wishes.leaf, until: now - dayMs }, intermediate);
  const future = issue({ ...wishes.leaf, from: now + 1000 }, intermediate);
  const endedIntermediate = issue({ ...wishes.intermediate, until: now - dayMs }, root);
  const endedRoot = issue({ ...wishes.root, until: now - dayMs });
  const signing = (own: Authority, through: Authority, at = now) =>
    mintToken(plaintext, mintingOf("EC_v1", { signer: signerOf(own, [through]), now: at }));

  assertRefused("expired_certificate", signing(ended, intermediate));
  assertRefused("expired_certificate", signing(future, intermediate));
  assertRefused(
    "expired_certificate",
    signing(issue(wishes.leaf, endedIntermediate), endedIntermediate),
  );
  assertRefused("expired_certificate", signing(leaf, intermediate), { roots: [endedRoot.pem] });

  const old = signing(ended, intermediate, now - 2 * dayMs);
  assert.ok("payload" in openToken(old, { ...trust, now: now - 2 * dayMs }));
  assertRefused("outside_signing_window", old);

  const token = signing(leaf, intermediate);
  for (const offset of [-5, 5]) {
    const edge = now + offset * minuteMs;
    assert.ok("payload" in openToken(token, { ...trust, now: edge }));
    assertRefused("outside_signing_window", token, { now: edge + Math.sign(offset) });
  }
  assertRefused("outside_signing_window", token, { now: Number.NaN });
});

test("a token of the wallet's sandbox opens only if the caller allows it", () => {
  const sandbox = issue({ ...wishes.leaf, name: "ecc-smp-broker-sign_UC4-SANDBOX" }, intermediate);
  const signer = signerOf(sandbox, [intermediate]);
  const token = mintToken(plaintext, mintingOf("EC_v1", { signer }));

  assertRefused("sandbox_signer", token);
  const opened = openToken(token, { ...trust, allowSandboxSigner: true });
  assert.ok("payload" in opened && opened.isSandboxSigner);
});

test("a token signed by another key than the leaf's is refused", () => {
  const signer = { ...signerOf(leaf, [intermediate]), privateKey: makeKeys().privateKey };
  const otherKind = { ...signer, privateKey: makeKeys("rsa").privateKey };

  assertRefused("bad_signature", mintToken(plaintext, mintingOf("EC_v1", { signer })));
  assertRefused("bad_signature", mintToken(plaintext, mintingOf("EC_v1", { signer: otherKind })));
});

test("during a rotation, the old key opens tokens that were made for it", () => {
  const renewed = makeMerchantKey("ec");
  const keys = [renewed, merchantKeys.EC_v1];

  const token = mintToken(plaintext, mintingOf("EC_v1"));

  assert.ok("payload" in openToken(token, { ...trust, merchantKeys: keys }));
  assertRefused("no_key", token, { merchantKeys: [renewed] });
});

test("a token for another merchant identifier, or of the other version, does not open", () => {
  const other = mintToken(plaintext, mintingOf("EC_v1", { merchantIdentifier: "merchant.other" }));
  assertRefused("bad_ciphertext", other);

  const fields = JSON.parse(mintToken(plaintext, mintingOf("EC_v1")));
  assertRefused("wrong_fields", JSON.stringify({ ...fields, version: "RSA_v1" }), {}, "header");
  assertRefused("unknown_version", JSON.stringify({ ...fields, version: "EC_v2" }));
  const { ephemeralPublicKey: wrappedKey, ...header } = fields.header;
  const disguised = { ...fields, version: "RSA_v1", header: { ...header, wrappedKey } };
  assertRefused("bad_ciphertext", JSON.stringify(disguised));
});

function assertRefused(
  reason: WalletFault["reason"],
  token: string,
  changes: Partial<Trust> = {},
  field?: string,
) {
  assert.deepEqual(openToken(token, { ...trust, ...changes }), new WalletFault(reason, field));
}
