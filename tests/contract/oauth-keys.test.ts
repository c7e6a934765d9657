/**
 * A merchant's keys in an operator's hands: added, listed, and changed while requests continue. A
 * signed request is accepted once and for a limited time: time stamps, nonces, and their merchants.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { saleFields } from "../support/merchant.ts";
import { readGw, runGw } from "../support/programs.ts";
import { until } from "../support/until.ts";
import {
  authorizationFor,
  deniedChecks,
  giveKey,
  type KeyPair,
  makeKeyPair,
  postSigned,
  type Signer,
  send,
  worldsWithKey,
} from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";

const old = makeKeyPair();
const fresh = makeKeyPair();

test("a merchant changes its key without an interruption", async (t) => {
  const world = await startWorld(t);
  assert.equal(await trySale(world, old), 403);

  const first = await add(world, old, "--name", "the old one");
  await untilAnswered(world, old, 200);
  const second = await add(world, fresh);
  await untilAnswered(world, fresh, 200);
  assert.equal(await trySale(world, old), 200);
  const listed = await readGw(world, "merchant", "key", "list", "demo");
  await readGw(world, "merchant", "key", "remove", "demo", first.key);
  await untilAnswered(world, old, 403);
  assert.equal(await trySale(world, fresh), 200);

  assert.deepEqual(listed, [
    { key: first.key, name: "the old one", bits: 2048, sha256: first.sha256 },
    { key: second.key, name: "", bits: 2048, sha256: second.sha256 },
  ]);
  assert.equal(deniedChecks(world)[0], "no_key");
  assert.equal(deniedChecks(world).at(-1), "signature");
});

test("public keys in both containers and certificates are accepted, each once", async (t) => {
  const world = await startWorld(t);
  const pkcs1 = String(old.publicKey.export({ format: "pem", type: "pkcs1" }));

  const added = await runGw(world, ...adding(await put(world, pkcs1)));
  const again = await runGw(world, ...adding(await put(world, spki(old.publicKey))));
  const certified = await runGw(world, ...adding(await put(world, certificate)));

  assert.equal(added.code, 0, added.complaint);
  assert.equal(again.code, 2);
  assert.match(again.complaint, /^demo has this key already: it is key \d+\.$/m);
  assert.equal(certified.code, 0, certified.complaint);
});

test("a key that must not be added is refused with a sentence", async (t) => {
  const world = await startWorld(t);
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
  const secret = (type: "pkcs1" | "pkcs8") => old.privateKey.export({ format: "pem", type });

  // biome-ignore format: a table
  const refused: readonly (readonly [pem: string, sentence: RegExp])[] = [
    [String(secret("pkcs1")), /^This is a private key, which only the merchant should have\./m],
    [String(secret("pkcs8")), /^This is a private key, which only the merchant should have\./m],
    [spki(small),             /^The key has 1024 bits: it must have at least 2048\.$/m],
    [spki(elliptic),          /^This is no RSA key\.$/m],
    ["hello",                 /^This is neither a public key nor a certificate in PEM\.$/m],
  ];
  for (const [pem, sentence] of refused) {
    const { code, complaint, printed } = await runGw(world, ...adding(await put(world, pem)));
    assert.equal(code, 2);
    assert.match(complaint, sentence);
    assert.equal(printed, "");
  }
  const nobody = await runGw(world, "merchant", "key", "list", "nobody");
  const nothing = await runGw(world, "merchant", "key", "remove", "demo", "77");
  assert.match(nobody.complaint, /^There is no merchant nobody/m);
  assert.match(nothing.complaint, /^demo has no key 77/m);
});

async function add({ installation, dataDir }: World, pair: KeyPair, ...words: readonly string[]) {
  const world = { installation, dataDir };
  const file = await put(world, spki(pair.publicKey));
  const added = await readGw(world, ...adding(file), ...words);
  return added as { readonly key: string; readonly sha256: string };
}

function adding(file: string): readonly string[] {
  return ["merchant", "key", "add", "demo", file];
}

let count = 0;

async function put({ dataDir }: Pick<World, "dataDir">, pem: string): Promise<string> {
  count += 1;
  const file = join(dataDir, `key-${count}.pem`);
  await writeFile(file, pem);
  return file;
}

function spki(key: KeyObject): string {
  return String(key.export({ format: "pem", type: "spki" }));
}

async function trySale(world: World, { privateKey }: KeyPair): Promise<number> {
  const path = `/gw/api/v4/sale/${world.set.endpoints["plain"]}`;
  const signer = { consumerKey: "demo", privateKey };
  return (await postSigned(world, signer, path, saleFields())).status;
}

/**
 * Waits for the status, because the gateway reads its configuration after the command's
 * notification.
 */
async function untilAnswered(world: World, pair: KeyPair, status: number): Promise<void> {
  await until(`a request is answered with ${status}`, async () =>
    (await trySale(world, pair)) === status ? true : undefined,
  );
}

/** A self-signed certificate, whose private key is not kept. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIDATCCAemgAwIBAgIUGGK+9P2hObKslGsyvD8dvOKR7EAwDQYJKoZIhvcNAQEL
BQAwDzENMAsGA1UEAwwEZGVtbzAgFw0yNjExMTUwNzA3MDlaGA8yMTI2MTAyMjA3
MDcwOVowDzENMAsGA1UEAwwEZGVtbzCCASIwDQYJKoZIhvcNAQEBBQADggEPADCC
AQoCggEBAKhCZYN/TCIhjLsD1Nno4phq9vneRevt9pjkfgekurUENLKCVtwJXmO1
7GqBh7NQS0pzk4H5eHrax/iTW0cuKQ0Xe8A/aRAAdiXBogRIOX7TXPzewXNpQWIQ
MYgYPzrSJZqqCVOZSJCWJ0xC16RV3UnKsRg0Nvenj4zz6767jXlikKxpSQct3P9N
EgXzDpJbzzGyOfg984/F246IbBfPhoZuyuw0qaoe+toytul6Vnj/chHG0nnYj+b8
XQKXLqzssQv1oq21QmgUtjVrvd2/mqPqRl18A+uFIoPbue07F5UxzVN1PuYJP0Cs
fdSnIWQmfLgsoRUxtEXxnU4wQP83p50CAwEAAaNTMFEwHQYDVR0OBBYEFB5EMSJA
3iwCaiJDhZvv5lyBgjajMB8GA1UdIwQYMBaAFB5EMSJA3iwCaiJDhZvv5lyBgjaj
MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBAJ3KxMi5gyYOo8/B
iIhtRWwJ4wMzX9Se/nft2DZXzCVnvTEV2pi4gVVn37ObFVvGLhmHDXPWCQsU7per
6S5TJBsdclXUFk28Pj6lKVy/ypgmbLM7U+QjqTtjiJ3wh3WSWcm4TZXyCvjVunP/
fKxwBz07w4v32t9YiqEDZdQp8ECLgpIHi41SF7bB/UtvdgkUeClrtjDAeXYN7sHP
mSjRdhxhooypaE3Ju+BxVuXFbeGEQ1ArCVjzc0cHmHlb/WlGcIVOIs6AJwlm6FqV
WIuOtfk3OLsvTSh8k4cnwUJRprkCS+ZDDzlXBy4VoY5a2i5ET37CEXmv3Otga1DI
tNLpwtk=
-----END CERTIFICATE-----
`;

const keys = makeKeyPair();
const strange = makeKeyPair();
const signer: Signer = { consumerKey: "demo", privateKey: keys.privateKey };

const { startSigned, joinSigned } = worldsWithKey(keys);

test("a time stamp may be five minutes off, and no more", async (t) => {
  const world = await joinSigned(t);
  const seconds = Math.floor(world.clock.now() / 1000);
  const statusOf = async (timestamp: number) =>
    (await postSigned(world, signer, salePath(world), saleFields(), { timestamp })).status;

  assert.equal(await statusOf(seconds - 299), 200);
  assert.equal(await statusOf(seconds + 299), 200);
  assert.equal(await statusOf(seconds - 302), 403);
  assert.equal(await statusOf(seconds + 302), 403);
  assert.deepEqual(deniedChecks(world), ["timestamp", "timestamp"]);
});

test("a request is accepted once by all nodes, even after a restart", async (t) => {
  const baseUrl = "https://pay.example";
  const world = await startSigned(t, { GW_BASE_URL: baseUrl });
  const other = await world.otherNode("other");
  const path = salePath(world);
  const fields = saleFields();
  const facts = { ...signer, nonce: "only-once", now: world.clock.now() };
  const header = authorizationFor(`${baseUrl}${path}`, fields, facts);
  const later = authorizationFor(`${baseUrl}${path}`, fields, {
    ...facts,
    now: facts.now + 60_000,
  });

  const first = await send(world.gateway.port, path, fields, header);
  const atOnce = await send(world.gateway.port, path, fields, header);
  const elsewhere = await send(other.port, path, fields, header);
  const newer = await send(other.port, path, fields, later);
  await world.restart();
  const restarted = await send(world.gateway.port, path, fields, header);

  assert.equal(first.status, 200);
  for (const replay of [atOnce, elsewhere, newer, restarted]) assert.equal(replay.status, 403);
  assert.deepEqual(deniedChecks(world), ["nonce", "nonce", "nonce", "nonce"]);
});

test("the same request sent many times at once is accepted once", async (t) => {
  const world = await joinSigned(t);
  const fields = saleFields();
  const url = `${world.gateway.url}${salePath(world)}`;
  const header = authorizationFor(url, fields, { ...signer, now: world.clock.now() });

  const sent = Array.from({ length: 20 }, () =>
    send(world.gateway.port, salePath(world), fields, header),
  );

  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal(statuses.filter((status) => status === 403).length, 19);
});

test("merchants do not share nonces, keys or endpoints", async (t) => {
  const world = await startSigned(t);
  const { set } = await world.stranger();
  await giveKey(world, "stranger", strange);
  const other: Signer = { consumerKey: "stranger", privateKey: strange.privateKey };
  const otherPath = `/gw/api/v4/sale/${set.endpoints["plain"]}`;
  const wrong = { nonce: "shared" };
  const statusOf = async (by: Signer, path: string) =>
    (await postSigned(world, by, path, saleFields(), wrong)).status;

  assert.equal(await statusOf(other, salePath(world)), 403);
  assert.equal(await statusOf(signer, otherPath), 403);
  assert.equal(await statusOf({ ...other, consumerKey: "demo" }, salePath(world)), 403);
  assert.equal(await statusOf(signer, salePath(world)), 200);
  assert.equal(await statusOf(other, otherPath), 200);
});

function salePath({ set }: World): string {
  return `/gw/api/v4/sale/${set.endpoints["plain"]}`;
}
