/**
 * Callbacks that are still to be delivered, and every attempt to deliver them. Few callbacks are
 * open usually, but many after an outage. Therefore every statement is written so that PostgreSQL
 * can only find its rows by their key or by their due time, even with outdated statistics.
 */
import type { AttemptRecord, Callback, CallbackStore } from "../../callbacks/callback.ts";
import type { Order } from "../../orders/order.ts";
import { sequencesPerUrl } from "../../orders/transactions.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell, isHere } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import { type GatherOptions, makeGather, plainArray, textArray } from "../server/gather.ts";
import type { NodeName } from "../server/presence.ts";

type Due = {
  readonly merchant_id: string;
  readonly order_id: string;
  readonly sequence: number;
  /** The time when the callback is due, in seconds since 1970. */
  readonly due: number;
  /** The due time of an earlier open callback to the same URL, or null if there is none. */
  readonly waits: number | null;
};

type Dependencies = {
  readonly query: Query;
  readonly node: NodeName;
  readonly findOrder: (key: Pick<Callback, "merchantId" | "orderId">) => Promise<Order | undefined>;
};

/** How long attempts are gathered before one statement records them. */
const recordGapMs = 50;

/** How many old callbacks one statement deletes: few, so that payments are not delayed. */
const deletedMax = 500;

export function makeCallbackStore(
  { query, node, findOrder }: Dependencies,
  gathered: GatherOptions = {},
): CallbackStore {
  const record = makeGather(
    async (records: readonly AttemptRecord[]) => {
      await query(
        recordStatement,
        [JSON.stringify(records.map(packRecord)), node.name],
        "record_callbacks",
      );
      return records.map(() => undefined);
    },
    { ...gathered, retryAlone: true, gapMs: () => recordGapMs },
  );

  return {
    async claimDue({ now, until, countMax, except }) {
      const saturated = [textArray(except.receivers), plainArray(except.merchants)];
      for (;;) {
        const values = [now, countMax, ...saturated];
        const due = await query<Due>(dueStatement, values, "due_callbacks");
        const waiting = due.filter(({ waits }) => waits !== null);
        const packed = JSON.stringify(waiting);
        if (waiting.length > 0) await query(deferStatement, [packed], "defer_callbacks");
        const first = due.filter(({ waits }) => waits === null);
        if (first.length > 0) return claim(first, until);
        if (waiting.length === 0) return [];
      }
    },
    async waitsForEarlier({ merchantId, orderId, sequence, leaseUntil, url }) {
      const key = [merchantId, orderId, sequence, leaseUntil, url];
      return (await query(waitStatement, key, "defer_callback")).length > 0;
    },
    record,
    async release(callbacks, now) {
      const packed = JSON.stringify(callbacks.map(packKey));
      await query(releaseStatement, [packed, now], "release_callbacks");
    },
    findOrder,
    async deleteEnded(before) {
      return (await query(deleteStatement, [before, deletedMax], "delete_callbacks")).length;
    },
  };

  async function claim(due: readonly Due[], until: Instant): Promise<readonly Callback[]> {
    const values = [JSON.stringify(due), until];
    const claimed = await query<Omit<Callback, "leaseUntil">>(
      claimStatement,
      values,
      "claim_callbacks",
    );
    return claimed.map((callback) => ({ ...callback, leaseUntil: until }));
  }
}

function packKey({ merchantId, orderId, sequence, leaseUntil }: Callback) {
  return { merchant_id: merchantId, order_id: orderId, sequence, lease: leaseUntil };
}

function packRecord({ callback, attempt, decision }: AttemptRecord) {
  const { at, method, url, body, status, failure, durationMs, answer } = attempt;
  return {
    ...packKey(callback),
    at,
    method,
    url,
    body,
    status: status ?? null,
    failure: failure ?? null,
    answer,
    duration_ms: durationMs,
    ended: "ended" in decision ? decision.ended : null,
    due: "dueAt" in decision ? decision.dueAt : null,
    counted: "dueAt" in decision && !decision.isCounted ? 0 : 1,
  };
}

/**
 * The condition that, of two callbacks of an order, `earlier` must be delivered before `later`. It
 * applies to callbacks to the same URL. The order's own URLs, whose callbacks have the lowest
 * sequence numbers, count as one URL.
 */
export const isBefore = (earlier: string, later: string) =>
  `${earlier}.sequence % ${sequencesPerUrl} < ${later}.sequence % ${sequencesPerUrl}
    and (${earlier}.url = ${later}.url
      or greatest(${earlier}.sequence, ${later}.sequence) < ${sequencesPerUrl})`;

/**
 * Finds due callbacks. Of an order's open callbacks to one URL, only the earliest is sent. A later
 * one is found only if the earliest is not due: `waits` is the due time of the earliest, to which
 * the later one is then deferred. The `+ interval '0'` makes PostgreSQL read the callbacks of the
 * order instead of the index of all open callbacks.
 */
export const dueStatement = `
select merchant_id, order_id, sequence, extract(epoch from due_at)::float8 as due,
  (select extract(epoch from max(earlier.due_at + interval '0'))::float8
   from callbacks as earlier
   where earlier.merchant_id = callbacks.merchant_id and earlier.order_id = callbacks.order_id
     and ${isBefore("earlier", "callbacks")} and earlier.ended is null) as waits
from callbacks
where due_at <= to_timestamp($1::float8 / 1000) and ${isHere}
  and merchant_id || ' ' || receiver <> all($3::text[]) and merchant_id <> all($4::bigint[])
  and not exists (
    select from callbacks as earlier
    where earlier.merchant_id = callbacks.merchant_id and earlier.order_id = callbacks.order_id
      and ${isBefore("earlier", "callbacks")} and earlier.ended is null
      and earlier.due_at <= to_timestamp($1::float8 / 1000))
order by due_at limit $2`;

/**
 * A condition that the callback still has the due time that this node has read, because another
 * node may have changed it. No index serves this comparison, so PostgreSQL finds the callback by
 * its key.
 */
const stillDue = `
from json_to_recordset($1::json)
  as found (merchant_id bigint, order_id bigint, sequence int, due float8, waits float8)
where callbacks.merchant_id = found.merchant_id and callbacks.order_id = found.order_id
  and callbacks.sequence = found.sequence and callbacks.ended is null
  and callbacks.due_at is not distinct from to_timestamp(found.due)`;

export const deferStatement = `
update callbacks set due_at = to_timestamp(found.waits) ${stillDue}`;

export const claimStatement = `
with claimed as (
  update callbacks set due_at = to_timestamp($2::float8 / 1000) ${stillDue}
  returning callbacks.merchant_id, callbacks.order_id, callbacks.sequence, serial, url, receiver,
    tries, begun_at
)
select merchant_id as "merchantId", order_id as "orderId", sequence, serial as "serialNumber", url,
  receiver, tries, (extract(epoch from begun_at) * 1000)::float8 as "begunAt" from claimed`;

export const releaseStatement = `
update callbacks set due_at = to_timestamp($2::float8 / 1000)
from json_to_recordset($1::json)
  as held (merchant_id bigint, order_id bigint, sequence int, lease float8)
where callbacks.merchant_id = held.merchant_id and callbacks.order_id = held.order_id
  and callbacks.sequence = held.sequence and callbacks.ended is null
  and callbacks.due_at is not distinct from to_timestamp(held.lease / 1000)
  and ${assertHomeCell(`in (
    select (owner ->> 'merchant_id')::bigint from json_array_elements($1::json) as owner)`)}`;

/**
 * Defers a callback to the due time of an earlier open callback to the same URL, unless another
 * node or the operator has changed the due time of the later one. The lock on the earlier callback
 * makes this statement wait while a node records that callback's end. Otherwise the later callback
 * could stay deferred.
 */
export const waitStatement = `
with open as (
  select earlier.due_at from callbacks as earlier
  join (values ($3::int, $5::text)) as own(sequence, url) on ${isBefore("earlier", "own")}
  where merchant_id = $1 and order_id = $2 and ended is null
    and ${assertHomeCell("= $1")} for share of earlier
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
 * Records attempts. When a callback ends, the order's next callback to the same URL becomes due.
 * When an attempt fails, the next callback is deferred to the time of the retry. A next callback
 * that has an attempt in the same batch is left out, because a statement can update a row only
 * once. An always true condition on `sequence`, and a comparison of due times that no index serves,
 * make PostgreSQL find each callback by its key instead of reading all open callbacks.
 */
export const recordStatement = `
with attempted as materialized (
  select * from json_to_recordset($1::json) as attempted (
    merchant_id bigint, order_id bigint, sequence int, lease float8, at float8, method text,
    url text, body text, status int, failure text, duration_ms int, answer text, ended text,
    due float8, counted int)
  where coalesce(sequence, 0) = sequence
), kept as (
  insert into callback_attempts (merchant_id, order_id, sequence, at, node, method, url, body,
    status, failure, duration_ms, answer)
  select merchant_id, order_id, sequence, to_timestamp(at / 1000), $2, method, url, body,
    status, failure, duration_ms, answer from attempted
  where ${assertHomeCell("in (select merchant_id from attempted)")}
  on conflict do nothing -- an attempt whose record is repeated after a lost connection
), moved as (
  update callbacks set tries = tries + attempted.counted, ended = attempted.ended,
    ended_at = case when attempted.ended is not null then to_timestamp(attempted.at / 1000) end,
    due_at = case when attempted.ended is null then to_timestamp(attempted.due / 1000) end
  from attempted
  where callbacks.merchant_id = attempted.merchant_id and callbacks.order_id = attempted.order_id
    and callbacks.sequence = attempted.sequence and callbacks.ended is null
    and callbacks.due_at is not distinct from to_timestamp(attempted.lease / 1000)
  returning attempted.merchant_id, attempted.order_id, attempted.sequence, callbacks.url,
    attempted.ended, attempted.at, attempted.due
)
update callbacks set due_at = to_timestamp(coalesce(moved.due, moved.at) / 1000),
  begun_at = case when moved.ended is null then begun_at else to_timestamp(moved.at / 1000) end
from moved
where callbacks.merchant_id = moved.merchant_id and callbacks.order_id = moved.order_id
  and ${isBefore("moved", "callbacks")} and callbacks.ended is null
  and not exists (
    select from attempted as own
    where own.merchant_id = callbacks.merchant_id and own.order_id = callbacks.order_id
      and own.sequence = callbacks.sequence)`;

/** Deletes old callbacks, which contain personal data. Skips rows that another node is deleting. */
const deleteStatement = `
with old as materialized (
  select merchant_id, order_id, sequence from callbacks
  where made_at < to_timestamp($1::float8 / 1000) and ended_at < to_timestamp($1::float8 / 1000)
    and ${isHere}
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
