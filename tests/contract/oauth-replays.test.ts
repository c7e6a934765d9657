/** A signed request counts once and for a while: time stamps, nonces, and whose they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Test } from "../support/clean-up.ts";
import { saleFields } from "../support/merchant.ts";
import {
  authorizationFor,
  deniedChecks,
  giveKey,
  makeKeyPair,
  postSigned,
  type Signer,
  send,
  startWorldWithKey,
} from "../support/wire.ts";
import type { World } from "../support/world.ts";

const keys = makeKeyPair();
const strange = makeKeyPair();
const signer: Signer = { consumerKey: "demo", privateKey: keys.privateKey };

function startSigned(t: Test, settings: Readonly<Record<string, string>> = {}) {
  return startWorldWithKey(t, keys, settings);
}

test("a time stamp may be five minutes off, and no more", async (t) => {
  const world = await startSigned(t);
  const seconds = Math.floor(world.clock.now() / 1000);
  const statusOf = async (timestamp: number) =>
    (await postSigned(world, signer, salePath(world), saleFields(), { timestamp })).status;

  assert.equal(await statusOf(seconds - 299), 200);
  assert.equal(await statusOf(seconds + 299), 200);
  assert.equal(await statusOf(seconds - 302), 403);
  assert.equal(await statusOf(seconds + 302), 403);
  assert.deepEqual(deniedChecks(world), ["timestamp", "timestamp"]);
});

test("a request is taken once, by whichever node, also after a restart", async (t) => {
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

test("of the same request sent many times at once one is taken", async (t) => {
  const world = await startSigned(t);
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
