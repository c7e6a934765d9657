/** Nonces in a real database: accepted once, by any node, and deleted when they may be. */
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { asMerchantId } from "../values/ids.ts";
import { asInstant, later, minutes } from "../values/time.ts";
import { makeTakeNonce } from "./requests.ts";
import { startDatabase } from "./testing/database-for-tests.ts";

const { database, stop } = await startDatabase();
after(stop);

const windowMs = minutes(5);
const start = asInstant(1_794_700_800_000);
let now = start;

beforeEach(async () => {
  now = start;
  await database.query("delete from oauth_nonces");
});

function makeNode() {
  const clock = { now: () => now, after: () => () => undefined };
  const take = makeTakeNonce(database.hot, { clock, windowMs });
  return (nonce: string, merchant = "7", signedAt = now) =>
    take({ merchantId: asMerchantId(merchant), nonce, signedAt });
}

test("a nonce is taken once for each merchant, whatever is in it", async () => {
  const take = makeNode();
  const nonces = ["a", "A", '"', "\\", "{}", "NULL", "a,b", "'; --"];

  const first = await Promise.all(nonces.map((nonce) => take(nonce)));
  const again = await Promise.all(nonces.map((nonce) => take(nonce)));
  const others = await Promise.all(nonces.map((nonce) => take(nonce, "8")));

  assert.deepEqual(new Set(first), new Set([true]));
  assert.deepEqual(new Set(again), new Set([false]));
  assert.deepEqual(new Set(others), new Set([true]));
});

test("of many with the same nonce at the same moment one is the first, also on two nodes", async () => {
  const nodes = [makeNode(), makeNode()];
  const nonces = Array.from({ length: 40 }, (_, index) => `n-${index}`);

  const all = nodes.flatMap((take, at) => {
    const order = at === 0 ? nonces : nonces.toReversed();
    return [...order, ...order].map(async (nonce) => ({ nonce, first: await take(nonce) }));
  });

  const taken = (await Promise.all(all)).filter(({ first }) => first);
  assert.deepEqual(taken.map(({ nonce }) => nonce).sort(), [...nonces].sort());
});

test("a nonce is kept as long as its time stamp may be accepted, and not for ever", async () => {
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

/** Deletion runs in the background. */
async function untilForgotten(nonce: string): Promise<void> {
  const find = "select nonce from oauth_nonces where nonce = $1";
  while ((await database.query(find, [nonce])).length > 0) await database.query("select 1");
}
