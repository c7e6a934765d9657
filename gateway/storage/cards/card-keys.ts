/**
 * The vault's keys in a cell: the cell's copy of the list of keys, and the cards whose fingerprints
 * are recomputed when the fingerprint key is replaced. No card is ever written under a destroyed
 * key: a statement that writes a card, or pending card data, takes a shared lock on the key's row
 * in the copy, and one that destroys a key an exclusive lock. The first card under a key adds the
 * key's row, which is never deleted.
 */
import type { SealedCard } from "../../vault/vault.ts";
import type { Database, Query } from "../server/database.ts";
import { bytesArray, plainArray, textArray } from "../server/gather.ts";

/** Selects and locks those of the given keys that were not destroyed, before a card is written. */
export function lockUsableKeys(ids: string): string {
  return `usable as materialized (
  select id from card_keys where id = any(${ids}) and destroyed_at is null for share
)`;
}

/** A result row. If `refusedKey` is given, the cell refuses this key and has written nothing. */
export type RefusedKey = { readonly refusedKey?: number | null };

/** Checks that the vault still has the keys. Omitted by callers that keep no keys in memory. */
export type ConfirmKeys = { readonly confirmKeys?: (ids: readonly number[]) => Promise<boolean> };

/**
 * Writes rows under the vault's keys. Fails if one of the keys was destroyed or lost in a failover.
 * A key that is only missing in the cell's list is added to it, and the rows are written again.
 */
export async function writeUnderKeys<Row extends RefusedKey>(
  query: Query,
  { confirmKeys }: ConfirmKeys,
  write: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows = await write();
  const refused = rows.flatMap(({ refusedKey }) => refusedKey ?? []);
  if (refused.length === 0) return rows;
  if ((await confirmKeys?.(refused)) === false) {
    // `confirmKeys` has read the keys again, so the caller's next attempt uses a key that exists.
    const lost = new Error(`the vault does not have the key ${refused[0]}`);
    throw Object.assign(lost, { code: "40001" });
  }
  await listCardKeys(query, refused);
  const again = await write();
  const isRefused = again.some(({ refusedKey }) => typeof refusedKey === "number");
  if (isRefused) throw new Error(`the key ${refused[0]} is destroyed`);
  return again;
}

export async function listCardKeys(query: Query, ids: readonly number[]): Promise<void> {
  await query(
    "insert into card_keys (id) select unnest($1::int[]) on conflict do nothing",
    [ids],
    "list_card_keys",
  );
}

/**
 * Marks a key as destroyed in this cell, after waiting for statements that are writing under it.
 * Returns false, and marks nothing, if the cell has cards under the key.
 */
export function closeCardKey({ transaction }: Database, id: number): Promise<boolean> {
  return transaction(async (query) => {
    await listCardKeys(query, [id]);
    await query("select from card_keys where id = $1 for update", [id]);
    if ((await query(underKey, [id])).length > 0) return false;
    await query(
      "update card_keys set destroyed_at = now() where id = $1 and destroyed_at is null",
      [id],
    );
    return true;
  });
}

const underKey = `
(select from cards where key_id = $1 limit 1)
union all (select from held_keys where key_id = $1 limit 1)`;

export async function copyDestroyedKeys(main: Query, cell: Query): Promise<void> {
  const rows = await main<{ id: number }>(
    "select id from card_keys where destroyed_at is not null",
  );
  await cell(
    `insert into card_keys (id, destroyed_at) select unnest($1::int[]), now()
     on conflict do nothing`,
    [rows.map(({ id }) => id)],
  );
}

const pageSize = 500;

export type FingerprintedCard = SealedCard & { readonly fingerprint: Buffer };

/** Lists a page of sealed cards by merchant and id, after the card with the key `after`. */
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

/** Returns how many cards and how many card references have changed. */
export async function writeFingerprints(
  { query }: Database,
  cards: readonly NewFingerprint[],
): Promise<{ readonly cards: number; readonly references: number }> {
  const names = [
    plainArray(cards.map(({ merchantId }) => merchantId)),
    plainArray(cards.map(({ cardId }) => cardId)),
  ];
  const references = await query(
    `update card_references set version = version + 1, facts =
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

/** Finds screening list entries that nodes may have added with the old fingerprint key. */
export function findEarlierEntries(query: Query, keyId: number, graceMs: number) {
  return query<{ id: string; value: string }>(
    `select entry.id, value from list_entries as entry, vault.keys as made
     where kind = 'card' and removed_at is null and made.id = $1
       and added_at <= made.created_at + $2::float8 / 1000 * interval '1 second'
     order by entry.id desc`,
    [keyId, graceMs],
  );
}
