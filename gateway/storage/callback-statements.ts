/**
 * What the database is told of callbacks. Most are over and few are open, but after an outage that
 * may be many: every statement finds its rows by their key or by the time when they are due, and
 * is written so that the planner can find no other way, whatever its statistics say.
 */

/**
 * Of one order only the first that is not over. One whose turn has not come is found too, unless
 * the earlier one is itself due: it is put off, so that not every look stumbles over it. The time
 * is wrapped: bare, its latest would be looked for among all that are open, not by the order.
 */
export const dueStatement = `
select merchant_id, order_id, sequence, extract(epoch from due_at)::float8 as due,
  (select extract(epoch from max(earlier.due_at + interval '0'))::float8
   from callbacks as earlier
   where earlier.merchant_id = callbacks.merchant_id and earlier.order_id = callbacks.order_id
     and earlier.sequence < callbacks.sequence and earlier.ended is null) as waits
from callbacks
where due_at <= to_timestamp($1::float8 / 1000)
  and merchant_id || ' ' || receiver <> all($3::text[]) and merchant_id <> all($4::bigint[])
  and not exists (
    select from callbacks as earlier
    where earlier.merchant_id = callbacks.merchant_id and earlier.order_id = callbacks.order_id
      and earlier.sequence < callbacks.sequence and earlier.ended is null
      and earlier.due_at <= to_timestamp($1::float8 / 1000))
order by due_at limit $2`;

/** Compare-and-set: whoever was faster has moved the time. Wrapped, for the planner's sake. */
const stillDue = `
from json_to_recordset($1::json)
  as found (merchant_id bigint, order_id bigint, sequence int, due float8, waits float8)
where callbacks.merchant_id = found.merchant_id and callbacks.order_id = found.order_id
  and callbacks.sequence = found.sequence and callbacks.ended is null
  and coalesce(abs(extract(epoch from callbacks.due_at) - found.due) < 0.001, false)`;

export const putOffStatement = `
update callbacks set due_at = to_timestamp(found.waits) ${stillDue}`;

export const claimStatement = `
update callbacks set due_at = to_timestamp($2::float8 / 1000) ${stillDue}
returning callbacks.merchant_id, callbacks.order_id, callbacks.sequence, serial, url, receiver,
  tries, (extract(epoch from begun_at) * 1000)::float8 as begun`;

export const releaseStatement = `
update callbacks set due_at = to_timestamp($2::float8 / 1000)
from json_to_recordset($1::json)
  as held (merchant_id bigint, order_id bigint, sequence int, lease float8)
where callbacks.merchant_id = held.merchant_id and callbacks.order_id = held.order_id
  and callbacks.sequence = held.sequence and callbacks.ended is null
  and callbacks.due_at is not distinct from to_timestamp(held.lease / 1000)`;

/**
 * With the earlier one, so that no look stumbles over it meanwhile; unless somebody has moved it
 * since, who knew better how the earlier one went. Whoever is just writing down that the earlier
 * one is over is waited for: he has not seen this one, and would not let it go.
 */
export const waitStatement = `
with open as (
  select due_at from callbacks
  where merchant_id = $1 and order_id = $2 and sequence < $3 and ended is null for share
), earlier as (
  select max(due_at) as due_at from open
), moved as (
  update callbacks set due_at = earlier.due_at from earlier
  where merchant_id = $1 and order_id = $2 and sequence = $3 and ended is null
    and earlier.due_at is not null
    and callbacks.due_at is not distinct from to_timestamp($4::float8 / 1000)
)
select from earlier where due_at is not null`;

/**
 * A callback that is over lets the order's next one go; one that is not takes it along, unless
 * that was tried in this batch too: a row can be written once only. For the planner's sake there is
 * a needless condition, which makes it expect one row, and a comparison that no index knows: so it
 * goes by the key, and does not read all callbacks that are open for each of the batch.
 */
export const recordStatement = `
with told as materialized (
  select * from json_to_recordset($1::json) as told (
    merchant_id bigint, order_id bigint, sequence int, lease float8, at float8, method text,
    url text, body text, status int, failure text, duration_ms int, answer text, ended text,
    due float8, counted int)
  where coalesce(sequence, 0) = sequence
), kept as (
  insert into callback_attempts (merchant_id, order_id, sequence, at, node, method, url, body,
    status, failure, duration_ms, answer)
  select merchant_id, order_id, sequence, to_timestamp(at / 1000), $2, method, url, body,
    status, failure, duration_ms, answer from told
), moved as (
  update callbacks set tries = tries + told.counted, ended = told.ended,
    ended_at = case when told.ended is not null then to_timestamp(told.at / 1000) end,
    due_at = case when told.ended is null then to_timestamp(told.due / 1000) end
  from told
  where callbacks.merchant_id = told.merchant_id and callbacks.order_id = told.order_id
    and callbacks.sequence = told.sequence and callbacks.ended is null
    and callbacks.due_at is not distinct from to_timestamp(told.lease / 1000)
  returning told.merchant_id, told.order_id, told.sequence, told.ended, told.at, told.due
)
update callbacks set due_at = to_timestamp(coalesce(moved.due, moved.at) / 1000),
  begun_at = case when moved.ended is null then begun_at else to_timestamp(moved.at / 1000) end
from moved
where callbacks.merchant_id = moved.merchant_id and callbacks.order_id = moved.order_id
  and callbacks.sequence > moved.sequence and callbacks.ended is null
  and not exists (
    select from told as own
    where own.merchant_id = callbacks.merchant_id and own.order_id = callbacks.order_id
      and own.sequence = callbacks.sequence)`;
