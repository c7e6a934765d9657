/**
 * The life of the vault's keys: the next one is made, what older ones sealed is read and written
 * anew in pages while nodes go on, and a key that seals nothing any more is destroyed. Nodes are
 * told of every change as they are of the configuration's.
 */
import { asCardId, asMerchantId } from "../values/ids.ts";
import type { SealedKey } from "../vault/keys.ts";
import type { RotationStore } from "../vault/rotate-keys.ts";
import { bytesArray, plainArray } from "./array-literal.ts";
import { configurationChannel, controlKeyContext } from "./configuration.ts";
import type { Database, Query } from "./database.ts";
import { walletKeyContext } from "./wallet-keys.ts";

export function makeKeyLife(database: Database): RotationStore {
  const { query } = database;
  return {
    replace: (next) =>
      database.transaction(async (inside) => {
        for (const { purpose, sealed } of next) {
          await inside(retireStatement, [purpose]);
          await inside("insert into vault.keys (purpose, sealed) values ($1, $2)", [
            purpose,
            sealed,
          ]);
        }
        await tellNodes(inside);
      }),

    async countCards(keyIds) {
      const [row] = await query<{ count: number }>(
        "select count(*)::int as count from vault.cards where key_id = any($1)",
        [keyIds],
      );
      return row?.count ?? 0;
    },

    async listCards(keyId, after, limit) {
      const rows = await query<CardRow>(pageStatement, [
        keyId,
        after?.merchantId ?? "-1",
        after?.cardId ?? "-1",
        limit,
      ]);
      return rows.map(({ merchant_id, id, ...row }) => ({
        merchantId: asMerchantId(merchant_id),
        cardId: asCardId(id),
        keyId,
        ...row,
      }));
    },

    async resealCards(from, cards) {
      const rows = await query(resealStatement, [
        from,
        plainArray(cards.map((card) => card.merchantId)),
        plainArray(cards.map((card) => card.cardId)),
        plainArray(cards.map((card) => card.keyId)),
        bytesArray(cards.map((card) => card.sealed)),
      ]);
      return rows.length;
    },

    ...makeForSecrets(query),
    ...makeForDestroying(database),
  };
}

/** Every key in the database is sealed anew, or none is. */
export async function rewrapKeys(
  database: Database,
  rewrap: (key: SealedKey) => Uint8Array,
): Promise<number> {
  const count = await database.transaction(async (query) => {
    await query("lock table vault.keys in share row exclusive mode");
    const keys = await query<SealedKey>(
      "select id, purpose, sealed from vault.keys where destroyed_at is null order by id",
    );
    for (const key of keys) {
      await query("update vault.keys set sealed = $2 where id = $1", [key.id, rewrap(key)]);
    }
    return keys.length;
  });
  await clearAway(database);
  return count;
}

export type ListedKey = {
  readonly id: number;
  readonly purpose: string;
  readonly createdAt: string;
  readonly retiredAt: string | null;
  readonly destroyedAt: string | null;
  readonly cards: number;
};

export function listKeys(query: Query): Promise<readonly ListedKey[]> {
  const form = "'YYYY-MM-DD HH24:MI:SS'";
  return query<ListedKey>(
    `select id, purpose, coalesce(sealing.cards, 0)::int as cards,
       to_char(created_at at time zone 'UTC', ${form}) as "createdAt",
       to_char(retired_at at time zone 'UTC', ${form}) as "retiredAt",
       to_char(destroyed_at at time zone 'UTC', ${form}) as "destroyedAt"
     from vault.keys left join (
       select key_id, count(*) as cards from vault.cards group by key_id
     ) as sealing on sealing.key_id = keys.id
     order by id`,
  );
}

/** One rotation at a time; nothing when another is under way. The lock ends with its connection. */
export async function takeRotationLock(
  database: Database,
): Promise<{ release(): Promise<void> } | undefined> {
  const client = await database.connect();
  const { rows } = await client.query("select pg_try_advisory_lock(8585, 0) as got");
  if (rows[0]?.got === true) return { release: () => client.end() };
  await client.end();
  return undefined;
}

/** Control keys of merchants, and the keys of their wallets: whose context says which it is. */
function makeForSecrets(query: Query): Pick<RotationStore, "listSecrets" | "resealSecret"> {
  return {
    async listSecrets() {
      const merchants = await query<{ login: string; sealed: Buffer }>(
        "select login, control_key as sealed from merchants order by id",
      );
      const wallets = await query<WalletKeyRow>(
        `select id, merchant_id, wallet, sealed from vault.wallet_keys
         where removed_at is null order by id`,
      );
      return [
        ...merchants.map(({ login, sealed }) => {
          return { id: login, context: controlKeyContext(login), sealed };
        }),
        ...wallets.map(({ id, merchant_id, wallet, sealed }) => {
          return { id, context: walletKeyContext(merchant_id, wallet), sealed };
        }),
      ];
    },
    async resealSecret({ id, context, sealed }, anew) {
      const isWallets = context.startsWith("wallet-key/");
      await query(isWallets ? resealWalletKey : resealControlKey, [id, sealed, anew]);
    },
  };
}

type WalletKeyRow = {
  readonly id: string;
  readonly merchant_id: string;
  readonly wallet: string;
  readonly sealed: Buffer;
};

const resealControlKey =
  "update merchants set control_key = $3 where login = $1 and control_key = $2";
const resealWalletKey =
  "update vault.wallet_keys set sealed = $3 where id = $1::bigint and sealed = $2";

function makeForDestroying(database: Database): Pick<RotationStore, "graceLeftMs" | "destroy"> {
  return {
    async graceLeftMs(keyIds, graceMs) {
      const [row] = await database.query<{ left: number | null }>(
        `select (extract(epoch from max(retired_at) - now()) * 1000 + $2)::float8 as left
         from vault.keys where id = any($1)`,
        [keyIds, graceMs],
      );
      return Math.max(0, Math.ceil(row?.left ?? 0));
    },

    async destroy(keyId) {
      const destroyed = await database.transaction(async (query) => {
        // Whoever writes a card with this key right now is waited for, and whoever comes later
        // finds it destroyed.
        await query("select pg_advisory_xact_lock(8584, $1)", [keyId]);
        const rows = await query(
          `update vault.keys set sealed = null, destroyed_at = now()
           where id = $1 and retired_at is not null and destroyed_at is null
             and not exists (select from vault.cards where key_id = $1)
           returning id`,
          [keyId],
        );
        await tellNodes(query);
        return rows.length > 0;
      });
      if (destroyed) await clearAway(database);
      return destroyed ? "destroyed" : "in_use";
    },
  };
}

/** The earlier version of a changed row still has its bytes, until it is cleared away. */
async function clearAway({ query }: Database): Promise<void> {
  await query("vacuum vault.keys");
}

async function tellNodes(query: Query): Promise<void> {
  await query("select pg_notify($1, '')", [configurationChannel]);
}

type CardRow = {
  readonly merchant_id: string;
  readonly id: string;
  readonly sealed: Buffer;
  readonly fingerprint: Buffer;
};

const retireStatement =
  "update vault.keys set retired_at = now() where purpose = $1 and retired_at is null";

const pageStatement = `
select merchant_id, id, sealed, fingerprint from vault.cards
where key_id = $1 and (merchant_id, id) > ($2::bigint, $3::bigint)
order by merchant_id, id limit $4`;

const resealStatement = `
update vault.cards set key_id = source.key_id, sealed = source.sealed
from unnest($2::bigint[], $3::bigint[], $4::int[], $5::bytea[])
  as source(merchant_id, id, key_id, sealed)
where cards.merchant_id = source.merchant_id and cards.id = source.id and cards.key_id = $1
returning cards.id`;
