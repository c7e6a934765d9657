/**
 * The fingerprint secret is replaced in a real database. Everything that depends on it is
 * recomputed in every cell, and until the end cards are recognised by both secrets.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { renewFingerprints } from "../../administration/installation/renew-fingerprints.ts";
import { makeCards } from "../../engine/cards.ts";
import type { Endpoint } from "../../orders/merchant.ts";
import { approved, clockAt, draft } from "../../orders/testing.ts";
import { makeJudgePayment, tallyRowsOf } from "../../screening/judge.ts";
import { type ListEntry, makeLists, valueOfDigest } from "../../screening/lists.ts";
import type { ConfiguredRule } from "../../screening/rule.ts";
import { makeFindRuleSet } from "../../screening/rule-set.ts";
import { CardNumber } from "../../values/card-number.ts";
import { Failure } from "../../values/failure.ts";
import { asCardId, asEndpointId, asLinkId, asMerchantId, asOrderId } from "../../values/ids.ts";
import { asInstant, later } from "../../values/time.ts";
import { newCardRefId } from "../../vault/keys.ts";
import { hashIdOf, type Vault } from "../../vault/vault.ts";
import { putEntries, removeEntries } from "../screening/screening-lists.ts";
import { makeTallyStore } from "../screening/tallies.ts";
import type { Database } from "../server/database.ts";
import { startVault } from "../testing/database-for-tests.ts";
import { makeFindSealedCard, makeReferenceStore } from "./cards.ts";
import { makeRenewHashIds } from "./erasure.ts";

const merchantId = asMerchantId("101");
const [paid, refused] = [new CardNumber("4000001000000018"), new CardNumber("5200000000000015")];
const late = new CardNumber("4000001000000026");
const graceMs = 60_000;
const deletion = { by: "jo", at: asInstant(1_800_000_000_000) };
// The part of an endpoint that screening uses for counting.
const endpoint = { id: asEndpointId("1001"), merchant: { id: merchantId } } as Endpoint;
const tables = await startVault();
after(() => tables.stop());
const { cells, open: openVault } = tables;

test("fingerprints, orders, references, lists and counts change to the new key, and the old key is destroyed", async () => {
  const { keys, vault } = await openVault();
  const old = keys.current("fingerprints").id;
  const before = namesOf(vault);
  const receipt = vault.receiptIdOf({ merchantId, orderId: asOrderId("7") });
  const link = vault.linkTokenOf({ merchantId, id: asLinkId("3") });
  for (const each of cells) await fill(each, vault);
  await list(before.hashId, before.digest, "777");
  const entry: ListEntry = {
    id: "1",
    list: "block",
    kind: "card",
    value: before.hashId,
    reason: "",
  };
  const lists = makeLists();
  const seen: string[] = [];

  const isOld = async () => (await stored(tables.database, vault)).cards.every((isOwn) => isOwn);
  const beforeNodes = async () => {
    assert.ok(await isOld(), "nothing is recomputed until all nodes know both keys");
    // A node that has not been notified of the new key adds a card.
    for (const each of cells) await add(each, vault, "9", late);
  };
  const first = await renew(beforeNodes, async () => {
    for (const each of cells) {
      await add(each, vault, "10", late);
      await refer(each, "10", vault.fingerprint(merchantId, late).hashId);
      await refer(each, "8", before.refusedId);
    }
    // Another node lists the card by the old key.
    const node = await openVault();
    const names = node.vault.cardNames(merchantId, paid);
    seen.push(...names.map(({ hashId }) => hashId));
    const order = { ...draft, card: { ...draft.card, hashId: names[0]?.hashId ?? "" } };
    lists.put(entry);
    assert.equal(lists.find({ ...order, cardNames: names }), entry);
    assert.equal(lists.find(order), undefined);
  });

  const next = await openVault();
  const now = namesOf(next.vault);
  assert.deepEqual(seen, [now.hashId, before.hashId]);
  assert.notEqual(now.hashId, before.hashId);
  for (const each of cells) {
    assert.deepEqual(await stored(each, next.vault), {
      cards: [true, true, true, true],
      orders: [
        [now.hashId, now.refusedId, 4],
        ["5", undefined, 3],
      ],
      references: [now.hashId, now.refusedId, next.vault.fingerprint(merchantId, late).hashId],
      tallies: [[tallyKey(next.vault, now.digest), 2]],
      notes: ["hash id recomputed"],
    });
  }
  assert.equal(next.vault.receiptIdOf({ merchantId, orderId: asOrderId("7") }), receipt);
  assert.equal(next.vault.linkTokenOf({ merchantId, id: asLinkId("3") }), link);
  assert.deepEqual(await values(), ["777", now.hashId, valueOfDigest(now.digest)].sort());
  assert.deepEqual([first.cards, first.destroyed, first.left.length], [8, [], 1]);
  assert.notEqual(next.keys.find(old), undefined, "an entry of a list needs the old key");

  await tables.database.transaction((query) => removeEntries(query, first.left));
  await tables.database.query(
    "insert into cards (merchant_id, id, key_id, sealed, fingerprint) values (101, 11, 1, '', '')",
  );
  const second = await renew();
  assert.deepEqual([second.cards, second.destroyed, second.unopened], [0, [], 1]);
  await tables.database.query("delete from cards where id = 11");
  const third = await renew();

  assert.deepEqual([third.cards, third.destroyed, third.left], [0, [old], []]);
  assert.equal((await openVault()).keys.list("fingerprints").length, 1);
});

test("an interrupted run is continued without starting a new one", async () => {
  const old = (await openVault()).keys.current("fingerprints").id;
  const interrupt = async () => {
    throw new Error("interrupted");
  };

  await assert.rejects(renew(interrupt), /interrupted/);
  await assert.rejects(renew(undefined, interrupt), /interrupted/);
  const { keys } = await openVault();
  const { destroyed } = await renew();

  assert.deepEqual([destroyed, keys.list("fingerprints").length], [[old], 2]);
  const next = await openVault();
  assert.equal(next.keys.current("fingerprints").id, keys.current("fingerprints").id);
  for (const each of cells) {
    assert.deepEqual((await stored(each, next.vault)).orders[0]?.[0], namesOf(next.vault).hashId);
  }
});

test("an order that changes while its hash id is recomputed gets it too", async () => {
  const { database } = tables;
  const { hashId } = namesOf((await openVault()).vault);
  await database.query(
    `update orders set progress = jsonb_set(progress::jsonb, '{card,hashId}', '"5"')::json`,
  );
  const changeFirst = makeOnce(() => database.query("update orders set version = version + 1"));
  const query: Database["query"] = async (text, ...rest) => {
    if (text.includes("update orders")) await changeFirst();
    return database.query(text, ...rest);
  };

  await makeRenewHashIds(query, deletion, hashIdOf)();

  const [order] = (await stored(database, (await openVault()).vault)).orders;
  assert.equal(order?.[0], hashId);
});

test("a card that is registered while its order has the old hash id gets the new one", async () => {
  const { query } = tables.database;
  const { vault } = await openVault(makeFindSealedCard(query));
  const order = { ...approved(), merchantId, card: { ...draft.card, cardId: asCardId("9") } };
  const cards = makeCards({
    store: makeReferenceStore(query),
    findCard: vault.findCard,
    clock: clockAt(deletion.at),
    fingerprint: vault.fingerprint,
    newReferenceId: newCardRefId,
    graceMs: 0,
  });

  const ids = await cards.register(order);

  assert.ok(!(ids instanceof Failure));
  const reference = await makeReferenceStore(query).find(merchantId, ids.card);
  assert.equal(reference?.card.hashId, vault.fingerprint(merchantId, late).hashId);
});

test("the payments of a card are counted together before, during and after the replacement of the key", async () => {
  const { vault: before } = await openVault();
  const card = new CardNumber("4111111111111111");
  await add(tables.database, before, "12", card);
  const pay = makeCounter(card);
  const counts = [await pay(before), await pay(before)];

  let both = before;
  await renew(
    async () => {
      both = (await openVault()).vault;
      counts.push(await pay(both), await pay(before), await pay(both));
    },
    async () => void counts.push(await pay(both)),
  );
  // One of two nodes has not been notified that the old key is destroyed.
  counts.push(await pay(both), await pay((await openVault()).vault));

  assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8]);
});

/** Returns a function that counts a payment at the node and returns how many a rule has seen. */
function makeCounter(card: CardNumber) {
  const { add: count, remove, findResults } = makeTallyStore(tables.database.hot, { retryMs: 0 });
  const rule: ConfiguredRule = {
    id: "1",
    merchantId,
    endpointId: undefined,
    kind: "velocity",
    action: "mark",
    parameters: { per: "card", count: "1", window: "1d" },
    enabled: true,
  };
  const source = { screeningRules: [rule], endpoints: new Map([[endpoint.id, endpoint]]) };
  const judges = new Map<Vault, ReturnType<typeof makeJudgePayment>>();
  const makeJudge = ({ digestSubject, countingKey }: Vault) =>
    makeJudgePayment({
      findRuleSet: makeFindRuleSet(
        () => source,
        () => assert.fail(),
      ),
      store: { add: count, remove, findResults: (_, orders) => findResults(orders) },
      lists: makeLists(),
      findIpCountry: () => undefined,
      onUndoFailed: () => undefined,
      digestSubject,
      countingKey,
    });
  let made = 0;
  return async (vault: Vault): Promise<number> => {
    made += 1;
    const judge = judges.get(vault) ?? makeJudge(vault);
    judges.set(vault, judge);
    const acceptedAt = later(deletion.at, made);
    const order = { ...draft, merchantId, acceptedAt, id: asOrderId(String(made)) };
    const judged = await judge(order, () => ({
      card: vault.cardDigest(card),
      cardNames: vault.cardNames(merchantId, card),
      request: Buffer.alloc(8, made),
    }));
    const [finding] = judged?.findings ?? [];
    return finding !== undefined && "facts" in finding ? Number(finding.facts["count"]) : 1;
  };
}

function makeOnce(act: () => Promise<unknown>): () => Promise<unknown> {
  let done: Promise<unknown> | undefined;
  return () => (done ??= act());
}

/** The two functions replace the waits for nodes with the old key, and for orders in progress. */
async function renew(beforeNodes = async () => {}, beforeOrders = async () => {}) {
  const { keys } = await openVault();
  const pause = (durationMs: number) => (durationMs <= graceMs ? beforeNodes() : beforeOrders());
  return renewFingerprints({
    database: tables.database,
    cells,
    keys,
    deletion,
    pause,
    endpoints: [endpoint],
    graceMs,
    report: () => undefined,
  });
}

function namesOf(vault: Vault) {
  const { hashId } = vault.fingerprint(merchantId, paid);
  const refusedId = vault.fingerprint(merchantId, refused).hashId;
  return { hashId, refusedId, digest: vault.cardDigest(paid) };
}

function tallyKey({ digestSubject }: Vault, digest: string): string | undefined {
  const rows = tallyRowsOf("card", digest, { endpoints: [endpoint], digestSubject });
  return rows.find(({ owner }) => owner === merchantId)?.key;
}

/** Stores two cards, an order with both, one with a destroyed card, a reference and a count. */
async function fill(cell: Database, vault: Vault): Promise<void> {
  const { query } = cell;
  const { hashId, refusedId, digest } = namesOf(vault);
  await add(cell, vault, "7", paid);
  await add(cell, vault, "8", refused);
  const tried = { card: { cardId: "8", hashId: refusedId } };
  const orders = [
    { card: { cardId: "7", hashId }, page: { refused: [tried], other: 1 } },
    { card: { cardId: "99", hashId: "5" } },
  ];
  for (const [at, progress] of orders.entries()) {
    await query(
      `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
         digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
         facts, progress)
       values (101, $1::bigint, 1, 'a' || $1::bigint, 1, '\\x01', 1, 1, 3, 'sale', 'approved',
         1, 'USD', now() - interval '1 hour', '{}', $2)`,
      [at + 1, JSON.stringify(progress)],
    );
  }
  await refer(cell, "7", hashId);
  await query(
    "insert into screening_tallies (merchant_id, key, first_at, keep_until, events) " +
      "values (101, $1, 1, 2, '\\x0102')",
    [tallyKey(vault, digest)],
  );
}

async function add({ query }: Database, vault: Vault, id: string, number: CardNumber) {
  const { fingerprint } = vault.fingerprint(merchantId, number);
  const card = { number, expiryYear: "31", expiryMonth: "12", fingerprint };
  const { keyId, sealed } = vault.seal(merchantId, asCardId(id), card);
  await query(
    `insert into cards (merchant_id, id, key_id, sealed, fingerprint)
     values (101, $1, $2, $3, $4)`,
    [id, keyId, sealed, fingerprint],
  );
}

async function refer({ query }: Database, cardId: string, hashId: string): Promise<void> {
  await query(
    `insert into card_references
       (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts, created_at)
     values (101, $1::bigint, 'card', $1::bigint, 1, 1, $2, now())`,
    [cardId, JSON.stringify({ card: { cardId, hashId } })],
  );
}

async function stored({ query }: Database, vault: Vault) {
  const cards = await query<{ id: string; fingerprint: Buffer }>(
    "select id, fingerprint from cards order by id",
  );
  const orders = await query<{ card: string; tried: string | null; version: number }>(
    `select progress #>> '{card,hashId}' as card, version,
       progress #>> '{page,refused,0,card,hashId}' as tried from orders order by id`,
  );
  const references = await query<{ id: string }>(
    "select facts #>> '{card,hashId}' as id from card_references order by card_id",
  );
  const tallies = await query<{ key: string; bytes: number }>(
    "select key, octet_length(events) as bytes from screening_tallies",
  );
  const notes = await query<{ what: string }>(
    "select events #>> '{0,what}' as what from order_history",
  );
  return {
    cards: cards.map(({ id, fingerprint }) => {
      const number =
        new Map([
          ["7", paid],
          ["8", refused],
        ]).get(id) ?? late;
      return vault.fingerprint(merchantId, number).fingerprint.equals(fingerprint);
    }),
    orders: orders.map(({ card, tried, version }) => [card, tried ?? undefined, version]),
    references: references.map(({ id }) => id),
    tallies: tallies.map(({ key, bytes }) => [key, bytes]),
    notes: notes.map(({ what }) => what),
  };
}

async function list(hashId: string, digest: string, unknown: string): Promise<void> {
  const entries = [hashId, valueOfDigest(digest), unknown].map((value) => {
    return { list: "block", kind: "card", value, reason: "" } as const;
  });
  await tables.database.transaction((query) => putEntries(query, entries, { by: "jo" }));
}

async function values(): Promise<readonly string[]> {
  const rows = await tables.database.query<{ value: string }>(
    "select value from list_entries where removed_at is null",
  );
  return rows.map(({ value }) => value).sort();
}
