/**
 * The signed text, the permitted forms of a header, and the refusal of everything else. Two
 * independent programs have agreed on the sample signatures.
 */
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import {
  makeBaseString,
  normalizeParameters,
  OAuthFault,
  type Parameter,
  parseOAuthHeader,
  readRsaPrivateKey,
  sign,
  signHmac,
  signRequest,
  verify,
  verifyHmac,
} from "./oauth1.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
const url = "https://gateway.example/gw/api/v4/sale/1001";

const texts = fc.string({ unit: "grapheme", maxLength: 20 });
const pairs = fc.array(fc.tuple(texts, texts), { maxLength: 12 });

test("any signed parameters verify with their key and with no other", () => {
  fc.assert(
    fc.property(pairs, texts.filter(Boolean), texts.filter(Boolean), (parameters, key, nonce) => {
      const request = { method: "POST", url, parameters };
      const header = signRequest(request, { consumerKey: key, nonce, timestamp: 1, privateKey });
      const read = parseOAuthHeader(String(header));
      assert.ok(!(read instanceof OAuthFault));
      const text = makeBaseString(request, read.parameters);

      assert.equal(read.consumerKey, key);
      assert.equal(read.nonce, nonce);
      assert.ok(typeof text === "string" && verify(text, read.signature, publicKey));
      assert.equal(verify(text, read.signature, other.publicKey), false);
    }),
    { numRuns: 100 },
  );
});

test("the order in which parameters are sent does not matter", () => {
  fc.assert(
    fc.property(pairs, (parameters) => {
      const turned = [...parameters].reverse();
      assert.equal(normalizeParameters(turned), normalizeParameters(parameters));
    }),
  );
});

test("two different sets of parameters are never signed as the same text", () => {
  const sorted = (some: readonly (readonly string[])[]) =>
    some.map((pair) => JSON.stringify(pair)).sort();
  fc.assert(
    fc.property(pairs, pairs, (some, others) => {
      const same = JSON.stringify(sorted(some)) === JSON.stringify(sorted(others));
      assert.equal(normalizeParameters(some) === normalizeParameters(others), same);
    }),
  );
});

test("any header is read or refused, and never throws", () => {
  const parts = fc.constantFrom("OAuth", " ", ",", '"', "=", "oauth_nonce", "a", "%41", "%", "\\");
  const headers = fc.oneof(
    fc.string(),
    fc.array(parts).map((some) => `OAuth ${some.join("")}`),
  );
  fc.assert(
    fc.property(headers, (header) => {
      assert.ok(parseOAuthHeader(header) instanceof OAuthFault);
    }),
  );
});

const good = {
  oauth_consumer_key: "acme",
  oauth_nonce: "n-1",
  oauth_signature: "AAAA",
  oauth_signature_method: "RSA-SHA256",
  oauth_timestamp: "1794700800",
  oauth_version: "1.0",
};

test("a realm is accepted but not signed, and the scheme's case and white space do not matter", () => {
  const header = headerOf(good).replace("OAuth ", 'oauth   realm="Any, \\"thing\\" at all" ,');

  const read = parseOAuthHeader(header);

  assert.ok(!(read instanceof OAuthFault));
  assert.equal(read.timestamp, 1794700800);
  const names = read.parameters.map(([name]) => name);
  assert.equal(names.includes("realm") || names.includes("oauth_signature"), false);
  assert.equal(names.length, 5);
});

// biome-ignore format: a table
const bad: readonly (readonly [header: string | undefined, reason: OAuthFault["reason"]])[] = [
  [undefined,                                                        "no_header"],
  [" ",                                                              "no_header"],
  ["Basic YTpi",                                                     "other_scheme"],
  ["OAuth2 a=\"b\"",                                                 "other_scheme"],
  ["OAuth",                                                          "malformed_header"],
  [headerOf(good).replaceAll('"', ""),                               "malformed_header"],
  [headerOf(good).replaceAll(",", ";"),                              "malformed_header"],
  [`${headerOf(good)},`,                                             "malformed_header"],
  [headerOf(good).replace("n-1", "n 1"),                             "malformed_header"],
  [headerOf(good).replace("n-1", "n%1"),                             "malformed_header"],
  [headerOf(good).replace("n-1", "%FF"),                             "malformed_header"],
  [headerOf(good).replace("AAAA", "A+/="),                           "malformed_header"],
  [`${headerOf(good)}, oauth_nonce="n-2"`,                           "repeated_parameter"],
  [`${headerOf(good)}, oauth%5Fnonce="n-1"`,                         "repeated_parameter"],
  [`${headerOf(good)}, realm="a", realm="b"`,                        "repeated_parameter"],
  ...Object.keys(good).map((name) => [headerOf({ ...good, [name]: undefined }), "missing_parameter"] as const),
  ...Object.keys(good).map((name) => [headerOf({ ...good, [name]: "" }), "missing_parameter"] as const),
  [headerOf({ ...good, oauth_signature_method: "RSA-SHA1" }),        "other_signature_method"],
  [headerOf({ ...good, oauth_signature_method: "PLAINTEXT" }),       "other_signature_method"],
  [headerOf({ ...good, oauth_signature_method: "rsa-sha256" }),      "other_signature_method"],
  [headerOf({ ...good, oauth_version: "1.1" }),                      "other_version"],
  [headerOf({ ...good, oauth_timestamp: "-1" }),                     "malformed_timestamp"],
  [headerOf({ ...good, oauth_timestamp: "017" }),                    "malformed_timestamp"],
  [headerOf({ ...good, oauth_timestamp: "1e9" }),                    "malformed_timestamp"],
];

test("a header with any deviation is refused", () => {
  for (const [header, reason] of bad) {
    assert.deepEqual(parseOAuthHeader(header), new OAuthFault(reason), header ?? "none");
  }
});

test("only the body may repeat the header's parameters, and only with the same values", () => {
  const own = [["oauth_nonce", "n-1"]] as const;
  const request = { method: "POST", url, parameters: [] };
  const inTwoPlaces = new OAuthFault("parameter_in_two_places");

  const inBody = makeBaseString({ ...request, parameters: own }, own);
  const otherValue = makeBaseString({ ...request, parameters: [["oauth_nonce", "n-2"]] }, own);
  const inQuery = makeBaseString({ ...request, url: `${url}?oauth_nonce=n-1` }, own);
  const signature = makeBaseString({ ...request, parameters: [["oauth_signature", "x"]] }, own);

  assert.equal(inBody, makeBaseString(request, own));
  for (const refused of [otherValue, inQuery, signature]) {
    assert.deepEqual(refused, inTwoPlaces);
  }
});

test("an address that cannot be read has no base string", () => {
  const of = (address: string) =>
    makeBaseString({ method: "POST", url: address, parameters: [] }, []);

  assert.deepEqual(of("not an address"), new OAuthFault("malformed_url"));
  assert.deepEqual(of("ftp://gateway.example/"), new OAuthFault("malformed_url"));
  assert.deepEqual(of(`${url}?a=%zz`), new OAuthFault("malformed_query"));
  assert.deepEqual(of(`${url}?a=%FF`), new OAuthFault("malformed_query"));
  assert.equal(of(`${url}?b=1+2&&a#part`), `POST&${encodeURIComponent(url)}&a%3D%26b%3D1%25202`);
});

test("a signature that is not canonical base64 is wrong", () => {
  const signature = String(signRequest({ method: "POST", url, parameters: [] }, credentials()));
  const read = parseOAuthHeader(signature);
  assert.ok(!(read instanceof OAuthFault));
  const text = String(makeBaseString({ method: "POST", url, parameters: [] }, read.parameters));

  const right = read.signature;
  const changed = [
    right.replace(/=+$/, ""),
    `${right}\n`,
    right.replaceAll("+", "-"),
    "",
    "A",
    " ",
  ];
  assert.ok(verify(text, right, publicKey));
  for (const wrong of changed.filter((each) => each !== right)) {
    assert.equal(verify(text, wrong, publicKey), false, wrong);
  }
});

test("an RSA private key is read from both of its containers, and nothing else is", () => {
  const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = { format: "pem" } as const;
  const privatePems = (["pkcs1", "pkcs8"] as const).map((type) =>
    privateKey.export({ ...pem, type }).toString(),
  );
  const others = [
    ...(["pkcs1", "spki"] as const).map((type) => publicKey.export({ ...pem, type })),
    elliptic.privateKey.export({ ...pem, type: "pkcs8" }),
    "",
    "-----BEGIN PRIVATE KEY-----\nx",
  ];

  for (const text of privatePems) assert.ok(readRsaPrivateKey(text)?.equals(privateKey));
  for (const text of others) assert.equal(readRsaPrivateKey(String(text)), undefined);
});

// RFC 5849, section 1.2: a request for a token, and one for a photo. The third is appendix A.5 of
// OAuth Core 1.0.
const published = [
  {
    method: "POST",
    url: "https://photos.example.net/token",
    own: {
      token: "hh5s93j4hdidpola",
      timestamp: 137131201,
      nonce: "walatlh",
      verifier: "hfdp7dh39dks9884",
    },
    tokenSecret: "hdhd0244k9j7ao03",
    signature: "gKgrFCywp7rO0OXSjdot/IHF7IU=",
  },
  {
    method: "GET",
    url: "http://photos.example.net/photos?file=vacation.jpg&size=original",
    own: { token: "nnch734d00sl2jdk", timestamp: 137131202, nonce: "chapoH" },
    tokenSecret: "pfkkdhi9sl3r4s00",
    signature: "MdpQcU8iPSUjWoN/UDMsK2sui9I=",
  },
  {
    method: "GET",
    url: "http://photos.example.net/photos?file=vacation.jpg&size=original",
    own: {
      token: "nnch734d00sl2jdk",
      timestamp: 1191242096,
      nonce: "kllo9940pd9333jh",
      version: "1.0",
    },
    tokenSecret: "pfkkdhi9sl3r4s00",
    signature: "tR3+Ty81lMeYAr/Fid0kMTYa/WM=",
  },
];

test("published examples of OAuth 1.0 have their HMAC-SHA1 signatures", () => {
  for (const { method, url, own, tokenSecret, signature } of published) {
    const all = { consumer_key: "dpf43f3p2l4k3l03", signature_method: "HMAC-SHA1", ...own };
    const header = Object.entries(all).map(
      ([name, value]) => [`oauth_${name}`, `${value}`] as const,
    );
    const text = makeBaseString({ method, url, parameters: [] }, header);

    assert.ok(typeof text === "string");
    assert.equal(signHmac(text, "kd94hf93k423kf44", tokenSecret), signature, url);
  }
});

test("an HMAC verifies by its secret alone, and only as canonical base64", () => {
  fc.assert(
    fc.property(texts, texts, texts, (text, secret, other) => {
      const signature = signHmac(text, secret);
      assert.ok(verifyHmac(text, signature, secret));
      assert.equal(verifyHmac(text, signature, other), other === secret);
      const changed = [signature.slice(0, -1), `${signature}\n`, "", "é".repeat(14)];
      for (const wrong of changed) assert.equal(verifyHmac(text, wrong, secret), false);
    }),
  );
  // The secret is encoded, so that another pair of secrets never has the same key.
  assert.notEqual(signHmac("a", "b&c"), signHmac("a", "b", "c"));
});

test("a header may be signed by HMAC-SHA1 only where its reader takes that", () => {
  const header = String(
    signRequest({ method: "GET", url, parameters: [] }, { ...credentials(), secret: "s" }),
  );
  const read = parseOAuthHeader(header, ["RSA-SHA256", "HMAC-SHA1"]);

  assert.ok(!(read instanceof OAuthFault));
  assert.equal(read.method, "HMAC-SHA1");
  assert.deepEqual(parseOAuthHeader(header), new OAuthFault("other_signature_method"));
});

const { cases } = readVectors<{ readonly cases: readonly BaseStringCase[] }>("base-string.json");
const signed = readVectors<Signed>("rsa-sha256.json");
const vectorKeys = {
  publicKey: createPublicKey(signed.publicKeyPem),
  privateKey: createPrivateKey(signed.privateKeyPem),
};

test("every sample base string equals the published one", () => {
  assert.equal(cases.length, 7);
  for (const { id, method, url, params, expected } of cases) {
    const query = [...new URL(url).searchParams];
    assert.equal(normalizeParameters([...params, ...query]), expected.normalized, id);
    assert.equal(makeBaseString({ method, url, parameters: [] }, params), expected.baseString, id);
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
  assert.ok(verify(text, header.signature, vectorKeys.publicKey));
  assert.equal(sign(baseString, vectorKeys.privateKey), signatureBase64);
});

test("our own header for the same request contains the same signature", () => {
  const { request, signatureBase64 } = signed.good;
  const { consumerKey, nonce, timestamp } = getAuthorization(request.headers.authorization);

  const header = signRequest(
    { ...request, parameters: [...new URLSearchParams(request.body)] },
    { consumerKey, nonce, timestamp, privateKey: vectorKeys.privateKey },
  );

  assert.equal(getAuthorization(String(header)).signature, signatureBase64);
});

test("every bad sample request is refused", () => {
  assert.equal(signed.refused.length, 3);
  for (const sent of signed.refused) {
    const { signature } = getAuthorization(sent.request.headers.authorization);
    assert.equal(verify(getBaseString(sent), signature, vectorKeys.publicKey), false, sent.id);
  }
});

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

function credentials() {
  return { consumerKey: "acme", nonce: "n-1", timestamp: 1, privateKey };
}

function headerOf(values: Readonly<Record<string, string | undefined>>): string {
  const sent = Object.entries(values).filter(([, value]) => value !== undefined);
  return `OAuth ${sent.map(([name, value]) => `${name}="${value}"`).join(", ")}`;
}

function getBaseString({ request }: Sent): string {
  const { method, url, headers, body } = request;
  const { parameters } = getAuthorization(headers.authorization);
  const text = makeBaseString(
    { method, url, parameters: [...new URLSearchParams(body)] },
    parameters,
  );
  assert.ok(typeof text === "string");
  return text;
}

function getAuthorization(header: string) {
  const read = parseOAuthHeader(header);
  assert.ok("signature" in read, (read as OAuthFault).reason);
  return read;
}

function readVectors<Vectors>(file: string): Vectors {
  // The files are part of this repository, and the assertions below read every part of them.
  return JSON.parse(readFileSync(join(import.meta.dirname, "vectors", file), "utf8")) as Vectors;
}
