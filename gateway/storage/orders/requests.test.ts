/** Nonces, tokens and records of requests: each counts once, even if an answer is lost. */
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { asEndpointId, asMerchantId, asSerialNumber } from "../../values/ids.ts";
import { asInstant, later, minutes } from "../../values/time.ts";
import { makeClaimToken, releaseToken } from "../cards/wallets.ts";
import type { Query } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeStoreRequest, makeTakeNonce } from "./requests.ts";

const { database, stop } = await startDatabase();
after(stop);

const windowMs = minutes(5);
const start = asInstant(1_794_700_800_000);
let now = start;

beforeEach(async () => {
  now = start;
  await database.query("delete from oauth_nonces");
});

const clock = { now: () => now, after: () => () => undefined };
/** The longest time that a test may take. */
const retryMs = minutes(5);

function makeNode(query: Query = database.hot) {
  const take = makeTakeNonce(query, { clock, windowMs, retryMs });
  return (nonce: string, merchant = "7", signedAt = now) =>
    take({ merchantId: asMerchantId(merchant), nonce, signedAt });
}

test("a nonce with any content is accepted once for each merchant", async () => {
  const take = makeNode();
  const nonces = ["a", "A", '"', "\\", "{}", "NULL", "a,b", "'; --"];

  const first = await Promise.all(nonces.map((nonce) => take(nonce)));
  const again = await Promise.all(nonces.map((nonce) => take(nonce)));
  const others = await Promise.all(nonces.map((nonce) => take(nonce, "8")));

  assert.deepEqual(new Set(first), new Set([true]));
  assert.deepEqual(new Set(again), new Set([false]));
  assert.deepEqual(new Set(others), new Set([true]));
});

test("only one of many concurrent requests with the same nonce is accepted, even at two nodes", async () => {
  const nodes = [makeNode(), makeNode()];
  const nonces = Array.from({ length: 40 }, (_, index) => `n-${index}`);

  const all = nodes.flatMap((take, at) => {
    const order = at === 0 ? nonces : nonces.toReversed();
    return [...order, ...order].map(async (nonce) => ({ nonce, first: await take(nonce) }));
  });

  const taken = (await Promise.all(all)).filter(({ first }) => first);
  assert.deepEqual(taken.map(({ nonce }) => nonce).sort(), [...nonces].sort());
});

test("a nonce is kept only as long as its time stamp may be accepted", async () => {
  const take = makeNode();
  await take("old", "7", start);
  await take("from-tomorrow", "7", later(start, windowMs));

  now = later(start, windowMs + 1);
  assert.equal(await take("old"), false);
  now = later(start, 3 * windowMs - 1);
  await take("new");
  await untilForgotten("old");

  const rows = await database.query<{ nonce: string }>("select nonce from oauth_nonces");
  assert.deepEqual(rows.map(({ nonce }) => nonce).sort(), ["from-tomorrow", "new"]);
});

test("a request recognises the commit of its own try whose answer was lost", async () => {
  const take = makeNode(losingFirst());
  const claim = makeClaimToken(losingFirst(), clock, { retryMs });
  const store = makeStoreRequest(losingFirst(), { retryMs });
  const wallet = { wallet: "walleta" as const, digest: Buffer.from("a") };
  const replayIds = [{ id: "t", keepUntil: later(start, windowMs) }];
  const token = { merchantId: asMerchantId("7"), ...wallet, replayIds };
  const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
  const ids = { merchantId: asMerchantId("7"), endpointId: asEndpointId("1"), orderId: undefined };
  const record = { ...ids, serialNumber, operation: "sale", at: start, answer: "{}" };

  const taken = await Promise.all([take("lost"), take("lost"), take("other")]);
  const claimed = await claim(token);
  const repeated = await claim(token);
  await store(record);

  assert.deepEqual(taken, [true, false, true]);
  assert.equal(await makeNode()("lost"), false);
  assert.deepEqual([claimed, repeated], [true, true]);
  const [held] = await database.query("select holders from wallet_messages");
  assert.deepEqual(held, { holders: 2 });
  for (const _ of [claimed, repeated]) await releaseToken(database.query, token);
  assert.equal(await claim({ ...token, digest: Buffer.from("b") }), true);
  assert.equal((await database.query("select from requests")).length, 1);
});

/** The connection ends after the first statement is committed and before its answer arrives. */
function losingFirst(): Query {
  let isLost = false;
  return async (text, values, name) => {
    const rows = await database.hot<never>(text, values, name);
    if (isLost) return rows;
    isLost = true;
    throw new Error("Connection terminated unexpectedly");
  };
}

/** Waits for the deletion, which runs in the background. */
async function untilForgotten(nonce: string): Promise<void> {
  const find = "select nonce from oauth_nonces where nonce = $1";
  while ((await database.query(find, [nonce])).length > 0) await database.query("select 1");
}
