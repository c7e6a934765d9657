/**
 * The payments that screening counts (decision 0048), in one row for each counted value, such as a
 * card, in each scope. One statement adds a payment and returns the newest version of the row, so
 * that concurrent payments, at any node, each see exactly the payments before them.
 */
import type { TransactionKind } from "../../orders/order.ts";
import { isFinal, type Stage } from "../../orders/stages.ts";
import { isCharge } from "../../orders/transactions.ts";
import type { CountedPayment, TallyRow, TallyStore } from "../../screening/judge.ts";
import type { PaymentResult, Seen, Tally } from "../../screening/rule.ts";
import { asOrderId, type OrderId } from "../../values/ids.ts";
import { asInstant, type Instant } from "../../values/time.ts";
import { assertHomeCell } from "../cells/cells.ts";
import { deletePayoutDays } from "../orders/payout-days.ts";
import type { Database, Query } from "../server/database.ts";
import { type GatherOptions, makeGather, plainArray } from "../server/gather.ts";

/** The most records in a row, above every rule's limit: repeats of requests have records too. */
export const recordsMax = 128;
const recordBytes = 44;

type StoredRow = {
  readonly key: string;
  readonly firstAt: string;
  readonly events: Buffer;
};

export function makeTallyStore(
  query: Query,
  options: GatherOptions,
): Omit<TallyStore, "findResults"> & {
  readonly look: (rows: readonly TallyRow[]) => Promise<readonly Tally[]>;
  readonly findResults: (orders: readonly OrderId[]) => Promise<Map<OrderId, PaymentResult>>;
} {
  const add = makeGather(async (added: readonly Added[]) => {
    const rows = mergeRows(added);
    const written = await query<StoredRow>(
      addStatement,
      [
        plainArray(rows.map(({ owner }) => owner)),
        plainArray(rows.map(({ key }) => key)),
        plainArray(rows.map(({ firstAt }) => firstAt)),
        plainArray(rows.map(({ keepUntil }) => keepUntil)),
        `{${rows.map(({ records }) => `"\\\\x${records}"`).join(",")}}`,
        plainArray(added.map(({ payment }) => payment.merchantId)),
      ],
      "add_to_tallies",
    );
    // The key alone identifies a row: it is a digest that covers the scope, and so the merchant.
    const known = new Map(written.map((row) => [row.key, row]));
    return added.map((each) => each.payment.rows.map(({ key }) => tallyOf(known.get(key), each)));
  }, options);
  return {
    add: (payment) => add({ payment, record: packRecord(payment) }),

    async look(rows) {
      const found = await query<StoredRow>(
        lookStatement,
        [plainArray(rows.map(({ owner }) => owner)), plainArray(rows.map(({ key }) => key))],
        "look_at_tallies",
      );
      const known = new Map(found.map((row) => [row.key, row]));
      return rows.map(({ key }) => {
        const row = known.get(key);
        return row === undefined ? noTally : tallyBefore(row, row.events.length);
      });
    },

    /**
     * Removes a payment from its rows one by one. A single statement would lock them in no
     * particular order, and might block another payment.
     */
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

// Rows are written in the order of their keys, so that two nodes never block each other.
const addStatement = `
insert into screening_tallies as known (merchant_id, key, first_at, keep_until, events)
select merchant_id, key, first_at, keep_until, events
from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bytea[])
  as source(merchant_id, key, first_at, keep_until, events)
where ${assertHomeCell("= any($6::bigint[])")}
order by merchant_id, key
on conflict (merchant_id, key) do update set
  first_at = case when known.keep_until >= excluded.first_at then known.first_at
    else excluded.first_at end,
  events = case when known.keep_until >= excluded.first_at then substring(known.events
      from greatest(1, octet_length(known.events) - ${recordsMax * recordBytes - 1}))
    else '\\x'::bytea end || excluded.events,
  keep_until = greatest(known.keep_until, excluded.keep_until)
returning key, first_at as "firstAt", events`;

const lookStatement = `
select known.key, first_at as "firstAt", events
from unnest($1::bigint[], $2::uuid[]) as wanted(merchant_id, key)
join screening_tallies as known
  on known.merchant_id = wanted.merchant_id and known.key = wanted.key`;

const removeStatement = `
update screening_tallies
set events = substring(events from 1 for position($3::bytea in events) - 1)
  || substring(events from position($3::bytea in events) + ${recordBytes})
where merchant_id = $1::bigint and key = $2::uuid and position($3::bytea in events) > 0
  and ${assertHomeCell("= $4::bigint")}`;

/**
 * A payment that is added to tallies. Each value that it counts for has a row of its own, and all
 * these rows get the same record of the payment.
 */
type Added = { readonly payment: CountedPayment; readonly record: Buffer };

type MergedRow = Omit<TallyRow, "keepUntil"> & {
  keepUntil: number;
  firstAt: number;
  records: string;
};

/** A statement can write a row only once, so payments with a common row write it together. */
function mergeRows(added: readonly Added[]): readonly MergedRow[] {
  const merged = new Map<string, MergedRow>();
  for (const { payment, record } of added) {
    const records = record.toHex();
    const { at } = payment.seen;
    for (const { owner, key, keepUntil } of payment.rows) {
      const known = merged.get(key);
      if (known === undefined) {
        merged.set(key, { owner, key, keepUntil, firstAt: at, records });
        continue;
      }
      known.firstAt = Math.min(known.firstAt, at);
      known.keepUntil = Math.max(known.keepUntil, keepUntil);
      known.records += records;
    }
  }
  return [...merged.values()];
}

const place = { orderId: 0, at: 8, minor: 16, currency: 24, card: 28, request: 36 } as const;
/** The bytes that identify a request: enough for one row, and few enough for one number. */
const requestBytes = 6;

function packRecord({ seen, request }: CountedPayment): Buffer {
  // The buffer is from Node's pool: other memory costs more time than the rest of this function.
  const record = Buffer.allocUnsafe(recordBytes).fill(0);
  record.writeBigInt64BE(BigInt(seen.orderId), place.orderId);
  record.writeDoubleBE(seen.at, place.at);
  record.writeBigInt64BE(seen.minor, place.minor);
  record.write(seen.currency, place.currency, 4, "latin1");
  record.write(seen.card, place.card, 8, "hex");
  for (let at = 0; at < 8; at += 1) record[place.request + at] = request[at] ?? 0;
  return record;
}

/** Most rules only need the time, so the other properties are only decoded when they are used. */
class StoredPayment implements Seen {
  readonly at: Instant;
  readonly #row: Buffer;
  readonly #start: number;

  constructor(row: Buffer, start: number) {
    this.#row = row;
    this.#start = start;
    this.at = asInstant(row.readDoubleBE(start + place.at));
  }

  get orderId(): OrderId {
    return asOrderId(String(this.#row.readBigInt64BE(this.#start + place.orderId)));
  }

  get minor(): bigint {
    return this.#row.readBigInt64BE(this.#start + place.minor);
  }

  get currency(): string {
    const code = this.#row.readUIntBE(this.#start + place.currency, 3);
    const known = currencies.get(code);
    if (known !== undefined) return known;
    const read = String.fromCharCode(code >> 16, (code >> 8) & 0xff, code & 0xff);
    currencies.set(code, read);
    return read;
  }

  get card(): string {
    const from = this.#start + place.card;
    return this.#row.toString("hex", from, from + 8);
  }
}

/** Currencies by their three bytes as a number, so that decoding a record makes no string. */
const currencies = new Map<number, string>();

/** Returns the payments before the added one. A repeat of a request is not a payment of its own. */
function tallyOf(row: StoredRow | undefined, { record }: Added): Tally {
  const own = row?.events.indexOf(record) ?? -1;
  if (row === undefined || own === -1) throw new Error("a payment was not counted");
  return tallyBefore(row, own, record.readUIntBE(place.request, requestBytes));
}

const noTally: Tally = { firstAt: asInstant(0), before: [], isFull: false };

/** Returns the payments whose records are before a position, one for each request. */
function tallyBefore({ events, firstAt }: StoredRow, end: number, ownRequest?: number): Tally {
  const known = new Set([ownRequest]);
  const before: Seen[] = [];
  for (let start = end - recordBytes; start >= 0; start -= recordBytes) {
    const request = events.readUIntBE(start + place.request, requestBytes);
    if (known.has(request)) continue;
    known.add(request);
    before.push(new StoredPayment(events, start));
  }
  return { firstAt: asInstant(Number(firstAt)), before, isFull: end >= recordsMax * recordBytes };
}

type OrderRow = { readonly id: string; readonly kind: TransactionKind; readonly stage: Stage };

/** Returns the result of the order's charge. An order with a follow-up has an approved charge. */
function resultOf({ kind, stage }: OrderRow): PaymentResult {
  const isFollowUp = !isCharge(kind);
  if (stage === "approved" || isFollowUp) return "approved";
  // While the order waits for a card, all cards that were tried on its page were declined.
  if (stage === "declined" || stage === "awaiting_card") return "declined";
  return isFinal(stage) ? "other" : "open";
}

const pageRows = 5_000;
const pagesMax = 20;
/** The number of expired rows in a page above which the next page is examined at once. */
const worthwhile = pageRows / 10;

/**
 * Deletes rows that no rule needs any more. Each call examines the page after that of the previous
 * call, and further pages while many rows have expired, so that a flood of payments does not
 * enlarge the table for long.
 */
export function makeDeleteTallies(query: Query): (now: Instant) => Promise<number> {
  let after: readonly string[] = firstRow;
  return async (now) => {
    await deletePayoutDays(query, now);
    let total = 0;
    for (let page = 0; page < pagesMax; page += 1) {
      const [end] = await query<{ owner: string; key: string }>(
        `select merchant_id as owner, key from screening_tallies
         where (merchant_id, key) > ($1::bigint, $2::uuid)
         order by merchant_id, key offset ${pageRows - 1} limit 1`,
        after,
      );
      const until = end === undefined ? lastRow : [end.owner, end.key];
      const [row] = await query<{ count: number }>(deleteStatement, [...after, ...until, now]);
      after = end === undefined ? firstRow : until;
      total += row?.count ?? 0;
      if ((row?.count ?? 0) < worthwhile) break;
    }
    return total;
  };
}

const firstRow = ["-1", "00000000-0000-0000-0000-000000000000"];
const lastRow = ["9223372036854775807", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

// A row that is locked by a payment or by another node is skipped, so that neither has to wait.
const deleteStatement = `
with over as materialized (
  select merchant_id, key from screening_tallies
  where (merchant_id, key) > ($1::bigint, $2::uuid) and (merchant_id, key) <= ($3::bigint, $4::uuid)
    and keep_until < $5::bigint
  for update skip locked
), deleted as (
  delete from screening_tallies as known using over
  where known.merchant_id = over.merchant_id and known.key = over.key
  returning known.key
)
select count(*)::int as count from deleted`;

export async function deleteTallies(
  query: Query,
  rows: readonly { readonly owner: string; readonly key: string }[],
): Promise<void> {
  await query(
    `delete from screening_tallies using unnest($1::bigint[], $2::uuid[]) as unwanted(owner, id)
     where merchant_id = owner and key = id`,
    [plainArray(rows.map(({ owner }) => owner)), plainArray(rows.map(({ key }) => key))],
  );
}

export type RenamedTally = { readonly owner: string; readonly key: string; readonly next: string };

/**
 * Renames the counters to their digests by the new fingerprint key. While nodes introduce that key,
 * they count payments under both digests. The row that began earlier contains all payments and
 * replaces the other row. Missing rows are made, so that they can be locked. Rows are locked in the
 * order of their digests, as by a payment, so that the two never block each other.
 */
export async function renameTallies(
  { query, transaction }: Pick<Database, "query" | "transaction">,
  renamed: readonly RenamedTally[],
): Promise<void> {
  type Known = RenamedTally & { readonly firstAt: string; readonly keepUntil: string };
  const known = await query<Known>(
    `select distinct owner, key, next, first_at as "firstAt", keep_until as "keepUntil"
     from screening_tallies
     join unnest($1::bigint[], $2::uuid[], $3::uuid[]) as renamed(owner, id, next)
       on merchant_id = owner and key = id`,
    [
      plainArray(renamed.map(({ owner }) => owner)),
      plainArray(renamed.map(({ key }) => key)),
      plainArray(renamed.map(({ next }) => next)),
    ],
  );
  if (known.length === 0) return;
  await query(
    `insert into screening_tallies (merchant_id, key, first_at, keep_until, events)
     select owner, next, first_at, keep_until, ''::bytea
     from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[])
       as source(owner, next, first_at, keep_until)
     order by owner, next on conflict do nothing`,
    [
      plainArray(known.map(({ owner }) => owner)),
      plainArray(known.map(({ next }) => next)),
      plainArray(known.map(({ firstAt }) => firstAt)),
      plainArray(known.map(({ keepUntil }) => keepUntil)),
    ],
  );
  for (const { owner, key, next } of known) {
    await transaction(async (change) => {
      await change(
        `select from screening_tallies where merchant_id = $1::bigint
           and key in ($2::uuid, $3::uuid) order by key for update`,
        [owner, key, next],
      );
      await change(renameRow, [owner, key, next]);
    });
  }
}

const renameRow = `
with earlier as (
  delete from screening_tallies where merchant_id = $1::bigint and key = $2::uuid
  returning first_at, keep_until, events
)
update screening_tallies as next set first_at = earlier.first_at, events = earlier.events,
  keep_until = greatest(next.keep_until, earlier.keep_until)
from earlier where next.merchant_id = $1::bigint and next.key = $3::uuid
  and earlier.first_at <= next.first_at`;
