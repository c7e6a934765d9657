/** The vault's tables: sealed cards and sealed keys. Nothing here can open what it stores. */
import type { CardStore, FindSealedCard, KeyStore, SealedCard, StoreCard } from "../vault/vault.ts";
import { bytesArray, plainArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";
import { tryAgain } from "./try-again.ts";

export type CardStoreOptions = GatherOptions & {
  /** For how long a card is tried again while the database is away: as long as its order is. */
  readonly storeTriesMs?: number;
};

export function makeCardStore(hot: Query, options: CardStoreOptions): CardStore {
  return {
    store: makeStoreCard(hot, options),
    find: makeFindSealedCard(hot),
    async forget(merchantId, cardId) {
      await hot("delete from vault.cards where merchant_id = $1 and id = $2", [merchantId, cardId]);
    },
  };
}

function makeStoreCard(query: Query, options: CardStoreOptions): StoreCard {
  return makeGather(async (cards: readonly SealedCard[]) => {
    const values = [
      plainArray(cards.map((card) => card.merchantId)),
      plainArray(cards.map((card) => card.cardId)),
      plainArray(cards.map((card) => card.keyId)),
      bytesArray(cards.map((card) => card.sealed)),
      bytesArray(cards.map((card) => card.fingerprint)),
    ];
    await tryAgain(() => query(storeStatement, values, "store_cards"), options.storeTriesMs ?? 0);
    return cards.map(() => undefined);
  }, options);
}

const storeStatement = `
insert into vault.cards (merchant_id, id, key_id, sealed, fingerprint)
select * from unnest($1::bigint[], $2::bigint[], $3::int[], $4::bytea[], $5::bytea[])
on conflict do nothing`;

function makeFindSealedCard(query: Query): FindSealedCard {
  return async (merchantId, cardId) => {
    const [row] = await query<{ key_id: number; sealed: Buffer; fingerprint: Buffer }>(
      `select key_id, sealed, fingerprint from vault.cards where merchant_id = $1 and id = $2`,
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
