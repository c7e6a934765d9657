/**
 * A cell's copy of the list of the vault's keys. The statement that writes a card, or pending card
 * data, takes a shared lock on the row of its key, and the statement that destroys a key takes an
 * exclusive one. Therefore nothing is written under a destroyed key, however late the writer is.
 * The first writer of a key lists it if the vault has it, and a destroyed key stays listed in every
 * cell.
 */
import type { Database, Query } from "../server/database.ts";

/** Returns a part of a writing statement: it locks those keys of the array that may seal cards. */
export function lockUsableKeys(ids: string): string {
  return `usable as materialized (
  select id from card_keys where id = any(${ids}) and destroyed_at is null for share
)`;
}

/**
 * A row of the write, or the number of a key that may not seal anything here. In the second case,
 * nothing was written.
 */
export type RefusedKey = { readonly refusedKey?: number | null };

/**
 * Checks that the vault has the keys. It is absent where no keys from memory are used for sealing.
 */
export type ConfirmKeys = { readonly confirmKeys?: (ids: readonly number[]) => Promise<boolean> };

/**
 * Writes, and fails if a key is destroyed, or was lost with the latest commits. If a key is merely
 * new in this cell, it lists the key and repeats the write.
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
    // The keys were read again, so another try seals with an existing one.
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
 * Closes a key for new cards. Waits for statements that write such a card, and returns false if a
 * card of this cell is under the key.
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

/** Copies the keys that were destroyed earlier into a new cell. */
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
