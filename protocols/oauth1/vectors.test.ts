/** The project's sample signatures, which two independent programs have agreed on. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  authorize,
  makeSignedText,
  normalizeParameters,
  type OAuthFault,
  type Parameter,
  parseAuthorization,
  readPrivateKey,
  readPublicKey,
  sign,
  verify,
} from "./index.ts";

type BaseStringCase = {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly params: readonly Parameter[];
  readonly expected: { readonly normalized: string; readonly baseString: string };
};
type Sent = {
  readonly id: string;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: { readonly authorization: string };
    readonly body: string;
  };
};
type Signed = {
  readonly consumerKey: string;
  readonly timestamp: number;
  readonly publicKeyPem: string;
  readonly privateKeyPem: string;
  readonly good: Sent & { readonly baseString: string; readonly signatureBase64: string };
  readonly refused: readonly Sent[];
};

const { cases } = readVectors<{ readonly cases: readonly BaseStringCase[] }>("base-string.json");
const signed = readVectors<Signed>("rsa-sha256.json");

test("every sample base string comes out as published", () => {
  assert.equal(cases.length, 7);
  for (const { id, method, url, params, expected } of cases) {
    const query = [...new URL(url).searchParams];
    assert.equal(normalizeParameters([...params, ...query]), expected.normalized, id);
    assert.equal(makeSignedText({ method, url, parameters: [] }, params), expected.baseString, id);
  }
});

test("the signed request is accepted, byte for byte", () => {
  const { request, baseString, signatureBase64 } = signed.good;
  const header = getAuthorization(request.headers.authorization);

  const text = getBaseString(signed.good);

  assert.equal(text, baseString);
  assert.equal(header.consumerKey, signed.consumerKey);
  assert.equal(header.timestamp, signed.timestamp);
  assert.equal(header.signature, signatureBase64);
  assert.ok(verify(text, header.signature, publicKey()));
  assert.equal(sign(baseString, privateKey()), signatureBase64);
});

test("our own header for the same request carries the same signature", () => {
  const { request, signatureBase64 } = signed.good;
  const { consumerKey, nonce, timestamp } = getAuthorization(request.headers.authorization);

  const header = authorize(
    { ...request, parameters: [...new URLSearchParams(request.body)] },
    { consumerKey, nonce, timestamp, privateKey: privateKey() },
  );

  assert.equal(getAuthorization(String(header)).signature, signatureBase64);
});

test("every request that must be refused is", () => {
  assert.equal(signed.refused.length, 3);
  for (const sent of signed.refused) {
    const { signature } = getAuthorization(sent.request.headers.authorization);
    assert.equal(verify(getBaseString(sent), signature, publicKey()), false, sent.id);
  }
});

function getBaseString({ request }: Sent): string {
  const { method, url, headers, body } = request;
  const { parameters } = getAuthorization(headers.authorization);
  const text = makeSignedText(
    { method, url, parameters: [...new URLSearchParams(body)] },
    parameters,
  );
  assert.ok(typeof text === "string");
  return text;
}

function getAuthorization(header: string) {
  const read = parseAuthorization(header);
  assert.ok("signature" in read, (read as OAuthFault).reason);
  return read;
}

function publicKey() {
  const key = readPublicKey(signed.publicKeyPem);
  assert.ok(key !== undefined);
  return key;
}

function privateKey() {
  const key = readPrivateKey(signed.privateKeyPem);
  assert.ok(key !== undefined);
  return key;
}

function readVectors<Vectors>(file: string): Vectors {
  // The files are part of this repository, and the assertions below read every part of them.
  return JSON.parse(readFileSync(join(import.meta.dirname, "vectors", file), "utf8")) as Vectors;
}
