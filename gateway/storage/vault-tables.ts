/**
 * The vault's tables: sealed cards and sealed keys. Nothing here can open what it stores. New cards
 * are written by the statement that begins their order (`commit.ts`).
 */
import type { FindSealedCard, KeyStore } from "../vault/vault.ts";
import type { Query } from "./database.ts";

export function makeFindSealedCard(query: Query): FindSealedCard {
  return async (merchantId, cardId) => {
    const [row] = await query<{ key_id: number; sealed: Buffer; fingerprint: Buffer }>(
      "select key_id, sealed, fingerprint from vault.cards where merchant_id = $1 and id = $2",
      [merchantId, cardId],
      "find_card",
    );
    if (row === undefined) return undefined;
    const { key_id: keyId, sealed, fingerprint } = row;
    return { merchantId, cardId, keyId, sealed, fingerprint };
  };
}

export function makeKeyStore(query: Query): KeyStore {
  return {
    async list() {
      const rows = await query<{ id: number; purpose: string; sealed: Buffer; retired: boolean }>(
        "select id, purpose, sealed, retired_at is not null as retired from vault.keys order by id",
      );
      return rows;
    },
    async add(purpose, sealed) {
      await query(
        "insert into vault.keys (purpose, sealed) values ($1, $2) on conflict do nothing",
        [purpose, sealed],
      );
    },
  };
}
