/** The fingerprints of cards while their key is replaced, with the hash ids of references. */
import type { SealedCard } from "../vault/vault.ts";
import type { Database } from "./database.ts";
import { bytesArray, plainArray, textArray } from "./gather.ts";

const pageSize = 500;

export type FingerprintedCard = SealedCard & { readonly fingerprint: Buffer };

/** By merchant and card, from the one after `after` on. */
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

export async function writeFingerprints(
  { query }: Database,
  cards: readonly NewFingerprint[],
): Promise<void> {
  if (cards.length === 0) return;
  const names = [
    plainArray(cards.map(({ merchantId }) => merchantId)),
    plainArray(cards.map(({ cardId }) => cardId)),
  ];
  await query(
    `update card_references set facts =
       jsonb_set(facts::jsonb, '{card,hashId}', to_jsonb(source.hash_id))::json
     from unnest($1::bigint[], $2::bigint[], $3::text[]) as source(merchant_id, card_id, hash_id)
     where card_references.merchant_id = source.merchant_id
       and card_references.card_id = source.card_id`,
    [...names, textArray(cards.map(({ hashId }) => hashId))],
  );
  // Last: a card whose fingerprint is new is done.
  await query(
    `update cards set fingerprint = source.fingerprint
     from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as source(merchant_id, id, fingerprint)
     where cards.merchant_id = source.merchant_id and cards.id = source.id`,
    [...names, bytesArray(cards.map(({ fingerprint }) => fingerprint))],
  );
}
