/**
 * A cell's copy of the list of the vault's keys. The statement that writes a card, or pending card
 * data, locks the row of its key for sharing; the statement that destroys a key locks it alone. So
 * nothing is written under a destroyed key, however late its writer is. A key is listed by its
 * first writer, if the vault has it, and a destroyed key stays listed in every cell.
 */
import type { Database, Query } from "../server/database.ts";

/** A part of a writing statement: the keys of the array that may seal cards, locked. */
export function lockUsableKeys(ids: string): string {
  return `usable as materialized (
  select id from card_keys where id = any(${ids}) and destroyed_at is null for share
)`;
}

/** A row is of the write, or names a key that seals nothing here; then nothing is written. */
export type RefusedKey = { readonly refusedKey?: number | null };

/** Absent where nothing is sealed by keys from memory. */
export type ConfirmKeys = { readonly confirmKeys?: (ids: readonly number[]) => Promise<boolean> };

/**
 * Fails when a key is destroyed, or lost with the latest commits. One that is only new here is
 * listed, and the write repeated.
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
    // The keys were read again: another try seals with one that is there.
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

/** False when a card of this cell is under the key. Waits for statements that write such a card. */
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

/** Into a new cell: the keys that were destroyed before it was made. */
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
