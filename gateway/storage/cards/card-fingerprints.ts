/**
 * The fingerprints of cards while their key is replaced, the hash ids of references, and the list
 * entries under earlier keys.
 */
import type { SealedCard } from "../../vault/vault.ts";
import type { Database, Query } from "../server/database.ts";
import { bytesArray, plainArray, textArray } from "../server/gather.ts";

const pageSize = 500;

export type FingerprintedCard = SealedCard & { readonly fingerprint: Buffer };

/** Lists cards by merchant and id, beginning after `after`. */
export function listSealedCards({ query }: Database, after: SealedCard | undefined) {
  return query<FingerprintedCard>(
    `select merchant_id as "merchantId", id as "cardId", key_id as "keyId", sealed, fingerprint
     from cards where (merchant_id, id) > ($1::bigint, $2::bigint)
     order by merchant_id, id limit ${pageSize}`,
    [after?.merchantId ?? "-1", after?.cardId ?? "-1"],
  );
}

type NewFingerprint = Pick<FingerprintedCard, "merchantId" | "cardId" | "fingerprint"> & {
  readonly hashId: string;
};

/** Writes fingerprints. Returns how many cards and references had other ones. */
export async function writeFingerprints(
  { query }: Database,
  cards: readonly NewFingerprint[],
): Promise<{ readonly cards: number; readonly references: number }> {
  const names = [
    plainArray(cards.map(({ merchantId }) => merchantId)),
    plainArray(cards.map(({ cardId }) => cardId)),
  ];
  const references = await query(
    `update card_references set facts =
       jsonb_set(facts::jsonb, '{card,hashId}', to_jsonb(source.hash_id))::json
     from unnest($1::bigint[], $2::bigint[], $3::text[]) as source(merchant_id, card_id, hash_id)
     where card_references.merchant_id = source.merchant_id
       and card_references.card_id = source.card_id
       and facts #>> '{card,hashId}' <> source.hash_id
     returning card_references.id`,
    [...names, textArray(cards.map(({ hashId }) => hashId))],
  );
  const written = await query(
    `update cards set fingerprint = source.fingerprint
     from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as source(merchant_id, id, fingerprint)
     where cards.merchant_id = source.merchant_id and cards.id = source.id
       and cards.fingerprint <> source.fingerprint
     returning cards.id`,
    [...names, bytesArray(cards.map(({ fingerprint }) => fingerprint))],
  );
  return { cards: written.length, references: references.length };
}

/** Finds entries that a node may have added under the previous key. */
export function findEarlierEntries(query: Query, keyId: number, graceMs: number) {
  return query<{ id: string; value: string }>(
    `select entry.id, value from list_entries as entry, vault.keys as made
     where kind = 'card' and removed_at is null and made.id = $1
       and added_at <= made.created_at + $2::float8 / 1000 * interval '1 second'
     order by entry.id desc`,
    [keyId, graceMs],
  );
}
