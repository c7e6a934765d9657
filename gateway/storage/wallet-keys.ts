/** The keys that customers' wallets encrypt for. They are the vault's, and sealed by its keys. */
import { createPrivateKey } from "node:crypto";
import { asMerchantId, type MerchantId } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import { asInstant } from "../values/time.ts";
import type { ReadKeys } from "../wallets/live-keys.ts";
import type { Wallet, WalletKey } from "../wallets/wallet-trust.ts";
import { configurationChannel } from "./configuration.ts";
import type { Query } from "./database.ts";

type OpenSecret = (sealed: Uint8Array, context: string) => Secret<string>;
type SealSecret = (secret: Secret<string>, context: string) => Buffer;

/** What may be shown of a key. */
export type ListedKey = {
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly wallet: Wallet;
  /** SPKI, in PEM. */
  readonly publicKey: string;
  readonly certificate: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
};

export async function loadWalletKeys(query: Query, open: OpenSecret): Promise<ReadKeys> {
  const rows = await query<KeyRow>(
    `select id, merchant_id, wallet, sealed, certificate,
       extract(epoch from created_at) * 1000 as created
     from vault.wallet_keys where removed_at is null order by id desc`,
  );
  const keys: WalletKey[] = [];
  const unreadable: { id: string; cause: string }[] = [];
  for (const row of rows) {
    try {
      keys.push(unpackKey(row, open));
    } catch (error) {
      unreadable.push({ id: row.id, cause: String(error) });
    }
  }
  return { keys, unreadable };
}

function unpackKey(row: KeyRow, open: OpenSecret): WalletKey {
  const { id, merchant_id, wallet, sealed, certificate, created } = row;
  return {
    id,
    merchantId: asMerchantId(merchant_id),
    wallet,
    privateKey: createPrivateKey(open(sealed, walletKeyContext(merchant_id, wallet)).reveal()),
    certificate: certificate ?? undefined,
    createdAt: asInstant(Number(created)),
  };
}

export function makeWalletKeyAdministration(query: Query, sealSecret: SealSecret) {
  return {
    async add(key: {
      merchantId: MerchantId;
      wallet: Wallet;
      privateKey: Secret<string>;
      publicKey: string;
    }): Promise<string> {
      const { merchantId, wallet, privateKey, publicKey } = key;
      const sealed = sealSecret(privateKey, walletKeyContext(merchantId, wallet));
      const [row] = await query<{ id: string }>(
        `insert into vault.wallet_keys (merchant_id, wallet, sealed, public_key)
         values ($1, $2, $3, $4) returning id`,
        [merchantId, wallet, sealed, publicKey],
      );
      await notify(query);
      return row?.id ?? "";
    },

    async list(): Promise<readonly ListedKey[]> {
      return query<ListedKey>(
        `select id, merchant_id as "merchantId", wallet, public_key as "publicKey", certificate,
           to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as "createdAt",
           to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD') as "expiresAt"
         from vault.wallet_keys where removed_at is null order by id`,
      );
    },

    async certify(id: string, certificate: string, expiresAt: number): Promise<void> {
      await query(
        `update vault.wallet_keys set certificate = $2,
           expires_at = to_timestamp($3::float8 / 1000) where id = $1`,
        [id, certificate, expiresAt],
      );
      await notify(query);
    },

    /** Its private part goes at once. */
    async remove(id: string): Promise<boolean> {
      const gone = await query(
        `update vault.wallet_keys set removed_at = now(), sealed = ''
         where id = $1 and removed_at is null returning id`,
        [id],
      );
      await notify(query);
      // The earlier version of the row still has it, until it is cleared away.
      if (gone.length > 0) await query("vacuum vault.wallet_keys");
      return gone.length > 0;
    },
  };
}

type KeyRow = {
  readonly id: string;
  readonly merchant_id: string;
  readonly wallet: Wallet;
  readonly sealed: Buffer;
  readonly certificate: string | null;
  readonly created: string;
};

/** What a key is sealed for; the same when it is made, opened and sealed anew. */
export function walletKeyContext(merchantId: string, wallet: string): string {
  return `wallet-key/${merchantId}/${wallet}`;
}

async function notify(query: Query): Promise<void> {
  await query("select pg_notify($1, '')", [configurationChannel]);
}
