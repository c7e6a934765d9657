/**
 * Sealed cards, references to them, and pending card data. Only the vault can open sealed data. The
 * statement that begins an order writes its card (`commit.ts`).
 */
import type {
  CardOfMerchant,
  MerchantReferences,
  NewReferences,
  Registration,
  RemovedReferences,
} from "../../engine/cards.ts";
import {
  type CardReference,
  type CardReferences,
  type Remover,
  referencePurposes,
} from "../../orders/card-reference.ts";
import type { CardId, CardRefId, MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import type {
  FindSealedCard,
  PendingCardRow,
  PendingCardStore,
  StoredSealedCard,
} from "../../vault/vault.ts";
import { assertHomeCell, isHere } from "../cells/cells.ts";
import { openWith } from "../orders/find-orders.ts";
import { besideOthers, type Database, type Query } from "../server/database.ts";
import {
  bytesArray,
  type GatherOptions,
  type KeyedRow,
  makeFindRow,
  makeGather,
  plainArray,
  textArray,
} from "../server/gather.ts";
import { type ConfirmKeys, lockUsableKeys, type RefusedKey, writeUnderKeys } from "./card-keys.ts";

/** Look-ups of the same moment share one statement, because captures come in large numbers. */
export function makeFindSealedCard(query: Query, options: GatherOptions = {}): FindSealedCard {
  const statement = `
    select cards.merchant_id, cards.id, cards.key_id as "keyId", cards.sealed, cards.fingerprint,
      condemned.id is not null as "isCondemned"
    from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
    join cards on cards.merchant_id = wanted.merchant_id and cards.id = wanted.id
    left join condemned_cards as condemned
      on condemned.merchant_id = wanted.merchant_id and condemned.id = wanted.id
    where ${assertHomeCell("= any($1::bigint[])")}`;
  const named = { ...options, statement, name: "find_cards" };
  const find = makeFindRow<SealedCardRow, CardId>(query, named);
  return async (merchantId, cardId) => {
    const row = await find(merchantId, cardId);
    return row && { merchantId, cardId, ...row };
  };
}

type SealedCardRow = KeyedRow &
  Pick<StoredSealedCard, "keyId" | "sealed" | "fingerprint" | "isCondemned">;

export function makeReferenceStore(query: Query): MerchantReferences & RemovedReferences {
  const statement = `
    select references_.merchant_id, references_.id, purpose, endpoint_id as "endpointId",
      order_id as "orderId", facts, version,
      extract(epoch from created_at)::float8 * 1000 as "createdAt",
      extract(epoch from stopped_at)::float8 * 1000 as "stoppedAt",
      extract(epoch from removed_at)::float8 * 1000 as "removedAt", ${remover} as "removedBy"
    from unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)
    join card_references as references_
      on references_.merchant_id = wanted.merchant_id and references_.id = wanted.id
        and purpose <> 'replaced'
    where ${assertHomeCell("= any($1::bigint[])")}`;
  const name = "card_references_by_id";
  const find = makeFindRow<ReferenceRow, CardRefId>(query, { statement, name });

  return {
    async find(merchantId, id) {
      const row = await find(merchantId, id);
      if (row === undefined) return undefined;
      const { facts, stoppedAt, removedAt, removedBy, ...reference } = row;
      const removed = { removedAt: removedAt ?? undefined, removedBy: removedBy ?? undefined };
      return { ...reference, ...facts, merchantId, stoppedAt: stoppedAt ?? undefined, ...removed };
    },

    async add({ merchantId, cardId, endpointId, orderId, facts, at, ids }) {
      await query(
        `insert into card_references
           (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts, created_at)
         select $1, source.id, source.purpose, $2, $3, $4, $5::json,
           to_timestamp($6::float8 / 1000)
         from unnest($7::text[], $8::bigint[]) as source(purpose, id)
         where ${assertHomeCell("= $1")}
         on conflict do nothing`,
        [
          ...[merchantId, cardId, endpointId, orderId, JSON.stringify(facts), at],
          plainArray(referencePurposes),
          plainArray(referencePurposes.map((purpose) => ids[purpose])),
        ],
      );
      // If several requests register a card at once, all get the references of the first request.
      const written = await findByCard(merchantId, cardId);
      if (written === undefined) throw new Error("card references were written and are not there");
      return written.ids;
    },

    findByCard,

    async remove({ merchantId, id }, by, at) {
      let tried: CardId | undefined;
      for (;;) {
        const [named] = await query<{ cardId: CardId }>(
          `select card_id as "cardId" from card_references
           where merchant_id = $1 and id = $2 and ${assertHomeCell("= $1")}`,
          [merchantId, id],
        );
        // If the profile gets another card before the update, the next round removes that card.
        if (named === undefined || named.cardId === tried) return undefined;
        tried = named.cardId;
        const rows = await query(
          `update card_references set removed_at = to_timestamp($3::float8 / 1000), removed_by = $4
           where merchant_id = $1 and card_id = $2 and removed_at is null
             and ${assertHomeCell("= $1")} returning id`,
          [merchantId, tried, at, by],
        );
        if (rows.length > 0) return tried;
      }
    },

    findRemoved: (until) => query<CardOfMerchant>(findRemoved, [until]),

    async markDestroyed(cards, at) {
      await query(
        `update card_references set destroyed_at = to_timestamp($3::float8 / 1000),
           facts = (facts::jsonb - 'profile' - 'updateDigests')::json
         from unnest($1::bigint[], $2::bigint[]) as destroyed(merchant_id, card_id)
         where card_references.merchant_id = destroyed.merchant_id
           and card_references.card_id = destroyed.card_id`,
        [...cardColumns(cards), at],
      );
    },
  };

  async function findByCard(
    merchantId: MerchantId,
    cardId: CardId,
  ): Promise<Registration | undefined> {
    const rows = await query<Pick<ReferenceRow, "id" | "purpose" | "removedBy">>(
      `select id, purpose, ${remover} as "removedBy" from card_references
       where merchant_id = $1 and purpose <> 'replaced' and ${assertHomeCell("= $1")}
         and card_id = coalesce((select named.card_id ${profileOfReplaced("= $2")}), $2)`,
      [merchantId, cardId],
      "card_references_by_card",
    );
    if (rows.length === 0) return undefined;
    const ids = Object.fromEntries(rows.map(({ id, purpose }) => [purpose, id]));
    // One statement writes all references of a card, so the card has one for every purpose.
    const { removedBy } = rows.find((row) => row.removedBy !== null) ?? {};
    return { ids: ids as CardReferences, removedBy: removedBy ?? undefined };
  }
}

type ReferenceRow = Omit<
  CardReference,
  "merchantId" | "stoppedAt" | "removedAt" | "removedBy" | keyof NewReferences["facts"]
> & {
  readonly merchant_id: string;
  readonly facts: NewReferences["facts"];
  readonly stoppedAt: Instant | null;
  readonly removedAt: Instant | null;
  readonly removedBy: Remover | null;
};

/** A `from` clause that finds the profiles that had one of the cards before it was replaced. */
export const profileOfReplaced = (cards: string) => `
  from card_references as replaced join card_references as named
    on named.merchant_id = replaced.merchant_id and named.id = (replaced.facts ->> 'id')::bigint
  where replaced.merchant_id = $1 and replaced.card_id ${cards} and replaced.purpose = 'replaced'`;

const remover = "case when removed_at is not null then coalesce(removed_by, 'operator') end";

/**
 * Finds cards that are to be destroyed because their references were removed, except cards of
 * orders in flight or in doubt, which may have to be sent again.
 */
const findRemoved = `
select merchant_id as "merchantId", card_id as "cardId" from card_references as removed
where removed_at <= to_timestamp($1::float8 / 1000) and destroyed_at is null
  and ${isHere} and not exists (${openWith("removed.merchant_id", "removed.card_id")})
group by merchant_id, card_id order by min(removed_at) limit 100`;

export function cardColumns(cards: readonly CardOfMerchant[]) {
  return [
    plainArray(cards.map(({ merchantId }) => merchantId)),
    plainArray(cards.map(({ cardId }) => cardId)),
  ];
}

/**
 * Stores pending card data and its keys in tables that the database excludes from its write-ahead
 * log, and therefore from base backups and replicas. A crash of the database empties them.
 */
export function makePendingCardStore(
  query: Query,
  options: GatherOptions & ConfirmKeys = {},
): PendingCardStore {
  const put = makeGather(async (items: readonly Put[]) => {
    // A statement can write a row only once, so only the last item of each order is written.
    const latest = [...new Map(items.map((item) => [item.row.context, item])).values()];
    const columns = [
      textArray(latest.map(({ row }) => row.context)),
      bytesArray(latest.map(({ row }) => row.sealed)),
      bytesArray(latest.map(({ row }) => row.sealedKey)),
      plainArray(latest.map(({ row }) => row.keyId)),
      plainArray(latest.map(({ expiresAt }) => expiresAt)),
    ];
    const write = () => query<RefusedKey>(putPending, columns, "put_pending_cards");
    await writeUnderKeys(query, options, write);
    return items.map(() => undefined);
  }, options);
  const find = makeGather(async (wanted: readonly Wanted[]) => {
    const contexts = textArray(wanted.map(({ context }) => context));
    const now = Math.min(...wanted.map((each) => each.now));
    const rows = await query<PendingCardRow>(findPending, [contexts, now], "find_pending_cards");
    const found = new Map(rows.map((row) => [row.context, row]));
    return wanted.map(({ context }) => found.get(context));
  }, options);
  const remove = makeGather(async (contexts: readonly string[]) => {
    const statement = deletePending(`context = any($1::text[]) and ${assertOwnersHomeCell}`);
    await query(statement, [textArray(contexts)], "remove_pending_cards");
    return contexts.map(() => undefined);
  }, options);

  return {
    put: (row, expiresAt) => put({ row, expiresAt }),
    find: (context, now) => find({ context, now }),
    remove,
    async removeExpired(now) {
      const expired = "expires_at <= to_timestamp($1::float8 / 1000)";
      return (await query(`${deletePending(expired)} returning context`, [now])).length;
    },
  };
}

type Wanted = { readonly context: string; readonly now: Instant };
type Put = { readonly row: PendingCardRow; readonly expiresAt: Instant };

/** Must precede an orderly shutdown of the database, which would write the data to its files. */
export async function deletePendingCards(query: Query): Promise<void> {
  await query("truncate held_keys, held_secrets");
}

/**
 * Frees the space of deleted rows, so that an empty table leaves no page in its file. Only a
 * table's owner may do that, so the connection drops the vault's role. Any other login gets a
 * warning from PostgreSQL.
 */
export async function vacuumPendingCards({ connect }: Pick<Database, "connect">): Promise<void> {
  const client = await connect();
  try {
    await client.query("set role none");
    await client.query("vacuum (skip_locked) held_keys, held_secrets");
  } finally {
    await client.end();
  }
}

/**
 * The condition that the merchants of the given contexts live in this cell. The context of pending
 * card data begins with the merchant's id.
 */
const assertOwnersHomeCell = assertHomeCell(
  "in (select split_part(owner, '/', 1)::bigint from unnest($1::text[]) as owner)",
);

const putPending = `
with source as (
  select context, sealed, sealed_key, key_id, to_timestamp(expires / 1000) as expires_at
  from unnest($1::text[], $2::bytea[], $3::bytea[], $4::integer[], $5::float8[])
    as source (context, sealed, sealed_key, key_id, expires)
), ${lockUsableKeys("$4::integer[]")}, refused as (
  select distinct key_id from source where key_id not in (select id from usable)
), key as (
  insert into held_keys (context, key_id, sealed, expires_at)
  select context, key_id, sealed_key, expires_at from source
  where not exists (select from refused) and ${assertOwnersHomeCell}
  on conflict (context) do update set key_id = excluded.key_id, sealed = excluded.sealed,
    expires_at = excluded.expires_at
), secret as (
  insert into held_secrets (context, sealed, expires_at)
  select context, sealed, expires_at from source
  where not exists (select from refused) and ${besideOthers}
  on conflict (context) do update set sealed = excluded.sealed, expires_at = excluded.expires_at
)
select key_id as "refusedKey" from refused`;

const deletePending = (condition: string) => `
with key as (delete from held_keys where ${condition})
delete from held_secrets where ${condition}`;

const findPending = `
select context, secrets.sealed, keys.sealed as "sealedKey", keys.key_id as "keyId"
from held_secrets as secrets join held_keys as keys using (context)
where context = any($1::text[]) and secrets.expires_at > to_timestamp($2::float8 / 1000)
  and ${assertOwnersHomeCell}`;
