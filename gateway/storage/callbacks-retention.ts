/** Callbacks that are over for long, and every try of them: merchants' customers stand in these. */
import type { Instant } from "../values/time.ts";
import type { Query } from "./database.ts";

/** Answers how many; nodes that do it at the same time do not wait for each other. */
export async function deleteEndedCallbacks(
  query: Query,
  { before, most }: { readonly before: Instant; readonly most: number },
): Promise<number> {
  return (await query(deleteStatement, [before, most], "delete_callbacks")).length;
}

const deleteStatement = `
with old as materialized (
  select merchant_id, order_id, sequence from callbacks
  where made_at < to_timestamp($1::float8 / 1000) and ended_at < to_timestamp($1::float8 / 1000)
  order by made_at limit $2 for update skip locked
), gone as (
  delete from callbacks using old
  where callbacks.merchant_id = old.merchant_id and callbacks.order_id = old.order_id
    and callbacks.sequence = old.sequence
  returning old.merchant_id, old.order_id, old.sequence
), tries as (
  delete from callback_attempts using gone
  where callback_attempts.merchant_id = gone.merchant_id
    and callback_attempts.order_id = gone.order_id
    and callback_attempts.sequence = gone.sequence
)
select from gone`;
