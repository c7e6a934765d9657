/**
 * The key of card fingerprints is replaced in a real database: all that follows from it is
 * recomputed, in every cell, and meanwhile cards are recognised by both keys.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { renewFingerprints } from "../cli/renew-fingerprints.ts";
import type { Endpoint } from "../orders/merchant.ts";
import { draft } from "../orders/testing.ts";
import { tallyRowsOf } from "../screening/judge.ts";
import { valueOfDigest } from "../screening/list-kinds.ts";
import { type ListEntry, makeLists } from "../screening/lists.ts";
import { CardNumber } from "../values/card-number.ts";
import { asCardId, asEndpointId, asLinkId, asMerchantId, asOrderId } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import type { Vault } from "../vault/vault.ts";
import type { Database } from "./database.ts";
import { putEntries, removeEntries } from "./screening-lists.ts";
import { startVault } from "./testing/database-for-tests.ts";

const merchantId = asMerchantId("101");
const [paid, refused] = [new CardNumber("4000001000000018"), new CardNumber("5200000000000015")];
const deletion = { by: "jo", at: asInstant(1_800_000_000_000) };
// As much of an endpoint as screening counts by.
const endpoint = { id: asEndpointId("1001"), merchant: { id: merchantId } } as Endpoint;
const tables = await startVault();
after(() => tables.stop());
const { cells, open: openVault } = tables;

test("fingerprints, orders, references, lists and counts follow the new key, and the old one goes", async () => {
  const { keys, vault } = await openVault();
  const old = keys.current("fingerprints").id;
  const before = namesOf(vault);
  const receipt = vault.receiptIdOf({ merchantId, orderId: asOrderId("7") });
  const link = vault.linkTokenOf({ merchantId, id: asLinkId("3") });
  for (const each of cells) await fill(each, vault);
  await list(before.hashId, before.digest, "777");
  const entry: ListEntry = {
    ...{ id: "1", list: "block", kind: "card", value: before.hashId, reason: "" },
  };
  const lists = makeLists();
  const seen: string[] = [];

  const first = await renew(async () => {
    // Another node, which lists the card by the old key.
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
      cards: [true, true],
      orders: [
        [now.hashId, now.refusedId, 4],
        ["5", undefined, 3],
      ],
      references: [now.hashId],
      tallies: [[tallyKey(next.vault, now.digest), 2]],
      notes: ["hash id recomputed"],
    });
  }
  assert.equal(next.vault.receiptIdOf({ merchantId, orderId: asOrderId("7") }), receipt);
  assert.equal(next.vault.linkTokenOf({ merchantId, id: asLinkId("3") }), link);
  assert.deepEqual(await values(), ["777", now.hashId, valueOfDigest(now.digest)].sort());
  assert.deepEqual([first.cards, first.destroyed, first.left.length], [4, [], 1]);
  assert.notEqual(next.keys.find(old), undefined, "an entry of a list needs the old key");

  await tables.database.transaction((query) => removeEntries(query, first.left));
  const second = await renew(async () => undefined);

  assert.deepEqual([second.cards, second.destroyed, second.left], [0, [old], []]);
  assert.equal((await openVault()).keys.list("fingerprints").length, 1);
});

async function renew(pause: () => Promise<void>) {
  const { keys } = await openVault();
  return renewFingerprints({
    ...{ database: tables.database, cells, keys, deletion, pause },
    ...{ endpoints: [endpoint], graceMs: 60_000, report: () => undefined },
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

/** Two cards, an order with both, an order whose card is destroyed, a reference and a count. */
async function fill({ query }: Database, vault: Vault): Promise<void> {
  const { hashId, refusedId, digest } = namesOf(vault);
  for (const [id, number] of [
    ["7", paid],
    ["8", refused],
  ] as const) {
    const { fingerprint } = vault.fingerprint(merchantId, number);
    const card = { number, expiryYear: "31", expiryMonth: "12", fingerprint };
    const { keyId, sealed } = vault.seal(merchantId, asCardId(id), card);
    await query(
      `insert into cards (merchant_id, id, key_id, sealed, fingerprint)
       values (101, $1, $2, $3, $4)`,
      [id, keyId, sealed, fingerprint],
    );
  }
  const tried = { card: { cardId: "8", hashId: refusedId } };
  const orders = [
    { card: { cardId: "7", hashId }, page: { refused: [tried], other: 1 } },
    { card: { cardId: "99", hashId: "5" } },
  ];
  for (const [at, progress] of orders.entries()) {
    await query(
      `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest, version,
         kind, stage, amount, currency, accepted_at, facts, progress)
       values (101, $1::bigint, 1, 'a' || $1::bigint, 1, '\\x01', 3, 'sale', 'approved', 1, 'USD',
         now() - interval '1 hour', '{}', $2)`,
      [at + 1, JSON.stringify(progress)],
    );
  }
  await query(
    `insert into card_references
       (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts, created_at)
     values (101, 1, 'card', 7, 1, 1, $1, now())`,
    [JSON.stringify({ card: { cardId: "7", hashId } })],
  );
  await query(
    "insert into screening_tallies (merchant_id, key, first_at, keep_until, events) " +
      "values (101, $1, 1, 2, '\\x0102')",
    [tallyKey(vault, digest)],
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
    "select facts #>> '{card,hashId}' as id from card_references",
  );
  const tallies = await query<{ key: string; bytes: number }>(
    "select key, octet_length(events) as bytes from screening_tallies",
  );
  const notes = await query<{ what: string }>(
    "select events #>> '{0,what}' as what from order_history",
  );
  return {
    cards: cards.map(({ id, fingerprint }) => {
      const number = id === "7" ? paid : refused;
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
