/**
 * The tables behind the portal's lists, search and home screen (decision 0058). A newer version of
 * an order replaces its row, and the portal's figures change by the difference of the two. Every
 * writer locks the same row, so that no order is counted twice.
 */
import type { Order } from "../../orders/order.ts";
import type { Counted, Figure, IndexRow } from "../../portal-api/order-index.ts";
import type { OrderId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { isHere } from "../cells/cells.ts";
import { listOrdersAfter } from "../orders/find-orders.ts";
import { type OrderRow, orderColumns, unpackOrder } from "../orders/order-row.ts";
import type { Database, Query } from "../server/database.ts";
import { plainArray, textArray } from "../server/gather.ts";
import { bookMovements } from "./statements.ts";

export type IndexOptions = {
  readonly now: () => Instant;
  readonly describe: (order: Order) => IndexRow;
  readonly figuresOf: (row: Counted) => readonly Figure[];
  readonly pageSize?: number;
};

/** Smaller pages cost more for each order, and larger ones block the event loop for long. */
const usualPageSize = 200;
/** The longest time between a step and its write to the index, if the database is reachable. */
const lateMs = 10_000;
/** The period of history that one search reads: short, because it may have millions of steps. */
const sweepMs = 60_000;
const sweepMax = 500;

const dayMs = 86_400_000;
/** How long figures are kept, by unit of time. The portal shows longer ranges in larger units. */
const grains = {
  minute: { lengthMs: 60_000, keepDays: 2 },
  hour: { lengthMs: 3_600_000, keepDays: 100 },
  day: { lengthMs: dayMs, keepDays: 36_500 },
} as const;
export type Grain = keyof typeof grains;
const grainRows = Object.entries(grains) as readonly [Grain, (typeof grains)[Grain]][];

export function makeOrderIndex(database: Database, options: IndexOptions) {
  const { describe, pageSize = usualPageSize } = options;
  return { write, sweep, walk };

  /** Skips an order whose row in the index already has a newer version. */
  async function write(orders: readonly Order[]): Promise<void> {
    for (let from = 0; from < orders.length; from += pageSize) {
      const rows = orders.slice(from, from + pageSize).map((order) => describe(order));
      await database.transaction((query) => writeRows(query, rows, options));
    }
  }

  /**
   * Searches the history for steps that no node has indexed, such as those of commands and of
   * crashed nodes, and indexes their orders. Returns whether there is more history to search.
   */
  async function sweep(now: Instant): Promise<boolean> {
    const [progress] = await database.query<{ swept: number }>(
      `select (extract(epoch from swept_at) * 1000)::float8 as swept from order_index_progress`,
    );
    const since = progress?.swept ?? now;
    const until = Math.min(since + sweepMs, now - lateMs);
    if (until <= since) return false;
    const rows = await database.query<OrderRow>(missedStatement, [since - lateMs, until, sweepMax]);
    await write(rows.map(unpackOrder));
    // More orders may be left. The next call searches the period again and skips indexed orders.
    if (rows.length === sweepMax) return true;
    const swept = "update order_index_progress set swept_at = to_timestamp($1::float8 / 1000)";
    await database.query(swept, [until]);
    return until < now - lateMs;
  }

  /** Indexes a page of orders by id, also those without history. Returns the number of orders. */
  async function walk(): Promise<number> {
    const [progress] = await database.query<{ id: OrderId }>(
      "select walked_id as id from order_index_progress where walked_id is not null",
    );
    if (progress === undefined) return 0;
    const orders = await listOrdersAfter(database.query, progress.id, pageSize);
    await write(orders);
    const last = orders.at(-1)?.id ?? null;
    await database.query("update order_index_progress set walked_id = $1", [last]);
    return orders.length;
  }
}

const missedStatement = `
with changed as (
  select distinct merchant_id, order_id from order_history
  where at >= to_timestamp($1::float8 / 1000) and at < to_timestamp($2::float8 / 1000)
)
select ${orderColumns.replace(/\w+/g, "orders.$&")} from changed
join orders on orders.merchant_id = changed.merchant_id and orders.id = changed.order_id
left join order_index as known on known.merchant_id = orders.merchant_id
  and known.at = orders.accepted_at and known.order_id = orders.id
where (known.version is null or known.version < orders.version) and orders.${isHere}
limit $3`;

type KnownRow = Counted & Pick<IndexRow, "orderId" | "version" | "movements">;

async function writeRows(query: Query, rows: readonly IndexRow[], options: IndexOptions) {
  if (rows.length === 0) return;
  await query(lockIndex, [], "lock_index");
  // The list of moved merchants is read under the index's lock. The new cell indexes their orders.
  const moved = await query<{ id: string }>(movedStatement, [], "moved_merchants");
  const here = rows.filter(({ merchantId }) => !moved.some(({ id }) => id === merchantId));
  const inserted = await query<{ orderId: string }>(addStatement, valuesOf(here), "add_to_index");
  const added = new Set(inserted.map(({ orderId }) => orderId));
  const others = here.filter(({ orderId }) => !added.has(orderId));
  const known = others.length === 0 ? [] : await findKnown(query, others);
  const before = new Map(known.map((row) => [row.orderId, row]));
  const newer = others.filter(({ orderId, version }) => {
    const stored = before.get(orderId);
    return stored === undefined || stored.version < version;
  });
  if (newer.length > 0) await query(replaceStatement, valuesOf(newer));
  const written = [...here.filter(({ orderId }) => added.has(orderId)), ...newer];
  await writeFigures(query, differences(written, before, options));
  await bookMovements(query, written, before);
}

/** Takes the lock of the index. A writer holds it until its transaction commits. */
export const lockIndex = "select from order_index_progress for update";

const movedStatement = "select merchant_id as id from moved_merchants";

const numbers = [
  "merchantId",
  "at",
  "orderId",
  "version",
  "endpointId",
  "overheadMs",
  "amount",
  "net",
] as const;
const texts = [
  "clientOrderId",
  "kind",
  "stage",
  "status",
  "outcome",
  "reason",
  "threeds",
  "currency",
  "network",
  "lastFour",
  "email",
  "name",
  "gate",
  "issuerCountry",
  "reference",
  "movements",
] as const;

function valuesOf(rows: readonly IndexRow[]): readonly string[] {
  return [
    ...numbers.map((name) => column(rows, name)),
    ...texts.map((name) => textArray(rows.map((row) => row[name]))),
    // PostgreSQL has no arrays of arrays of different lengths, so each order's words are one text.
    textArray(rows.map(({ words }) => words.join("\n"))),
    textArray(rows.map(({ people }) => people.join("\n"))),
  ];
}

function column(rows: readonly IndexRow[], name: (typeof numbers)[number]): string {
  return plainArray(rows.map((row) => row[name]));
}

/** PostgreSQL plans the statement at each use, because the table is empty at first and grows. */
function findKnown(query: Query, rows: readonly IndexRow[]): Promise<readonly KnownRow[]> {
  return query<KnownRow>(
    `select order_index.order_id as "orderId", version, outcome, reason,
       threeds, overhead_ms as "overheadMs", currency, movements,
       net::float8 as net, amount::float8 as amount, gate, network,
       issuer_country as "issuerCountry"
     from unnest($1::bigint[], $2::float8[], $3::bigint[]) as wanted(merchant_id, at, order_id)
     join order_index on order_index.merchant_id = wanted.merchant_id
       and order_index.at = to_timestamp(wanted.at / 1000)
       and order_index.order_id = wanted.order_id`,
    [column(rows, "merchantId"), column(rows, "at"), column(rows, "orderId")],
  );
}

const columns = `order_id, version, endpoint_id, overhead_ms, amount, net, client_orderid, kind,
  stage, status, outcome, reason, threeds, currency, network, last_four, email, name, gate,
  issuer_country, reference, movements, words, people`;

const lists = `string_to_array(words, E'\\n'), string_to_array(people, E'\\n')`;

const insertStatement = `
insert into order_index (merchant_id, at, ${columns})
select merchant_id, to_timestamp(at / 1000), ${columns.replace("words, people", lists)}
from unnest($1::bigint[], $2::float8[], $3::bigint[], $4::int[], $5::bigint[], $6::int[],
  $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
  $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
  $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[])
  as source(merchant_id, at, ${columns})`;

/** Most orders are new, so the statement does not look for an existing row. */
const addStatement = `${insertStatement}
on conflict do nothing returning order_id as "orderId"`;

const replaceStatement = `${insertStatement}
on conflict (merchant_id, at, order_id) do update set
  ${columns.replace(/\w+/g, "$& = excluded.$&")}`;

type Difference = Figure & {
  readonly merchantId: string;
  readonly grain: Grain;
  readonly at: number;
};

/**
 * Computes how the figures change. The changes within a minute are added up first. Only these sums
 * are added to the figures of the hour, the day and the whole cell.
 */
function differences(
  rows: readonly IndexRow[],
  before: ReadonlyMap<string, KnownRow>,
  { figuresOf, now }: IndexOptions,
): readonly Difference[] {
  const minutes = new Map<string, Difference>();
  const take = ({ merchantId, at: time }: IndexRow, counted: Counted, sign: 1 | -1) => {
    const at = time - (time % grains.minute.lengthMs);
    for (const { name, key, count } of figuresOf(counted)) {
      add(minutes, { merchantId, grain: "minute", at, name, key, count: sign * count });
    }
  };
  for (const row of rows) {
    const stored = before.get(row.orderId);
    if (stored !== undefined) take(row, stored, -1);
    take(row, row, 1);
  }
  const sums = new Map<string, Difference>();
  const present = now();
  for (const each of minutes.values()) {
    for (const merchantId of [each.merchantId, "0"]) {
      for (const [grain, { lengthMs, keepDays }] of grainRows) {
        if (each.at < present - keepDays * dayMs) continue;
        add(sums, { ...each, merchantId, grain, at: each.at - (each.at % lengthMs) });
      }
    }
  }
  return [...sums.values()].filter(({ count }) => count !== 0);
}

function add(sums: Map<string, Difference>, difference: Difference): void {
  const { merchantId, grain, at, name, key, count } = difference;
  const place = `${merchantId}/${grain}/${at}/${name}/${key}`;
  const known = sums.get(place)?.count ?? 0;
  sums.set(place, { ...difference, count: known + count });
}

async function writeFigures(query: Query, changes: readonly Difference[]): Promise<void> {
  if (changes.length === 0) return;
  const values = [
    plainArray(changes.map(({ merchantId }) => merchantId)),
    textArray(changes.map(({ grain }) => grain)),
    plainArray(changes.map(({ at }) => at)),
    textArray(changes.map(({ name }) => name)),
    textArray(changes.map(({ key }) => key)),
    plainArray(changes.map(({ count }) => count)),
  ];
  await query(countStatement, values, "count_in_index");
}

const countStatement = `
insert into order_figures (merchant_id, grain, at, name, key, count)
select merchant_id, grain, to_timestamp(at / 1000), name, key, count
from unnest($1::bigint[], $2::text[], $3::float8[], $4::text[], $5::text[], $6::bigint[])
  as source(merchant_id, grain, at, name, key, count)
on conflict (merchant_id, grain, at, name, key)
do update set count = order_figures.count + excluded.count`;

export async function deleteOldFigures(query: Query, now: Instant): Promise<void> {
  for (const [grain, { keepDays }] of grainRows) {
    await query(
      "delete from order_figures where grain = $1 and at < to_timestamp($2::float8 / 1000)",
      [grain, now - keepDays * dayMs],
    );
  }
}
