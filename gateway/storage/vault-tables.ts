/**
 * The vault's tables: sealed cards and sealed keys. Nothing here can open what it stores. New cards
 * are written by the statement that begins their order (`commit.ts`).
 */
import type { CardId, MerchantId } from "../values/ids.ts";
import type { KeyStore, SealedKey } from "../vault/keys.ts";
import type { FindSealedCard } from "../vault/vault.ts";
import { plainArray } from "./array-literal.ts";
import type { Query } from "./database.ts";
import { makeGather } from "./gather.ts";

/** Look-ups of the same moment become one statement: captures and returns come in crowds. */
export function makeFindSealedCard(query: Query): FindSealedCard {
  const find = makeGather(
    async (keys: readonly CardKey[]) => {
      const rows = await query<CardRow>(
        cardsStatement,
        [plainArray(keys.map((key) => key.merchantId)), plainArray(keys.map((key) => key.cardId))],
        "find_cards",
      );
      const found = new Map(rows.map((row) => [`${row.merchant_id}/${row.id}`, row]));
      return keys.map(({ merchantId, cardId }) => found.get(`${merchantId}/${cardId}`));
    },
    { batchMax: 256, inFlightMax: 1 },
  );
  return async (merchantId, cardId) => {
    const row = await find({ merchantId, cardId });
    if (row === undefined) return undefined;
    const { key_id: keyId, sealed, fingerprint } = row;
    return { merchantId, cardId, keyId, sealed, fingerprint };
  };
}

type CardKey = { readonly merchantId: MerchantId; readonly cardId: CardId };
type CardRow = {
  readonly merchant_id: string;
  readonly id: string;
  readonly key_id: number;
  readonly sealed: Buffer;
  readonly fingerprint: Buffer;
};

const cardsStatement = `
select cards.merchant_id, cards.id, cards.key_id, cards.sealed, cards.fingerprint
from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
join vault.cards on cards.merchant_id = wanted.merchant_id and cards.id = wanted.id`;

export function makeKeyStore(query: Query): KeyStore {
  return {
    list: () =>
      query<SealedKey>(
        `select id, purpose, sealed, retired_at is not null as retired from vault.keys
         where destroyed_at is null order by id`,
      ),
    async add(purpose, sealed) {
      await query(
        "insert into vault.keys (purpose, sealed) values ($1, $2) on conflict do nothing",
        [purpose, sealed],
      );
    },
  };
}
