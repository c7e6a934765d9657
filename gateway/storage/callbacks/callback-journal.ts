/** Lists callbacks and their attempts for the operator, and sends callbacks again. */
import type {
  CallbackQuery,
  CallbackWindow,
  DeliveryFilter,
  DeliveryKey,
  DeliveryState,
  ResentCount,
  StoredAttempt,
  StoredCallback,
} from "../../portal-api/reads.ts";
import type { Instant } from "../../values/time.ts";
import { isHere } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import { isBefore } from "./callbacks.ts";

export type CallbackEntry = {
  readonly order: string;
  readonly sequence: number;
  readonly serial: string;
  readonly url: string;
  readonly state: DeliveryState;
  readonly tries: number;
  readonly made: Instant;
  readonly next: Instant | null;
  readonly ended: Instant | null;
};

export function findCallbacks(query: Query, filter: DeliveryFilter, most: number) {
  return query<CallbackEntry>(
    `select order_id as order, sequence, serial, url, coalesce(ended, 'due') as state, tries,
       ${milliseconds("made_at")} as made, ${milliseconds("due_at")} as next,
       ${milliseconds("ended_at")} as ended
     from callbacks where ${filteredRows} order by made_at desc, order_id, sequence desc limit $9`,
    [...valuesOf(filter), most],
  );
}

export function findAttempts(query: Query, { merchantId, orderId, sequence }: DeliveryFilter) {
  return query<StoredAttempt>(
    `select sequence, ${milliseconds("at")} as at, node, method, url, body, status, failure,
       duration_ms as ms, answer
     from callback_attempts
     where merchant_id = $1 and order_id = $2 and ($3::int is null or sequence = $3)
     order by sequence, at`,
    [merchantId, orderId, sequence ?? null],
  );
}

type Resending = {
  readonly now: Instant;
  readonly by: string;
  readonly most?: number | undefined;
};

/**
 * Makes the matching callbacks due, the oldest first and at most `most`, and resets their counts of
 * attempts. An earlier open callback of the same order to the same URL must be delivered first: it
 * becomes due too and is returned with `asked: false`.
 */
export function resendCallbacks(
  query: Query,
  filter: DeliveryFilter,
  { now, by, most }: Resending,
) {
  return query<Pick<CallbackEntry, "order" | "sequence"> & { readonly asked: boolean }>(
    `with chosen as materialized (
       select merchant_id, order_id, sequence, url from callbacks where ${filteredRows}
       order by made_at limit $10
     ), wanted as (
       select merchant_id, order_id, sequence, true as asked from chosen
       union
       select earlier.merchant_id, earlier.order_id, earlier.sequence, false
       from callbacks as earlier join chosen using (merchant_id, order_id)
       where ${isBefore("earlier", "chosen")} and earlier.ended is null
         and (merchant_id, order_id, earlier.sequence) not in
           (select merchant_id, order_id, sequence from chosen)
     )
     update callbacks set ended = null, ended_at = null, tries = 0,
       begun_at = to_timestamp($9::float8 / 1000), due_at = to_timestamp($9::float8 / 1000),
       resent_at = to_timestamp($9::float8 / 1000), resent_by = $11
     from wanted
     where callbacks.merchant_id = wanted.merchant_id and callbacks.order_id = wanted.order_id
       and callbacks.sequence = wanted.sequence
     returning callbacks.order_id as order, callbacks.sequence, asked`,
    [...valuesOf(filter), now, most ?? null, by],
  );
}

/** Sends callbacks again, one cell after the other, and at most `most` in all cells together. */
export function makeResend(filter: DeliveryFilter, { most, ...resending }: Resending) {
  if (most === undefined) return (query: Query) => resendCallbacks(query, filter, resending);
  let left = most;
  let turn: Promise<unknown> = Promise.resolve();
  return (query: Query): ReturnType<typeof resendCallbacks> => {
    const sent = turn.then(async () => {
      const resent =
        left === 0 ? [] : await resendCallbacks(query, filter, { ...resending, most: left });
      left -= resent.filter(({ asked }) => asked).length;
      return resent;
    });
    turn = sent.catch(() => undefined);
    return sent;
  };
}

/**
 * Finds a page of callbacks for the portal, the latest first. The search examines at most `most`
 * rows, because filters by receiver, state and endpoint have no index, which each payment would
 * have to maintain.
 */
export async function findCallbackPage(
  query: Query,
  { after, limit, ...filter }: CallbackQuery,
  most: number,
): Promise<CallbackWindow> {
  const values = valuesOf(filter);
  const range = [...values.slice(0, 5), after?.at, after?.orderId, after?.sequence];
  const looked = `from callbacks
     where ${rangeRows} and ${isHere}
       and ($6::float8 is null or (made_at, order_id, sequence) <
         (to_timestamp($6::float8 / 1000), $7::bigint, $8::int))
     order by made_at desc, order_id desc, sequence desc`;
  const rows = await query<StoredCallback>(
    `select merchant_id as "merchantId", order_id as "orderId", sequence, url,
       coalesce(ended, 'due') as state, tries, ${milliseconds("made_at")} as "madeAt",
       ${milliseconds("due_at")} as "nextAt", ${milliseconds("ended_at")} as "endedAt",
       ${milliseconds("resent_at")} as "resentAt", resent_by as "resentBy",
       last.status as "lastStatus", last.failure as "lastFailure"
     from (
       select * from (select * ${looked} limit $12) as callbacks
       where ${otherRows(9)} order by made_at desc, order_id desc, sequence desc limit $13
     ) as page left join lateral (${lastAttempt}) as last on true
     order by made_at desc, order_id desc, sequence desc`,
    [...range, ...values.slice(5), most, limit].map((value) => value ?? null),
  );
  const isWhole = values.slice(5).every((value) => value === null) || rows.length === limit;
  if (isWhole) return { rows, end: undefined };
  const [end] = await query<DeliveryKey>(
    `select ${milliseconds("made_at")} as at, order_id as "orderId", sequence
     ${looked} offset $9 limit 1`,
    [...range.map((value) => value ?? null), most - 1],
  );
  return { rows, end };
}

/**
 * Selects the last attempt of a callback. The search begins a day before the callback was made, to
 * skip older partitions. The clocks of nodes differ by less than a day.
 */
const lastAttempt = `select status, failure from callback_attempts as attempt
  where attempt.merchant_id = page.merchant_id and attempt.order_id = page.order_id
    and attempt.sequence = page.sequence and attempt.at > page.made_at - interval '1 day'
  order by attempt.at desc limit 1`;

/** Counts the matching callbacks of each receiver, and stops after `most` callbacks. */
export function countReceivers(query: Query, filter: DeliveryFilter, most: number) {
  return query<{ readonly receiver: string; readonly count: number }>(
    `select receiver, count(*)::int as count
     from (select receiver from callbacks where ${filteredRows} and ${isHere} limit $9) as found
     group by receiver order by count desc, receiver`,
    [...valuesOf(filter), most],
  );
}

export function countResent(query: Query, filter: DeliveryFilter, at: Instant) {
  return query<ResentCount>(
    `select coalesce(ended, 'due') as state, tries > 0 as failed, count(*)::int as count
     from callbacks
     where ${filteredRows} and ${isHere} and begun_at >= to_timestamp($9::float8 / 1000)
       and made_at <= to_timestamp($9::float8 / 1000)
     group by 1, 2`,
    [...valuesOf({ ...filter, state: undefined }), at],
  );
}

const rangeRows = `($1::bigint is null or merchant_id = $1)
  and ($2::bigint is null or order_id = $2) and ($3::int is null or sequence = $3)
  and ($4::float8 is null or made_at >= to_timestamp($4::float8 / 1000))
  and ($5::float8 is null or made_at <= to_timestamp($5::float8 / 1000))`;

/** Makes the SQL conditions for state, endpoint and host. Their parameters begin with `$at`. */
const otherRows = (at: number) => `($${at}::text is null or coalesce(ended, 'due') = $${at}
    or ($${at} = 'failing' and ended is null and tries > 0))
  and ($${at + 1}::bigint is null or exists (
    select from orders where orders.merchant_id = callbacks.merchant_id
      and orders.id = callbacks.order_id and orders.endpoint_id = $${at + 1}))
  and ($${at + 2}::text is null or receiver = $${at + 2}
    or left(receiver, length($${at + 2}) + 1) = $${at + 2} || ':')`;

const filteredRows = `${rangeRows} and ${otherRows(6)}`;

function valuesOf(filter: DeliveryFilter) {
  const { merchantId, orderId, sequence, since, until, state, endpointId, host } = filter;
  const values = [merchantId, orderId, sequence, since, until, state, endpointId, host];
  return values.map((value) => value ?? null);
}

function milliseconds(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`;
}
