/**
 * The payments that screening counts, one row for each card, email … at each place (decision 0048).
 * A payment is added by one statement, which reads the newest version of the row: of payments at
 * the same moment, at any node, each is told of exactly those before it.
 */
import type { TransactionKind } from "../orders/order.ts";
import { isFinal, type Stage } from "../orders/stages.ts";
import type { CountedPayment, TallyRow, TallyStore } from "../screening/judge.ts";
import type { PaymentResult, Seen, Tally } from "../screening/rule.ts";
import { asOrderId, type OrderId } from "../values/ids.ts";
import { asInstant, type Instant } from "../values/time.ts";
import { livesHere } from "./cells.ts";
import type { Query } from "./database.ts";
import { bytesArray, type GatherOptions, makeGather, plainArray } from "./gather.ts";

/** More than the largest limit of a rule: repeats of one request are several records. */
export const recordsMax = 128;
const recordBytes = 44;

type StoredRow = {
  readonly merchant_id: string;
  readonly key: string;
  readonly firstAt: string;
  readonly events: Buffer;
};

export function makeTallyStore(
  query: Query,
  options: GatherOptions,
): Omit<TallyStore, "findResults"> & {
  readonly findResults: (orders: readonly OrderId[]) => Promise<Map<OrderId, PaymentResult>>;
} {
  return {
    add: makeGather(async (payments: readonly CountedPayment[]) => {
      const rows = mergeRows(payments);
      const written = await query<StoredRow>(
        addStatement,
        [
          plainArray(rows.map(({ owner }) => owner)),
          plainArray(rows.map(({ key }) => key)),
          plainArray(rows.map(({ firstAt }) => firstAt)),
          plainArray(rows.map(({ keepUntil }) => keepUntil)),
          bytesArray(rows.map(({ records }) => Buffer.concat(records))),
          plainArray(payments.map(({ merchantId }) => merchantId)),
        ],
        "add_to_tallies",
      );
      const known = new Map(written.map((row) => [nameOf(row.merchant_id, row.key), readRow(row)]));
      return payments.map((payment) =>
        payment.rows.map(({ owner, key }) => tallyOf(known.get(nameOf(owner, key)), payment)),
      );
    }, options),

    /** One row after the other: the rows of a batch would be locked in no particular order. */
    async remove(payment) {
      const record = packRecord(payment);
      for (const { owner, key } of payment.rows) {
        await query(removeStatement, [owner, key, record, payment.merchantId], "remove_from_tally");
      }
    },

    findResults: makeGather(async (asked: readonly (readonly OrderId[])[]) => {
      const ids = [...new Set(asked.flat())];
      const rows = await query<OrderRow>(
        "select id, kind, stage from orders where id = any($1::bigint[])",
        [plainArray(ids)],
        "find_results",
      );
      const found = new Map(rows.map((row) => [asOrderId(row.id), resultOf(row)]));
      return asked.map(() => found);
    }, options),
  };
}

// In the order of the key, so that two nodes never wait for each other's rows. A row that is over
// begins anew.
const addStatement = `
insert into screening_tallies as known (merchant_id, key, first_at, keep_until, events)
select merchant_id, key, first_at, keep_until, events
from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bytea[])
  as source(merchant_id, key, first_at, keep_until, events)
where ${livesHere("= any($6::bigint[])")}
order by merchant_id, key
on conflict (merchant_id, key) do update set
  first_at = case when known.keep_until >= excluded.first_at then known.first_at
    else excluded.first_at end,
  events = case when known.keep_until >= excluded.first_at then substring(known.events
      from greatest(1, octet_length(known.events) - ${recordsMax * recordBytes - 1}))
    else '\\x'::bytea end || excluded.events,
  keep_until = greatest(known.keep_until, excluded.keep_until)
returning merchant_id, key, first_at as "firstAt", events`;

const removeStatement = `
update screening_tallies
set events = substring(events from 1 for position($3::bytea in events) - 1)
  || substring(events from position($3::bytea in events) + ${recordBytes})
where merchant_id = $1::bigint and key = $2::uuid and position($3::bytea in events) > 0
  and ${livesHere("= $4::bigint")}`;

type MergedRow = TallyRow & { readonly firstAt: Instant; readonly records: readonly Buffer[] };

/** A statement may write a row once: the payments of a batch that share one are added together. */
function mergeRows(payments: readonly CountedPayment[]): readonly MergedRow[] {
  const merged = new Map<string, MergedRow>();
  for (const payment of payments) {
    const record = packRecord(payment);
    const { at } = payment.seen;
    for (const row of payment.rows) {
      const name = nameOf(row.owner, row.key);
      const known = merged.get(name) ?? { ...row, firstAt: at, records: [] };
      merged.set(name, {
        ...row,
        firstAt: asInstant(Math.min(known.firstAt, at)),
        keepUntil: asInstant(Math.max(known.keepUntil, row.keepUntil)),
        records: [...known.records, record],
      });
    }
  }
  return [...merged.values()];
}

function nameOf(owner: string, key: string): string {
  return `${owner}/${key}`;
}

function packRecord({ seen, request }: Pick<CountedPayment, "seen" | "request">): Buffer {
  const record = Buffer.alloc(recordBytes);
  record.writeBigInt64BE(BigInt(seen.orderId), 0);
  record.writeDoubleBE(seen.at, 8);
  record.writeBigInt64BE(seen.minor, 16);
  record.write(seen.currency, 24, 4, "latin1");
  record.write(seen.card, 28, 8, "hex");
  record.set(request.subarray(0, 8), 36);
  return record;
}

type Event = Seen & { readonly request: string };
type ReadRow = { readonly firstAt: Instant; readonly events: readonly Event[] };

function readRow({ firstAt, events }: StoredRow): ReadRow {
  const count = Math.floor(events.length / recordBytes);
  const read = (_: unknown, index: number) => readRecord(events, index * recordBytes);
  return { firstAt: asInstant(Number(firstAt)), events: Array.from({ length: count }, read) };
}

function readRecord(events: Buffer, at: number): Event {
  return {
    orderId: asOrderId(String(events.readBigInt64BE(at))),
    at: asInstant(events.readDoubleBE(at + 8)),
    minor: events.readBigInt64BE(at + 16),
    currency: events.toString("latin1", at + 24, at + 27),
    card: events.toString("hex", at + 28, at + 36),
    request: events.toString("hex", at + 36, at + 44),
  };
}

/** The payments before this one. A repeat of a request is the same payment. */
function tallyOf(row: ReadRow | undefined, { seen, request }: CountedPayment): Tally {
  if (row === undefined) throw new Error("a payment was not counted");
  const own = row.events.findIndex(({ orderId }) => orderId === seen.orderId);
  const known = new Set([Buffer.from(request).toString("hex", 0, 8)]);
  const before = row.events
    .slice(0, own)
    .reverse()
    .filter((event) => !known.has(event.request) && known.add(event.request));
  return { firstAt: row.firstAt, before, isFull: own >= recordsMax };
}

type OrderRow = { readonly id: string; readonly kind: TransactionKind; readonly stage: Stage };

/** A follow-up follows an approval. */
function resultOf({ kind, stage }: OrderRow): PaymentResult {
  const isFollowUp = kind === "capture" || kind === "refund" || kind === "cancel";
  if (stage === "approved" || isFollowUp) return "approved";
  if (stage === "declined") return "declined";
  return isFinal(stage) ? "other" : "open";
}

const pageSize = 1_000;

/** Deletes rows that no rule needs any more. Each call looks at the page after the last one. */
export function makeDeleteTallies(query: Query): (now: Instant) => Promise<number> {
  let after: readonly [string, string] = firstRow;
  return async (now) => {
    const rows = await query<{ owner: string; key: string; isOver: boolean }>(
      `select merchant_id as owner, key, keep_until < $4::bigint as "isOver" from screening_tallies
       where (merchant_id, key) > ($1::bigint, $2::uuid) order by merchant_id, key limit $3`,
      [...after, pageSize, now],
    );
    const over = rows.filter(({ isOver }) => isOver);
    const last = rows.length < pageSize ? undefined : rows.at(-1);
    after = last === undefined ? firstRow : [last.owner, last.key];
    if (over.length > 0) await deleteTallies(query, over, now);
    return over.length;
  };
}

const firstRow = ["-1", "00000000-0000-0000-0000-000000000000"] as const;

/** Those that are over at that time. */
export async function deleteTallies(
  query: Query,
  rows: readonly { readonly owner: string; readonly key: string }[],
  before = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  await query(
    `delete from screening_tallies using unnest($1::bigint[], $2::uuid[]) as over(owner, id)
     where merchant_id = owner and key = id and keep_until < $3::bigint`,
    [plainArray(rows.map(({ owner }) => owner)), plainArray(rows.map(({ key }) => key)), before],
  );
}
