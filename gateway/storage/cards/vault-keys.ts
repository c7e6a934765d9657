/**
 * The table of the vault's keys, and the rotation of keys: a new key is added, cards and secrets
 * are sealed with it page by page while nodes work, and the old key, which seals nothing any more,
 * is destroyed. Nodes are notified of every change of the table.
 */
import type { KeyStore, SealedKey } from "../../vault/keys.ts";
import type { CvvKeyRow, CvvKeyStore } from "../../vault/request-digests.ts";
import type { RotationStore } from "../../vault/rotate-keys.ts";
import type { SealedCard } from "../../vault/vault.ts";
import { type Cells, cellContext } from "../cells/cells.ts";
import { controlKeyContext, notifyNodes } from "../configuration/configuration.ts";
import { auditKeyContext } from "../people/audit.ts";
import { totpContext } from "../people/second-factors.ts";
import type { Database, Query } from "../server/database.ts";
import { bytesArray, plainArray, textArray } from "../server/gather.ts";
import { closeCardKey, listCardKeys, lockUsableKeys } from "./card-keys.ts";
import { vacuumPendingCards } from "./cards.ts";
import { macKeyContext, zoneKeyContext } from "./mac-keys.ts";
import { walletKeyContext } from "./wallets.ts";

export function makeKeyStore(query: Query): KeyStore {
  return {
    list: () =>
      query<SealedKey>(
        `select id, purpose, sealed, retired_at is not null as retired from vault.keys
         where destroyed_at is null order by retired_at nulls last, created_at`,
      ),
    async add({ id, purpose, sealed }) {
      await query(`${insertKey} on conflict do nothing`, [id, purpose, sealed]);
    },
  };
}

const insertKey = "insert into vault.keys (id, purpose, sealed) values ($1, $2, $3)";

type ListedVaultKey = {
  readonly id: number;
  readonly purpose: string;
  readonly createdAt: string;
  readonly retiredAt: string | null;
  readonly destroyedAt: string | null;
  readonly cards: number;
};

export async function listKeys(
  { query }: Database,
  cells: readonly Database[],
): Promise<readonly ListedVaultKey[]> {
  const printed = (column: string) =>
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`;
  const keys = await query<Omit<ListedVaultKey, "cards">>(
    `select id, purpose,
       ${printed("created_at")} as "createdAt", ${printed("retired_at")} as "retiredAt",
       ${printed("destroyed_at")} as "destroyedAt"
     from vault.keys where not ${isOldPending} order by created_at, purpose, id`,
  );
  const cards = new Map<number, number>();
  for (const cell of cells) {
    const counts = await cell.query<{ id: number; count: number }>(
      "select key_id as id, count(*)::int as count from cards group by key_id",
    );
    for (const { id, count } of counts) cards.set(id, (cards.get(id) ?? 0) + count);
  }
  return keys.map((key) => ({ ...key, cards: cards.get(key.id) ?? 0 }));
}

/**
 * Returns the age of the current keys in days, by purpose. The key-encryption key is not in the
 * database: its age counts from its last change or, if it never changed, from the oldest key.
 */
export async function listKeyAges(query: Query): Promise<ReadonlyMap<string, number>> {
  const days = (since: string) => `floor(extract(epoch from now() - ${since}) / 86400)::int`;
  const rows = await query<{ purpose: string; days: number }>(
    `select purpose, ${days("created_at")} as days from vault.keys where retired_at is null
     union all select 'key-encryption', ${days(`coalesce(
       (select max(at) from audit
        where action = 'key rewrap ended' and starts_with(after ->> 'outcome', 'done')),
       (select min(created_at) from vault.keys))`)}
     order by 1`,
  );
  return new Map(rows.map((row) => [row.purpose, row.days]));
}

/**
 * The condition for destroyed keys of pending card data, which lists omit: each day has a new key.
 */
const isOldPending =
  "coalesce(purpose = 'held' and destroyed_at < now() - interval '30 days', false)";

/**
 * Returns whether the key of pending card data is a day old and must be replaced. It is not
 * replaced on the day after a change of the key-encryption key, because a node with the old
 * key-encryption key could not open a new key.
 */
export async function isPendingKeyDue(vault: Query, node: Query): Promise<boolean> {
  const day = "now() - interval '1 day'";
  const [key] = await vault(
    `select from vault.keys where purpose = 'held' and retired_at is null and created_at < ${day}`,
  );
  if (key === undefined) return false;
  const wrapped = `select from audit where action = 'key rewrap' and at > ${day} limit 1`;
  return (await node(wrapped)).length === 0;
}

/** Returns undefined while another rotation holds the lock. The lock ends with its connection. */
export async function takeRotationLock(database: Database) {
  const client = await database.connect();
  const { rows } = await client.query("select pg_try_advisory_lock(8585, 0) as got");
  if (rows[0]?.got === true) return { release: () => client.end() };
  await client.end();
  return undefined;
}

/** Makes the operations that replace the key of pending card data in all cells. */
export function makePendingKeys(vault: Database, node: Pick<Database, "query">, cells: Cells) {
  const vaults = cells.stores((each) => each.vault);
  return {
    isDue: () => isPendingKeyDue(vault.query, node.query),
    takeLock: () => takeRotationLock(vault),
    openStore: () => makeRotationStore(vault, cells.names().map(vaults.of)),
    vacuum: () => vaults.inTurn(vacuumPendingCards),
  };
}

/** Seals all keys of the vault with another key-encryption key, or changes nothing. */
export async function rewrapKeys(
  database: Database,
  rewrap: (key: SealedKey) => Uint8Array,
): Promise<number> {
  const count = await database.transaction(async (query) => {
    await query("lock table vault.keys in share row exclusive mode");
    const keys = await makeKeyStore(query).list();
    for (const key of keys) {
      await query("update vault.keys set sealed = $2 where id = $1", [key.id, rewrap(key)]);
    }
    return keys.length;
  });
  await database.query(vacuumKeys);
  return count;
}

/** Frees the space of old row versions. The disk may contain the bytes of their keys for longer. */
const vacuumKeys = "vacuum vault.keys";

export function makeRotationStore(database: Database, cells: readonly Database[]): RotationStore {
  const { query } = database;
  return {
    replace: (next) =>
      database.transaction(async (inside) => {
        for (const { id, purpose, sealed } of next) {
          await inside(
            "update vault.keys set retired_at = now() where purpose = $1 and retired_at is null",
            [purpose],
          );
          await inside(insertKey, [id, purpose, sealed]);
        }
        await notifyNodes(inside);
      }),

    async graceLeftMs(keyIds, graceMs) {
      const [row] = await query<{ left: number | null }>(
        `select (extract(epoch from max(retired_at) - now()) * 1000 + $2)::float8 as left
         from vault.keys where id = any($1)`,
        [keyIds, graceMs],
      );
      return Math.max(0, Math.ceil(row?.left ?? 0));
    },

    async listOldDigestKeys(keepMs) {
      const rows = await query<{ id: number }>(
        `select id from vault.keys where purpose = 'digests' and destroyed_at is null
           and retired_at < now() - $1::float8 / 1000 * interval '1 second' order by id`,
        [keepMs],
      );
      return rows.map(({ id }) => id);
    },

    async destroy(keyId) {
      const [retired] = await query(
        "select from vault.keys where id = $1 and retired_at is not null",
        [keyId],
      );
      if (retired === undefined) return "in_use";
      for (const cell of cells) if (!(await closeCardKey(cell, keyId))) return "in_use";
      const destroyed = await database.transaction(async (inside) => {
        const rows = await inside(
          `update vault.keys set sealed = null, destroyed_at = now()
           where id = $1 and retired_at is not null and destroyed_at is null
             and not exists (select from cards where key_id = $1)
           returning id`,
          [keyId],
        );
        await notifyNodes(inside);
        return rows.length > 0;
      });
      if (destroyed) await query(vacuumKeys);
      return destroyed ? "destroyed" : "in_use";
    },

    cells: cells.map((cell) => ({
      ...cardsOf(cell),
      ...pendingOf(cell),
    })),
    ...secretsOf(query),
  };
}

type OfCell = RotationStore["cells"][number];

function pendingOf({ query }: Database): Pick<OfCell, "listPending" | "resealPending"> {
  return {
    listPending: (keyId) =>
      query(
        `select context, sealed as "sealedKey", key_id as "keyId" from held_keys
         where key_id = $1`,
        [keyId],
      ),
    async resealPending(from, keys) {
      await query(
        `update held_keys set key_id = source.key_id, sealed = source.sealed
         from unnest($2::text[], $3::int[], $4::bytea[]) as source(context, key_id, sealed)
         where held_keys.context = source.context and held_keys.key_id = $1`,
        [
          from,
          textArray(keys.map(({ context }) => context)),
          plainArray(keys.map(({ keyId }) => keyId)),
          bytesArray(keys.map(({ sealedKey }) => sealedKey)),
        ],
      );
    },
  };
}

function cardsOf({ query }: Database): Pick<OfCell, "countCards" | "listCards" | "resealCards"> {
  return {
    async countCards(keyIds) {
      const [row] = await query<{ count: number }>(
        "select count(*)::int as count from cards where key_id = any($1)",
        [keyIds],
      );
      return row?.count ?? 0;
    },

    listCards: (keyId, after, limit) =>
      query<SealedCard>(
        `select merchant_id as "merchantId", id as "cardId", key_id as "keyId", sealed, fingerprint
         from cards where key_id = $1 and (merchant_id, id) > ($2::bigint, $3::bigint)
         order by merchant_id, id limit $4`,
        [keyId, after?.merchantId ?? "-1", after?.cardId ?? "-1", limit],
      ),

    async resealCards(from, cards) {
      await listCardKeys(query, [...new Set(cards.map((card) => card.keyId))]);
      const rows = await query(
        `with ${lockUsableKeys("$4::int[]")}
         update cards set key_id = source.key_id, sealed = source.sealed
         from unnest($2::bigint[], $3::bigint[], $4::int[], $5::bytea[])
           as source(merchant_id, id, key_id, sealed) join usable on usable.id = source.key_id
         where cards.merchant_id = source.merchant_id and cards.id = source.id
           and cards.key_id = $1
         returning cards.id`,
        [
          from,
          plainArray(cards.map((card) => card.merchantId)),
          plainArray(cards.map((card) => card.cardId)),
          plainArray(cards.map((card) => card.keyId)),
          bytesArray(cards.map((card) => card.sealed)),
        ],
      );
      return rows.length;
    },
  };
}

/**
 * Lists the sealed secrets of the configuration with their contexts, and stores resealed ones: keys
 * of merchants, wallets, gates and the audit, users' secrets, and addresses of cells.
 */
function secretsOf(query: Query): Pick<RotationStore, "listSecrets" | "resealSecret"> {
  return {
    async listSecrets() {
      const merchants = await query<{ id: string; sealed: Buffer }>(
        `select login as id, sealed from merchants, unnest(array[control_key, old_control_key])
           as sealed where sealed is not null order by merchants.id`,
      );
      const wallets = await query<{ id: string; owner: string; wallet: string; sealed: Buffer }>(
        `select id, merchant_id as owner, wallet, sealed from vault.wallet_keys
         where removed_at is null order by id`,
      );
      const gates = await query<{ id: string; owner: string; sealed: Buffer }>(
        "select id, gate_id as owner, sealed from gate_mac_keys order by gate_mac_keys.id",
      );
      const cells = await query<{ id: string; sealed: Buffer }>(
        "select name as id, sealed_url as sealed from cells where sealed_url is not null",
      );
      const zones = await query<{ id: string; sealed: Buffer }>(
        "select gate_id as id, sealed from gate_zone_keys order by gate_id",
      );
      const audit = await query<{ id: string; sealed: Buffer }>(
        "select id::text, sealed from audit_keys order by audit_keys.id",
      );
      const totp = await query<{ id: string; sealed: Buffer }>(
        "select id::text, totp_sealed as sealed from users where totp_sealed is not null",
      );
      return [
        ...totp.map((row) => ({ ...row, context: totpContext(row.id) })),
        ...audit.map((row) => ({ ...row, context: auditKeyContext })),
        ...cells.map((row) => ({ ...row, context: cellContext(row.id) })),
        ...zones.map((row) => ({ ...row, context: zoneKeyContext(row.id) })),
        ...gates.map(({ owner, ...row }) => ({ ...row, context: macKeyContext(owner) })),
        ...merchants.map((row) => ({ ...row, context: controlKeyContext(row.id) })),
        ...wallets.map(({ owner, wallet, ...row }) => {
          return { ...row, context: walletKeyContext(owner, wallet) };
        }),
      ];
    },
    async resealSecret({ id, context, sealed }, anew) {
      const [kind = ""] = context.split("/");
      await query(reseal[kind] ?? "", [id, sealed, anew]);
    },
  };
}

// biome-ignore format: a table
const reseal: Readonly<Record<string, string>> = {
  "control-key": `update merchants set control_key = case control_key when $2 then $3 else control_key end,
    old_control_key = case old_control_key when $2 then $3 else old_control_key end where login = $1`,
  "audit-key":   "update audit_keys set sealed = $3 where id = $1::int and sealed = $2",
  "wallet-key":  "update vault.wallet_keys set sealed = $3 where id = $1::bigint and sealed = $2",
  "totp":        "update users set totp_sealed = $3 where id = $1::bigint and totp_sealed = $2",
  "cell":        "update cells set sealed_url = $3 where name = $1 and sealed_url = $2",
  "zone-key":    "update gate_zone_keys set sealed = $3 where gate_id = $1::bigint and sealed = $2",
  "mac-key":     "update gate_mac_keys set sealed = $3 where id = $1::bigint and sealed = $2",
};

/** Stores the few keys for digests of CVVs, which all nodes share and no backup contains. */
export function makeCvvKeyStore(query: Query): CvvKeyStore {
  return {
    async find(slot) {
      const [row] = await query<CvvKeyRow>(
        `select slot::int as slot, key_id as "keyId", sealed from vault.cvv_keys where slot = $1`,
        [slot],
      );
      return row;
    },

    async add({ slot, keyId, sealed }, expiresAt) {
      await query(
        `insert into vault.cvv_keys (slot, key_id, sealed, expires_at)
         values ($1, $2, $3, to_timestamp($4::float8 / 1000)) on conflict do nothing`,
        [slot, keyId, sealed, expiresAt],
      );
    },

    async removeExpired(now) {
      await query(
        "delete from vault.cvv_keys where expires_at <= to_timestamp($1::float8 / 1000)",
        [now],
      );
    },
  };
}

/** Must precede an orderly shutdown of the database, which would write the keys to its files. */
export async function deleteCvvKeys(query: Query): Promise<void> {
  await query("truncate vault.cvv_keys");
}
