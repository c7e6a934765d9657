/** The limits against card testing, counted in a database, hold under attack at two nodes. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, test } from "node:test";
import type { Order } from "../../orders/order.ts";
import { draft } from "../../orders/testing.ts";
import {
  makeCardTries,
  makePageTries,
  type TryLimits,
  type TryOrigin,
} from "../../screening/page-tries.ts";
import { CardNumber } from "../../values/card-number.ts";
import { asOrderId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { makeTallyStore } from "../screening/tallies.ts";
import { startDatabase } from "../testing/database-for-tests.ts";

const tables = await startDatabase();
after(() => tables.stop());
const { hot, query } = tables.database;
const start = 1_794_708_246_000;
const hour = 3_600_000;

/** Numbers the worlds, so that each has its own links, addresses and cards. */
let worlds = 0;

function makeWorld(given: Partial<TryLimits> = {}) {
  const world = { now: asInstant(start), salt: ++worlds };
  const limits = { perLink: 0, perAddress: 0, perCard: 0, windowMs: hour, proofBits: 1, ...given };
  const makeNode = () => {
    const { look, findResults, add } = makeTallyStore(hot, { retryMs: 1_000 });
    return makePageTries({
      limits,
      clock: { now: () => world.now },
      digestSubject: (text) => hash("sha256", `${world.salt}/${text}`, "buffer"),
      store: {
        add,
        look: (_, rows) => look(rows),
        findResults: (_, orders) => findResults(orders),
      },
      // Proofs have tests of their own.
      proofs: {
        issue: ({ page }, bits) => `${bits}.for ${page}`,
        use: async ({ page }, proof, bits) => proof === `solved ${bits} for ${page}`,
      },
    });
  };
  return { world, nodes: [makeNode(), makeNode()] as const };
}

let orders = 42_000_000;
const newOrder = (): Order => ({ ...draft, id: asOrderId(String(++orders)) });
const placeOf = (place: Partial<TryOrigin> = {}): TryOrigin => ({
  merchantId: draft.merchantId,
  page: "p",
  ipAddress: "192.0.2.1",
  ...place,
});
const cardOf = (number: number) => number.toString(16).padStart(16, "0");

test("a thousand cards from one network at two nodes pass only up to the limit", async () => {
  const { nodes } = makeWorld({ perAddress: 30 });
  const place = (at: number) => placeOf({ card: cardOf(at), ipAddress: `2001:db8:9:9::${at}` });
  const tries = Array.from({ length: 1_000 }, (_, at) =>
    (nodes[at % 2] ?? nodes[0]).admit(newOrder(), place(at), { proof: "solved 1 for p" }),
  );

  const demands = await Promise.all(tries);

  assert.equal(demands.filter((each) => each.waitS === undefined).length, 30);
  assert.equal(demands.filter((each) => each.waitS !== undefined).length, 970);
  assert.ok((await nodes[0].look(place(1))).waitS);
  assert.deepEqual(await nodes[0].look(placeOf({ ipAddress: "2001:db8:9:8::1" })), {});
});

test("beyond its limit a link demands more work for each try and stays open", async () => {
  const { nodes } = makeWorld({ perLink: 2 });
  const place = placeOf({ linkId: "9" });
  const admit = (proof: string) => nodes[0].admit(newOrder(), place, { proof });

  assert.deepEqual(await admit(""), {});
  for (const bits of [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6, 6]) {
    const proof = `solved ${bits} for p`;
    const tooEasy = await admit(`solved ${bits - 1} for p`);
    assert.deepEqual([tooEasy, await admit(proof)], [{ challenge: `${bits}.for p` }, {}]);
  }
  assert.deepEqual(await nodes[1].look(placeOf({ linkId: "10" })), {});
});

test("beyond half of a limit a proof is needed, and beyond the limit no proof helps", async () => {
  const { world, nodes } = makeWorld({ perAddress: 4 });
  const [here, there] = nodes;
  const place = placeOf({ page: "order 1" });
  const admit = (proof: string) => here.admit(newOrder(), place, { proof });

  assert.deepEqual(await admit(""), {});
  assert.deepEqual(await admit(""), {});
  assert.deepEqual(await there.look(place), { challenge: "1.for order 1" });
  assert.deepEqual(await admit(""), { challenge: "1.for order 1" });
  assert.deepEqual(await admit("solved 1 for order 2"), { challenge: "1.for order 1" });
  // A wrong proof does not count as a try.
  for (const _ of [3, 4]) assert.deepEqual(await admit("solved 1 for order 1"), {});
  world.now = asInstant(start + 60_000);
  assert.deepEqual(await admit("solved 1 for order 1"), { waitS: 3_540 });
  // Refused tries do not prolong the lock.
  world.now = asInstant(start + hour);
  assert.deepEqual(await admit(""), {});
});

test("an IPv6 address counts by its first 64 bits, at all merchants of the cell", async () => {
  const { nodes } = makeWorld({ perAddress: 2 });
  for (const last of ["1", "2"]) {
    const place = placeOf({ ipAddress: `2001:db8:1:2::${last}` });
    assert.deepEqual(await nodes[0].admit(newOrder(), place, { proof: "solved 1 for p" }), {});
  }

  const other = { merchantId: "8" as TryOrigin["merchantId"] };
  const sameNetwork = placeOf({ ...other, ipAddress: "2001:db8:1:2:ffff::9" });
  assert.ok((await nodes[1].look(sameNetwork)).waitS);
  assert.deepEqual(await nodes[1].look(placeOf({ ipAddress: "2001:db8:1:3::1" })), {});
});

test("a card counts at every page where it is tried", async () => {
  const { nodes } = makeWorld({ perCard: 1 });
  const card = cardOf(7);
  const first = placeOf({ card, ipAddress: "192.0.2.8", linkId: "1" });
  assert.deepEqual(await nodes[0].admit(newOrder(), first, { proof: "solved 1 for p" }), {});

  const second = placeOf({ card, ipAddress: "192.0.2.9", linkId: "2", page: "q" });
  assert.ok((await nodes[1].admit(newOrder(), second, { proof: "solved 1 for q" })).waitS);
});

test("a card counts by both keys of fingerprints while one is being replaced", async () => {
  const { nodes } = makeWorld({ perCard: 2 });
  const admit = (place: Partial<TryOrigin>) =>
    nodes[0].admit(newOrder(), placeOf(place), { proof: "solved 1 for p" });

  // One node knows the old key only, and one knows both.
  await admit({ card: cardOf(9) });
  await admit({ card: cardOf(10), earlierCard: cardOf(9) });

  assert.ok((await admit({ card: cardOf(9) })).waitS);
  assert.ok((await admit({ card: cardOf(10), earlierCard: cardOf(9) })).waitS);
});

test("tries of approved orders do not count: a link that sells well stays open", async () => {
  const { nodes } = makeWorld({ perLink: 4 });
  const place = placeOf({ linkId: "9" });
  for (let at = 0; at < 10; at += 1) {
    const order = newOrder();
    assert.deepEqual(await nodes[at % 2 === 0 ? 0 : 1].admit(order, place, { proof: "" }), {});
    await query(
      `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
         digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
         facts, progress)
       values ($1, $2, 1, $3, 1, '\\x01', 1, 1, 1, 'sale', 'approved', 1, 'USD', now(), '{}',
         '{}')`,
      [order.merchantId, order.id, `order ${order.id}`],
    );
  }
});

test("without limits nothing is counted", async () => {
  const { nodes } = makeWorld();
  const before = await query("select from screening_tallies");
  assert.deepEqual(await nodes[0].admit(newOrder(), placeOf({ linkId: "9" }), { proof: "" }), {});
  assert.equal((await query("select from screening_tallies")).length, before.length);
});

test("a card counts by its digests, and a refused try is reported by what has refused it", async () => {
  const { nodes } = makeWorld({ perCard: 1, perAddress: 1 });
  const refused: string[] = [];
  const tries = makeCardTries(nodes[0], {
    cardDigest: (number) => cardOf(Number(number.lastFour)),
    cardNames: () => [],
    onRefused: (of) => refused.push(of),
  });
  const number = new CardNumber("4000001000000018");
  const shown = { proof: "solved 1 for p" };
  const admit = (ipAddress: string) =>
    tries.admit(newOrder(), placeOf({ ipAddress }), number, shown);

  const demands = [await admit("192.0.2.1"), await admit("198.51.100.1")];

  assert.deepEqual(
    demands.map(({ waitS }) => waitS !== undefined),
    [false, true],
  );
  assert.deepEqual(refused, ["an IP address or a card"]);
});
