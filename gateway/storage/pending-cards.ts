/**
 * Held cards and their keys, in two tables that the database keeps out of its write-ahead log, and
 * so out of base backups and replicas. They outlive a node; a crash of the database empties them.
 */

import type { Instant } from "../values/time.ts";
import type { PendingCardRow, PendingCardStore } from "../vault/pending-cards.ts";
import { bytesArray, plainArray, textArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

export function makePendingCardStore(query: Query, gathered: GatherOptions): PendingCardStore {
  const put = makeGather(async (items: readonly Put[]) => {
    // Of two for one place the later one counts, and a statement may touch a row only once.
    const latest = [...new Map(items.map((item) => [item.row.context, item])).values()];
    await query(putStatement, columnsOf(latest), "put_held");
    return items.map(() => undefined);
  }, gathered);
  const remove = makeGather(async (contexts: readonly string[]) => {
    await query(removeStatement, [textArray(contexts)], "remove_held");
    return contexts.map(() => undefined);
  }, gathered);

  return {
    put: (row, expiresAt) => put({ row, expiresAt }),
    async find(context, now) {
      const [row] = await query<PendingCardRow>(findStatement, [context, now], "find_held");
      return row;
    },
    remove,
    async removeExpired(now) {
      const rows = await query(
        `with gone as (
           delete from vault.held_keys where expires_at <= to_timestamp($1::float8 / 1000)
         )
         delete from vault.held_secrets where expires_at <= to_timestamp($1::float8 / 1000)
         returning context`,
        [now],
      );
      return rows.length;
    },
  };
}

type Put = { readonly row: PendingCardRow; readonly expiresAt: Instant };

function columnsOf(items: readonly Put[]): readonly string[] {
  return [
    textArray(items.map(({ row }) => row.context)),
    bytesArray(items.map(({ row }) => row.sealed)),
    bytesArray(items.map(({ row }) => row.sealedKey)),
    plainArray(items.map(({ row }) => row.keyId)),
    plainArray(items.map(({ expiresAt }) => expiresAt)),
  ];
}

/** Before a database is shut down in order, which would write them to its files. */
export async function deletePendingCards(query: Query): Promise<void> {
  await query("truncate vault.held_keys, vault.held_secrets");
}

const putStatement = `
with held as (
  select context, sealed, sealed_key, key_id, to_timestamp(expires / 1000) as expires_at
  from unnest($1::text[], $2::bytea[], $3::bytea[], $4::integer[], $5::float8[])
    as held (context, sealed, sealed_key, key_id, expires)
), key as (
  insert into vault.held_keys (context, key_id, sealed, expires_at)
  select context, key_id, sealed_key, expires_at from held
  on conflict (context) do update set key_id = excluded.key_id, sealed = excluded.sealed,
    expires_at = excluded.expires_at
)
insert into vault.held_secrets (context, sealed, expires_at)
select context, sealed, expires_at from held
on conflict (context) do update set sealed = excluded.sealed, expires_at = excluded.expires_at`;

const removeStatement = `
with gone as (delete from vault.held_keys where context = any($1::text[]))
delete from vault.held_secrets where context = any($1::text[])`;

const findStatement = `
select context, secrets.sealed, keys.sealed as "sealedKey", keys.key_id as "keyId"
from vault.held_secrets as secrets join vault.held_keys as keys using (context)
where context = $1 and secrets.expires_at > to_timestamp($2::float8 / 1000)`;
