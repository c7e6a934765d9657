/** OAuth: the requests that are accepted, and the check that refuses each of the others. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { signRequest } from "@tollgate/protocols/oauth1";
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { Secret } from "../values/secret.ts";
import { asInstant } from "../values/time.ts";
import { AccessDenied, accessDeniedPage, checkOAuth } from "./control.ts";
import { entryPoint } from "./testing.ts";

const one = generateKeyPairSync("rsa", { modulusLength: 2048 });
const two = generateKeyPairSync("rsa", { modulusLength: 2048 });
const now = 1_794_700_800_000;
const target = "/gw/api/v4/sale/1001";
const pairs = [
  ["client_orderid", " invoice-1 "],
  ["amount", "10.42"],
] as const;

type Change = {
  readonly url?: string;
  readonly method?: string;
  readonly consumerKey?: string;
  readonly nonce?: string;
  readonly timestamp?: number;
  readonly privateKey?: typeof one.privateKey;
  readonly secret?: string;
};

function sign(change: Change = {}): string {
  const { url = `https://pay.example${target}`, method = "POST", ...credentials } = change;
  const header = signRequest(
    { method, url, parameters: pairs },
    {
      consumerKey: "acme",
      nonce: "n-1",
      timestamp: now / 1000,
      privateKey: one.privateKey,
      ...credentials,
    },
  );
  return String(header);
}

const { merchant } = entryPoint;
const secret = merchant.controlKey.reveal();

function place(...keys: readonly (typeof one)[]): EntryPoint {
  const oauthKeys = keys.map(({ publicKey }, index) => ({ id: `${index}`, name: "", publicKey }));
  return { ...entryPoint, merchant: { ...entryPoint.merchant, oauthKeys } };
}

async function check(
  authorization: string | undefined,
  {
    at = place(one),
    sent = pairs as readonly (readonly [string, string])[],
    takeNonce = async (_taken: unknown): Promise<boolean | Failure> => true,
    to = target,
    takesHmac = false,
    noteOldKey = (_: unknown): void => undefined,
  } = {},
) {
  const call = { method: "POST", target: to, port: 80, authorization };
  const findMerchant = (login: string) => (login === "acme" ? at.merchant : undefined);
  const signer = await checkOAuth(
    { call, pairs: sent, findMerchant, takesHmac },
    {
      baseUrls: () => ["https://pay.example", "http://localhost:8080"],
      windowMs: 300_000,
      takeNonce,
      noteOldKey,
    },
    { now: () => asInstant(now) },
  );
  return signer === at.merchant ? undefined : signer;
}

test("a request that its merchant signed comes in, by every key and every address", async () => {
  const both = place(two, one);

  assert.equal(await check(sign()), undefined);
  assert.equal(await check(sign(), { at: both }), undefined);
  assert.equal(await check(sign({ privateKey: two.privateKey }), { at: both }), undefined);
  assert.equal(await check(sign({ url: `http://localhost:8080${target}` })), undefined);
  assert.equal(
    await check(sign({ url: `https://pay.example${target}?a=1` }), { to: `${target}?a=1` }),
    undefined,
  );
});

// biome-ignore format: a table
const signedWrong: readonly (readonly [change: Change, check: string])[] = [
  [{ privateKey: two.privateKey },                   "signature"],
  [{ method: "GET" },                                "signature"],
  [{ url: `http://pay.example${target}` },           "signature"],
  [{ url: `https://pay.example:8443${target}` },     "signature"],
  [{ url: "https://pay.example/gw/api/v4/sale/1002" }, "signature"],
  [{ url: `https://pay.example${target}?a=1` },      "signature"],
  [{ url: `http://127.0.0.1:8080${target}` },        "signature"],
  [{ consumerKey: "stranger" },                      "consumer"],
  [{ consumerKey: "ACME" },                          "consumer"],
  [{ timestamp: now / 1000 - 301 },                  "timestamp"],
  [{ timestamp: now / 1000 + 301 },                  "timestamp"],
  [{ nonce: "a b" },                                 "malformed_nonce"],
  [{ nonce: "\u0000" },                              "malformed_nonce"],
  [{ nonce: "x".repeat(129) },                       "malformed_nonce"],
];

test("whatever is signed wrongly is denied, and the log says why", async () => {
  for (const [change, expected] of signedWrong) {
    assert.deepEqual(await check(sign(change)), new AccessDenied(expected), JSON.stringify(change));
  }
  const sent = [["amount", "1.42"]] as const;
  assert.deepEqual(await check(sign(), { sent }), new AccessDenied("signature"));
  assert.deepEqual(await check(sign(), { at: place() }), new AccessDenied("no_key"));
  assert.deepEqual(await check(undefined), new AccessDenied("no_header"));
  assert.deepEqual(
    await check(sign(), { to: `${target}?oauth_nonce=n-1` }),
    new AccessDenied("parameter_in_two_places"),
  );
});

test("time stamps are taken up to the edges of the window", async () => {
  assert.equal(await check(sign({ timestamp: now / 1000 - 300 })), undefined);
  assert.equal(await check(sign({ timestamp: now / 1000 + 300 })), undefined);
});

test("a nonce is taken only by a request that is signed rightly", async () => {
  const taken: unknown[] = [];
  const takeNonce = async (nonce: unknown) => taken.push(nonce) === 1;

  await check(sign({ privateKey: two.privateKey }), { takeNonce });
  await check(sign({ consumerKey: "stranger" }), { takeNonce });
  const first = await check(sign(), { takeNonce });
  const again = await check(sign(), { takeNonce });

  assert.equal(first, undefined);
  assert.deepEqual(again, new AccessDenied("nonce"));
  assert.deepEqual(taken[0], { merchantId: "7", nonce: "n-1", signedAt: now });
  assert.equal(taken.length, 2);
});

test("a database that is unreachable denies nobody: the request may come again", async () => {
  const away = new Failure("storage_unavailable");

  assert.equal(await check(sign(), { takeNonce: async () => away }), away);
});

const hmac = { takesHmac: true };
const oauthPairs = [
  ["oauth_consumer_key", "acme"],
  ["oauth_nonce", "n-1"],
  ["oauth_signature_method", "HMAC-SHA1"],
  ["oauth_timestamp", String(now / 1000)],
  ["oauth_version", "1.0"],
] as const;

test("HMAC-SHA1 is taken only where the operation says so, and RSA-SHA256 beside it", async () => {
  assert.equal(await check(sign({ secret }), hmac), undefined);
  assert.equal(await check(sign(), hmac), undefined);
  assert.deepEqual(await check(sign({ secret })), new AccessDenied("other_signature_method"));
});

test("the body may repeat the header's parameters, as published clients do", async () => {
  const [consumer, nonce, , ...others] = oauthPairs;
  const repeated = [...pairs, ...oauthPairs];
  const differing = [...pairs, ...others, ["oauth_nonce", "n-2"]] as const;
  const byRsa = ["oauth_signature_method", "RSA-SHA256"] as const;
  const inTwoPlaces = new AccessDenied("parameter_in_two_places");

  assert.equal(await check(sign({ secret }), { ...hmac, sent: repeated }), undefined);
  assert.equal(await check(sign({ secret }), { ...hmac, sent: [...pairs, nonce] }), undefined);
  assert.deepEqual(await check(sign({ secret }), { ...hmac, sent: differing }), inTwoPlaces);
  const sent = [...pairs, consumer, nonce, byRsa, ...others];
  assert.equal(await check(sign(), { sent }), undefined);
  assert.deepEqual(await check(sign(), { sent: differing }), inTwoPlaces);
  assert.deepEqual(await check(sign(), { sent: repeated }), inTwoPlaces);
  const inQuery = { ...hmac, to: `${target}?oauth_nonce=n-1` };
  assert.deepEqual(await check(sign({ secret }), inQuery), inTwoPlaces);
});

test("both control keys count during a renewal, and the operator sees the old one used", async () => {
  const renewed = {
    ...merchant,
    controlKey: new Secret("new"),
    oldControlKey: merchant.controlKey,
  };
  const noted: unknown[] = [];
  const noteOldKey = (id: unknown) => void noted.push(id);
  const at = { ...entryPoint, merchant: renewed };

  assert.equal(await check(sign({ secret: "new" }), { ...hmac, at, noteOldKey }), undefined);
  assert.deepEqual(noted, []);
  assert.equal(await check(sign({ secret }), { ...hmac, at, noteOldKey }), undefined);
  assert.deepEqual(noted, [merchant.id]);
});

// biome-ignore format: a table
const hmacWrong: readonly (readonly [header: string, check: string])[] = [
  [sign({ secret: "" }),                                       "signature"],
  [sign({ secret: `${secret}&` }),                             "signature"],
  [sign({ secret: secret.toUpperCase() }),                     "signature"],
  [sign({ secret, consumerKey: "stranger" }),                  "consumer"],
  [sign({ secret: "00000000-0000-0000-0000-000000000000", consumerKey: "stranger" }), "consumer"],
  [sign({ secret: "00000000-0000-0000-0000-000000000000" }),   "signature"],
  [sign({ secret, timestamp: now / 1000 - 301 }),              "timestamp"],
  [sign({ secret }).replace("HMAC-SHA1", "RSA-SHA256"),        "no_key"],
  [sign().replace("RSA-SHA256", "HMAC-SHA1"),                  "signature"],
  [sign({ secret }).replace(/(signature=")[^"]*/, "$1%21"),    "signature"],
  [sign({ secret }).replace("%3D\"", "\""),                    "signature"],
];

test("a wrong HMAC is denied, also one by the decoy and one that claims the other method", async () => {
  for (const [header, expected] of hmacWrong) {
    assert.deepEqual(await check(header, { ...hmac, at: place() }), new AccessDenied(expected));
  }
  const rsaOnly = { ...merchant, settings: { rsaOnly: true } };
  const at = { ...place(one), merchant: { ...place(one).merchant, ...rsaOnly, oauthKeys: [] } };
  assert.deepEqual(await check(sign({ secret }), { ...hmac, at }), new AccessDenied("rsa_only"));
});

test("whoever is denied reads nothing but that", () => {
  assert.doesNotMatch(accessDeniedPage, /signature|nonce|consumer|key|time/i);
});
