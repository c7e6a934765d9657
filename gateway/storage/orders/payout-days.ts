/**
 * How much each endpoint has paid out on a day, and how many payouts each card has received. One
 * database transaction adds a payout to all its counts, or to none if a bound would be exceeded, so
 * that concurrent payouts, at any node, never exceed a bound together.
 */
import type { PayoutCount, PayoutDays } from "../../screening/payout-bounds.ts";
import type { MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell } from "../cells/cells.ts";
import type { Database, Query } from "../server/database.ts";
import { plainArray } from "../server/gather.ts";

export function makePayoutDays({ query, transaction }: Pick<Database, "query" | "transaction">) {
  return {
    /** Returns the bounds that the payout would exceed, by key. If there is one, counts nothing. */
    add: (merchant: MerchantId, counts: readonly PayoutCount[]) =>
      transaction(async (change) => {
        const added = await change<{ readonly key: string }>(addStatement, [
          ...[merchant, plainArray(counts.map(({ key }) => key))],
          plainArray(counts.map(({ most }) => most)),
          plainArray(counts.map(({ adds }) => adds)),
          plainArray(counts.map(({ keepUntil }) => keepUntil)),
        ]);
        const keys = new Set(added.map(({ key }) => key));
        const full = counts.filter(({ key }) => !keys.has(key)).map(({ key }) => key);
        if (full.length > 0) await change("rollback");
        return full;
      }),

    async remove(merchant: MerchantId, counts: readonly PayoutCount[]): Promise<void> {
      const keys = plainArray(counts.map(({ key }) => key));
      const adds = plainArray(counts.map(({ adds: each }) => each));
      await query(removeStatement, [merchant, keys, adds]);
    },
  } satisfies PayoutDays;
}

// Rows are locked in the order of their keys, so that two payouts never wait for each other's rows.
const addStatement = `
insert into payout_days as known (merchant_id, key, counted, keep_until)
select $1::bigint, key, adds, keep_until
from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[])
  as source(key, most, adds, keep_until)
where adds <= most and ${assertHomeCell("= $1::bigint")}
order by key
on conflict (merchant_id, key) do update set counted = known.counted + excluded.counted
  where known.counted + excluded.counted <= (
    select most from unnest($2::uuid[], $3::bigint[]) as bound(key, most)
    where bound.key = known.key)
returning key`;

const removeStatement = `
update payout_days as known set counted = known.counted - adds
from unnest($2::uuid[], $3::bigint[]) as source(key, adds)
where known.merchant_id = $1::bigint and known.key = source.key
  and ${assertHomeCell("= $1::bigint")}`;

export async function deletePayoutDays(query: Query, now: Instant): Promise<void> {
  await query("delete from payout_days where keep_until < $1::bigint", [now]);
}
