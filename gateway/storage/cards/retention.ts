/**
 * The retention of card numbers in one cell. The nodes' ordinary connections find the cards that
 * are due, and only the vault's connections may destroy them.
 */
import type { CardOfMerchant } from "../../engine/cards.ts";
import type { CondemnedCard, RetentionStore } from "../../engine/retention.ts";
import { asOrderId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell } from "../cells/cells.ts";
import { listOrdersAfter, openWith } from "../orders/find-orders.ts";
import type { Database, Query } from "../server/database.ts";
import { textArray } from "../server/gather.ts";
import { cardColumns, makeReferenceStore } from "./cards.ts";

type Databases = {
  readonly node: Pick<Database, "query">;
  readonly vault: Pick<Database, "query">;
};

export function makeRetentionStore({ node, vault }: Databases): RetentionStore {
  const { findRemoved, markDestroyed } = makeReferenceStore(node.query);
  return {
    findRemoved,
    markDestroyed,
    async claimWalk(days, now, since) {
      const [row] = await node.query<{ after: string }>(claimWalk, [days, now, since]);
      return row && asOrderId(row.after);
    },
    async saveWalk(days, from, after) {
      await node.query(
        "update retention_walks set after_id = $3 where days = $1 and after_id = $2",
        [days, from, after],
      );
    },
    async releaseWalk(days) {
      await node.query("update retention_walks set walked_at = to_timestamp(0) where days = $1", [
        days,
      ]);
    },
    async restartWalks(rules, now, since) {
      await node.query(restartWalks, [rules, now, since]);
    },
    listOrders: (after, limit) => listOrdersAfter(node.query, after, limit),
    findReferenced: (cards) => node.query<CardOfMerchant>(referenced, cardColumns(cards)),
    findNeeded: (cards) => node.query<CardOfMerchant>(needed, cardColumns(cards)),
    condemn: (cards, at) => condemnCards(vault.query, cards, at),
    listCondemned: (limit, after) =>
      vault.query<CondemnedCard>(
        `select merchant_id as "merchantId", id as "cardId", why from condemned_cards
         where (merchant_id, id) > ($2::bigint, $3::bigint)
         order by merchant_id, id limit $1`,
        [limit, after?.merchantId ?? "-1", after?.cardId ?? "-1"],
      ),
    async destroy(cards) {
      await vault.query(destroyCards, cardColumns(cards));
    },
  };
}

/** Marks cards that are to be destroyed. The connection must have the vault's rights. */
export async function condemnCards(
  query: Query,
  cards: readonly CondemnedCard[],
  at: Instant,
): Promise<void> {
  await query(
    `insert into condemned_cards (merchant_id, id, why, condemned_at)
     select cards.merchant_id, cards.id, why, to_timestamp($4::float8 / 1000)
     from unnest($1::bigint[], $2::bigint[], $3::text[]) as source(merchant_id, id, why)
     join cards on cards.merchant_id = source.merchant_id and cards.id = source.id
     where ${assertHomeCell("= any($1::bigint[])")}
     on conflict do nothing`,
    [...cardColumns(cards), textArray(cards.map(({ why }) => why)), at],
  );
}

const claimWalk = `
insert into retention_walks as known (days, walked_at)
values ($1, to_timestamp($2::float8 / 1000))
on conflict (days) do update set walked_at = excluded.walked_at
  where known.walked_at <= to_timestamp($3::float8 / 1000)
    or known.walked_at > excluded.walked_at
returning after_id as after`;

/**
 * Restarts the searches for expired cards from the first card if the retention rules have changed.
 * The table has a row for each search, by its days. The row with 0 days has the hash of the rules.
 * Restarts are limited in frequency, because two nodes with different settings would restart the
 * searches again and again.
 */
const restartWalks = `
with changed as (
  insert into retention_walks as known (days, after_id, walked_at)
  values (0, hashtextextended($1::text, 0), to_timestamp($2::float8 / 1000))
  on conflict (days) do update set after_id = excluded.after_id, walked_at = excluded.walked_at
    where known.after_id <> excluded.after_id
      and (known.walked_at <= to_timestamp($3::float8 / 1000)
        or known.walked_at > excluded.walked_at)
  returning days
)
update retention_walks set after_id = 0, walked_at = to_timestamp(0)
where days > 0 and exists (select from changed)`;

const wanted = "unnest($1::bigint[], $2::bigint[]) as wanted(merchant_id, id)";

const referenced = `
select wanted.merchant_id as "merchantId", wanted.id as "cardId" from ${wanted}
where exists (
  select from card_references where card_references.merchant_id = wanted.merchant_id
    and card_references.card_id = wanted.id and removed_at is null
)`;

const needed = `
select wanted.merchant_id as "merchantId", wanted.id as "cardId" from ${wanted}
where exists (${openWith("wanted.merchant_id", "wanted.id")})`;

const destroyCards = `
with done as (
  delete from condemned_cards using ${wanted}
  where condemned_cards.merchant_id = wanted.merchant_id and condemned_cards.id = wanted.id
)
delete from cards using ${wanted}
where cards.merchant_id = wanted.merchant_id and cards.id = wanted.id`;
