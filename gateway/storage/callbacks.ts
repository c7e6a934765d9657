/** Callbacks that are owed, and every try to deliver them. */
import type { Callback, CallbackStore, Recorded } from "../callbacks/callback.ts";
import type { Order } from "../orders/order.ts";
import { asMerchantId, asOrderId, asSerialNumber } from "../values/ids.ts";
import { jsonArray, textArray } from "./array-literal.ts";
import { isConnectionLoss, type Query } from "./database.ts";
import { type GatherOptions, makeGather } from "./gather.ts";

export type CallbackRow = {
  readonly merchant_id: string;
  readonly order_id: string;
  readonly sequence: number;
  readonly serial: string;
  readonly url: string;
  readonly tries: number;
};

type Needs = {
  readonly query: Query;
  readonly node: string;
  readonly findOrder: (key: Pick<Callback, "merchantId" | "orderId">) => Promise<Order | undefined>;
};

export function makeCallbackStore(
  { query, node, findOrder }: Needs,
  gathered: GatherOptions,
): CallbackStore {
  const record = makeGather(
    async (records: readonly Recorded[]) => {
      await query(recordStatement, [jsonArray(records.map(packRecord)), node], "record_callbacks");
      return records.map(() => undefined);
    },
    gathered,
    (error) => !isConnectionLoss(error),
  );

  return {
    async claimDue({ now, until, most, except }) {
      const due = await query<CallbackRow & { due: number }>(
        dueStatement,
        [now, most, textArray(except)],
        "due_callbacks",
      );
      if (due.length === 0) return [];
      const packed = jsonArray(due.map((row) => JSON.stringify(row)));
      const taken = await query<CallbackRow>(claimStatement, [packed, until], "claim_callbacks");
      return taken.map(unpackCallback);
    },
    async waitsForEarlier({ merchantId, orderId, sequence }) {
      const key = [merchantId, orderId, sequence];
      return (await query(waitStatement, key, "put_off_callback")).length > 0;
    },
    record,
    findOrder,
  };
}

export function unpackCallback(row: CallbackRow): Callback {
  return {
    merchantId: asMerchantId(row.merchant_id),
    orderId: asOrderId(row.order_id),
    sequence: row.sequence,
    serialNumber: asSerialNumber(row.serial),
    url: row.url,
    tries: row.tries,
  };
}

function packRecord({ callback, attempt, verdict }: Recorded): string {
  const { merchantId, orderId, sequence } = callback;
  const { at, method, url, body, status, failure, durationMs, answer } = attempt;
  return JSON.stringify({
    ...{ merchant_id: merchantId, order_id: orderId, sequence, at, method, url, body },
    ...{ status: status ?? null, failure: failure ?? null, answer, duration_ms: durationMs },
    ended: "ended" in verdict ? verdict.ended : null,
    due: "dueAt" in verdict ? verdict.dueAt : null,
  });
}

/** Of one order only the first that is not over. */
const dueStatement = `
select merchant_id, order_id, sequence, serial, url, tries,
  extract(epoch from due_at)::float8 as due
from callbacks
where due_at <= to_timestamp($1::float8 / 1000)
  and merchant_id || ' ' || coalesce(substring(url from '^https?://([^/?#]*)'), '')
    <> all($3::text[])
  and not exists (
    select from callbacks as earlier
    where earlier.merchant_id = callbacks.merchant_id and earlier.order_id = callbacks.order_id
      and earlier.sequence < callbacks.sequence and earlier.ended is null)
order by due_at limit $2`;

/** Compare-and-set: whoever was faster has moved the time. */
const claimStatement = `
update callbacks set due_at = to_timestamp($2::float8 / 1000)
from json_to_recordset($1::json)
  as found (merchant_id bigint, order_id bigint, sequence int, due float8)
where callbacks.merchant_id = found.merchant_id and callbacks.order_id = found.order_id
  and callbacks.sequence = found.sequence and callbacks.ended is null
  and abs(extract(epoch from callbacks.due_at) - found.due) < 0.001
returning callbacks.merchant_id, callbacks.order_id, callbacks.sequence, serial, url, tries`;

/** With the earlier one, so that no look stumbles over it meanwhile. */
const waitStatement = `
with earlier as (
  select max(due_at) as due_at from callbacks
  where merchant_id = $1 and order_id = $2 and sequence < $3 and ended is null
)
update callbacks set due_at = earlier.due_at from earlier
where merchant_id = $1 and order_id = $2 and sequence = $3 and ended is null
  and earlier.due_at is not null
returning callbacks.order_id`;

/**
 * A callback that is over lets the order's next one go; one that is not takes it along. The
 * needless condition makes the planner expect one row, and so go by the key: while few callbacks
 * are open it would otherwise read all there are, for each of the batch.
 */
const recordStatement = `
with told as materialized (
  select * from json_to_recordset($1::json) as told (
    merchant_id bigint, order_id bigint, sequence int, at float8, method text, url text,
    body text, status int, failure text, duration_ms int, answer text, ended text, due float8)
  where coalesce(sequence, 0) = sequence
), kept as (
  insert into callback_attempts (merchant_id, order_id, sequence, at, node, method, url, body,
    status, failure, duration_ms, answer)
  select merchant_id, order_id, sequence, to_timestamp(at / 1000), $2, method, url, body,
    status, failure, duration_ms, answer from told
), moved as (
  update callbacks set tries = tries + 1, ended = told.ended,
    ended_at = case when told.ended is not null then to_timestamp(told.at / 1000) end,
    due_at = case when told.ended is null then to_timestamp(told.due / 1000) end
  from told
  where callbacks.merchant_id = told.merchant_id and callbacks.order_id = told.order_id
    and callbacks.sequence = told.sequence and callbacks.ended is null
)
update callbacks set due_at = to_timestamp(coalesce(told.due, told.at) / 1000)
from told
where callbacks.merchant_id = told.merchant_id and callbacks.order_id = told.order_id
  and callbacks.sequence > told.sequence and callbacks.ended is null`;
