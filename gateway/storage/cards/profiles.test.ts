/** Recurring payment profiles in a real database: what happens to one at the same moment. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { card, start } from "../../orders/testing.ts";
import {
  asCardId,
  asCardRefId,
  asEndpointId,
  asMerchantId,
  type CardId,
} from "../../values/ids.ts";
import { hours, later } from "../../values/time.ts";
import type { Query } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { writeFingerprints } from "./card-keys.ts";
import { makeReferenceStore } from "./cards.ts";
import { eraseCard } from "./erasure.ts";
import { makeProfileStore } from "./profiles.ts";

const merchantId = asMerchantId("101");
const tables = await startDatabase();
after(() => tables.stop());
const { database } = tables;
const store = makeReferenceStore(database.query);
const profiles = makeProfileStore(database);
let count = 0;

test("a card is removed although its number is replaced at the same moment", async () => {
  const reference = await addProfile();
  const cardId = asCardId("9001");
  let isReplaced: Promise<boolean> | undefined;
  const query: Query = async (text, ...rest) => {
    if (text.includes("removed_by = $4")) {
      isReplaced ??= change(reference, { cardId, card: sealed(cardId) });
      assert.equal(await isReplaced, true);
    }
    return database.query(text, ...rest);
  };

  const removed = await makeReferenceStore(query).remove(reference, "merchant", start);

  assert.equal(removed, cardId);
  assert.equal((await store.find(merchantId, reference.id))?.removedBy, "merchant");
  assert.equal(await store.remove(reference, "merchant", start), undefined);
});

test("a person is erased although the card's number is replaced at the same moment", async () => {
  const reference = await addProfile();
  const { cardId } = reference.card;
  const replacing = asCardId("9002");
  let isReplaced: Promise<boolean> | undefined;
  const transaction: typeof database.transaction = (work) =>
    database.transaction((query) =>
      work(async (text, ...rest) => {
        if (text.includes("for update")) {
          isReplaced ??= change(reference, { cardId: replacing, card: sealed(replacing) });
          assert.equal(await isReplaced, true);
        }
        return query(text, ...rest);
      }),
    );

  const erased = await eraseCard({ transaction }, { merchantId, cardId }, start);

  assert.deepEqual(new Set(erased.map((each) => each.cardId)), new Set([cardId, replacing]));
  const left = (await store.find(merchantId, reference.id)) ?? assert.fail();
  assert.deepEqual([left.removedBy, left.card.hashId], ["operator", ""]);
});

test("a change that was made from an old hash id does not bring the hash id back", async () => {
  const reference = await addProfile();
  const { cardId } = reference.card;
  const renewed = { merchantId, cardId, fingerprint: Buffer.alloc(32, 7), hashId: "777" };

  await writeFingerprints(database, [renewed]);

  assert.equal(await change(reference, { networkId: "NEW" }), false);
  const now = (await store.find(merchantId, reference.id)) ?? assert.fail();
  assert.deepEqual([now.card.hashId, now.networkId], ["777", undefined]);
  assert.equal(await change(now, { networkId: "NEW" }), true);
});

test("a client order id that another request has used is not claimed a second time", async () => {
  const [first, second] = [await addProfile(), await addProfile()];
  const claim = { clientOrderId: `profile-${first.id}`, digest: digestOf(5) };

  assert.equal(await change(second, { claim }), false);
  const created = await profiles.findCreated(merchantId, claim.clientOrderId);
  assert.equal(created?.profile.ids.recurring, first.id);
  assert.equal(await change(second, { claim: { ...claim, clientOrderId: "free" } }), true);
});

type Reference = NonNullable<Awaited<ReturnType<typeof store.find>>>;
type Changed = Parameters<typeof profiles.change>[0];

async function addProfile(): Promise<Reference> {
  count += 10;
  const [id, cardId] = [asCardRefId(String(count)), asCardId(String(count + 5))];
  const isAdded = await profiles.add({
    owner: { merchantId, endpointId: asEndpointId("1001") },
    ids: { recurring: id, card: asCardRefId(String(count + 1)) },
    cardId,
    facts: { card: { ...card, cardId }, networkId: undefined },
    at: start,
    clientOrderId: `profile-${count}`,
    digest: digestOf(count),
    card: sealed(cardId),
  });
  assert.equal(isAdded, true);
  return (await store.find(merchantId, id)) ?? assert.fail();
}

function change(
  reference: Reference,
  { networkId, ...changed }: Partial<Changed & Pick<Reference, "networkId">>,
): Promise<boolean> {
  const { cardId } = reference.card;
  return profiles.change({
    reference,
    cardId,
    facts: { card: reference.card, networkId },
    stoppedAt: undefined,
    at: start,
    keepUntil: later(start, hours(24)),
    card: undefined,
    claim: undefined,
    ...changed,
  });
}

function sealed(cardId: CardId) {
  const [bytes, fingerprint] = [Buffer.alloc(8, 1), Buffer.alloc(32, 1)];
  return { merchantId, cardId, keyId: 1, sealed: bytes, fingerprint };
}

function digestOf(value: number) {
  return { keyId: 1, digest: Buffer.alloc(32, value), cvv: undefined };
}
