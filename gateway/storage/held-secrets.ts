/**
 * Held cards and their keys, in two tables that the database keeps out of its write-ahead log, and
 * so out of base backups and replicas. They outlive a node; a crash of the database empties them.
 */
import type { HeldRow, HeldStore } from "../vault/held.ts";
import type { Query } from "./database.ts";

export function makeHeldStore(query: Query): HeldStore {
  return {
    async put({ context, sealed, sealedKey, keyId }, expiresAt) {
      await query(putStatement, [context, sealed, sealedKey, keyId, expiresAt]);
    },
    async find(context, now) {
      const [row] = await query<HeldRow>(findStatement, [context, now]);
      return row;
    },
    async remove(context) {
      await query(
        `with gone as (delete from vault.held_keys where context = $1)
         delete from vault.held_secrets where context = $1`,
        [context],
      );
    },
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

/** Before a database is shut down in order, which would write them to its files. */
export async function forgetHeldSecrets(query: Query): Promise<void> {
  await query("truncate vault.held_keys, vault.held_secrets");
}

const putStatement = `
with key as (
  insert into vault.held_keys (context, key_id, sealed, expires_at)
  values ($1, $4, $3, to_timestamp($5::float8 / 1000))
  on conflict (context) do update set key_id = excluded.key_id, sealed = excluded.sealed,
    expires_at = excluded.expires_at
)
insert into vault.held_secrets (context, sealed, expires_at)
values ($1, $2, to_timestamp($5::float8 / 1000))
on conflict (context) do update set sealed = excluded.sealed, expires_at = excluded.expires_at`;

const findStatement = `
select context, secrets.sealed, keys.sealed as "sealedKey", keys.key_id as "keyId"
from vault.held_secrets as secrets join vault.held_keys as keys using (context)
where context = $1 and secrets.expires_at > to_timestamp($2::float8 / 1000)`;
