/**
 * Refused requests of merchants, which the portal shows. Only each merchant's latest are kept,
 * signed and unsigned ones counted separately: a flood of unsigned ones, which anyone can send,
 * must not remove signed ones.
 */
import type { RefusedBatch, RefusedRow } from "../../merchant-api/refused-requests.ts";
import type { Window } from "../../portal-api/reads.ts";
import type {
  RefusalKey,
  RefusedQuery,
  StoredRefusal,
  StoredRefusalDetail,
} from "../../portal-api/requests.ts";
import { isSerialNumber, type MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import { assertHomeCell, type Cells, isHere } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import { plainArray, textArray } from "../server/gather.ts";
import { joinPages, rangeOf } from "./portal-reads.ts";

type Options = {
  /** How many signed and how many unsigned requests are kept for each merchant. */
  readonly countMax: number;
  /** How many rows of a cell are examined for one page of a filtered list. */
  readonly lookedThrough: number;
  readonly now: () => Instant;
};

export type RefusedStore = ReturnType<typeof makeRefusedStore>;

export function makeRefusedStore(cells: Cells, { countMax, lookedThrough, now }: Options) {
  const queries = cells.stores(({ node }) => node.query);
  const screenQueries = cells.stores(({ node }) => node.forScreens);
  return {
    async write({ rows, dropped }: RefusedBatch): Promise<void> {
      const merchants = [...rows.map(({ merchantId }) => merchantId), ...dropped.keys()];
      const inCells = Map.groupBy(new Set(merchants), (merchant) => cells.cellOf(merchant));
      const written = [...inCells].map(([cell, own]) => {
        const batch = {
          rows: rows.filter(({ merchantId }) => own.includes(merchantId)),
          dropped: new Map([...dropped].filter(([merchant]) => own.includes(merchant))),
        };
        return keepRefused(queries.of(cell), batch, { countMax, now: now() });
      });
      await Promise.all(written);
    },
    deleteOld: (before: Instant) => queries.each((query) => deleteOldRefused(query, before)),
    async list(asked: RefusedQuery): Promise<Window<StoredRefusal, RefusalKey>> {
      const { merchantId, limit } = asked;
      if (merchantId !== undefined) {
        return screenQueries.call(merchantId, (query) => findRefused(query, asked, lookedThrough));
      }
      const windows = await screenQueries.each((query) => findRefused(query, asked, lookedThrough));
      return joinPages(windows, limit, ({ at, serial }) => ({ at, serial }), byAge);
    },
    find: (serial: string, merchantId: MerchantId | undefined) =>
      screenQueries.search((query) => findRefusal(query, serial, merchantId)),
    async countDropped(merchantId: MerchantId | undefined): Promise<number> {
      if (merchantId !== undefined) {
        return screenQueries.call(merchantId, (query) => countDropped(query, merchantId, now()));
      }
      const counts = await screenQueries.each((query) => countDropped(query, undefined, now()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Compares two refused requests: the latest comes first, as in the pages of each cell. */
function byAge(one: RefusalKey, other: RefusalKey): number {
  return other.at - one.at || (one.serial < other.serial ? 1 : -1);
}

export async function keepRefused(
  query: Query,
  { rows, dropped }: RefusedBatch,
  { countMax, now }: { readonly countMax: number; readonly now: Instant },
): Promise<void> {
  if (rows.length > 0) {
    await query(insertStatement, columnsOf(rows), "keep_refused");
    for (const merchant of new Set(rows.map(({ merchantId }) => merchantId))) {
      for (const authenticated of [true, false]) {
        await query(trimStatement, [merchant, authenticated, countMax], "trim_refused");
      }
    }
  }
  if (dropped.size === 0) return;
  const values = [plainArray([...dropped.keys()]), now, plainArray([...dropped.values()])];
  await query(dropStatement, values, "drop_refused");
}

function columnsOf(rows: readonly RefusedRow[]): readonly string[] {
  return [
    plainArray(rows.map(({ merchantId }) => merchantId)),
    plainArray(rows.map(({ at }) => at)),
    plainArray(rows.map(({ serialNumber }) => serialNumber)),
    plainArray(rows.map(({ entryId }) => entryId)),
    textArray(rows.map(({ operation }) => operation)),
    textArray(rows.map(({ version }) => version)),
    textArray(rows.map(({ code }) => code)),
    plainArray(rows.map(({ authenticated }) => String(authenticated))),
    textArray(rows.map(({ from }) => from)),
    textArray(rows.map(({ clientOrderId }) => clientOrderId)),
    textArray(rows.map(({ document }) => JSON.stringify(document))),
  ];
}

/** Reads arrays, because Citus cannot execute an insert that reads from a JSON document. */
const insertStatement = `
insert into refused_requests (merchant_id, at, serial, entry_id, operation, version, code,
  authenticated, sent_from, client_orderid, document)
select merchant_id, to_timestamp(at / 1000), serial, entry_id, operation, version, code,
  authenticated, sent_from, client_orderid, document::json
from unnest($1::bigint[], $2::float8[], $3::uuid[], $4::bigint[], $5::text[], $6::text[],
  $7::text[], $8::boolean[], $9::text[], $10::text[], $11::text[])
  as source(merchant_id, at, serial, entry_id, operation, version, code, authenticated, sent_from,
    client_orderid, document)
where ${assertHomeCell("= any($1::bigint[])")}
on conflict do nothing`;

const trimStatement = `
delete from refused_requests
where merchant_id = $1 and authenticated = $2 and (at, serial) <= (
  select at, serial from refused_requests where merchant_id = $1 and authenticated = $2
  order by at desc, serial desc offset $3 limit 1)`;

const dropStatement = `
insert into dropped_requests as known (merchant_id, day, count)
select merchant_id, (to_timestamp($2::float8 / 1000) at time zone 'UTC')::date, count
from unnest($1::bigint[], $3::bigint[]) as lost(merchant_id, count)
where ${assertHomeCell("= any($1::bigint[])")}
on conflict (merchant_id, day) do update set count = known.count + excluded.count`;

export async function deleteOldRefused(query: Query, before: Instant): Promise<void> {
  await query("delete from refused_requests where at < to_timestamp($1::float8 / 1000)", [before]);
  await query(
    `delete from dropped_requests
     where day < (to_timestamp($1::float8 / 1000) at time zone 'UTC')::date`,
    [before],
  );
}

export async function eraseRefused(query: Query, emails: readonly string[]): Promise<number> {
  const gone = await query(
    `delete from refused_requests where exists (
       select from json_array_elements(document -> 'fields') as field
       where field ->> 'name' = 'email' and lower(field ->> 'value') = any($1::text[]))
     returning serial`,
    [emails],
  );
  return gone.length;
}

const milliseconds = "(extract(epoch from at) * 1000)::float8";
const columns = `merchant_id as "merchantId", ${milliseconds} as at, serial,
  entry_id as "entryId", operation, version, code, authenticated, sent_from as "from",
  client_orderid as "clientOrderId"`;

/**
 * Finds requests, the latest first. All requests of one merchant are examined, because they are
 * few; of all merchants, at most `most` rows. A complete serial number always finds its request.
 */
export async function findRefused(
  query: Query,
  asked: RefusedQuery,
  most: number,
): Promise<Window<StoredRefusal, RefusalKey>> {
  const { search = "", limit } = asked;
  if (isSerialNumber(search)) {
    const rows = await findPage(query, asked, "serial", Number.MAX_SAFE_INTEGER);
    if (rows.length > 0) return { rows, end: undefined };
  }
  const rows = await findPage(query, asked, "client_orderid", most);
  const { range, ranged, filters } = conditionsOf(asked);
  const isWhole = (search === "" && filters.length === 0) || rows.length === limit;
  if (isWhole) return { rows, end: undefined };
  const [end] = await query<RefusalKey>(
    `select ${milliseconds} as at, serial from (
       select * from refused_requests where ${range} ${latest} offset ${most - 1} limit 1
     ) as last`,
    ranged,
  );
  return { rows, end };
}

const latest = "order by at desc, serial desc";

function findPage(
  query: Query,
  asked: RefusedQuery,
  searched: "serial" | "client_orderid",
  most: number,
) {
  const { range, filters, values, place } = conditionsOf(asked);
  const isSerial = searched === "serial";
  const match = asked.search && `${searched} = ${place(asked.search)}${isSerial ? "::uuid" : ""}`;
  const within = isSerial ? `${range} and ${match}` : range;
  const matching = ["true", ...filters, ...(match && !isSerial ? [match] : [])].join(" and ");
  return query<StoredRefusal>(
    `select ${columns} from (
       select * from (
         select * from refused_requests where ${within} ${latest} limit ${most}
       ) as looked where ${matching} ${latest} limit ${asked.limit}
     ) as page order by page.at desc, serial desc`,
    values,
  );
}

function conditionsOf({ after, ...asked }: RefusedQuery) {
  const last = after && ([after.at, after.serial, "serial", "uuid"] as const);
  const { range, values, place } = rangeOf(asked, last);
  const among = (column: string, chosen: readonly string[] | undefined, type = "text") =>
    chosen === undefined || chosen.length === 0
      ? []
      : [`${column} = any(${place(chosen)}::${type}[])`];
  const ranged = [...values];
  const filters = [
    ...among("operation", asked.operation),
    ...among("code", asked.code),
    ...among("entry_id", asked.endpoint, "bigint"),
  ];
  return { range, ranged, filters, values, place };
}

export async function findRefusal(
  query: Query,
  serial: string,
  merchantId: MerchantId | undefined,
) {
  const [found] = await query<StoredRefusalDetail>(
    `select ${columns}, document from refused_requests
     where serial = $1 and ($2::bigint is null or merchant_id = $2) and ${isHere}`,
    [serial, merchantId ?? null],
  );
  return found;
}

/** Counts the refused requests of the last seven days that were not stored. */
export async function countDropped(
  query: Query,
  merchantId: MerchantId | undefined,
  now: Instant,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select coalesce(sum(count), 0)::float8 as count from dropped_requests
     where day > to_timestamp($2::float8 / 1000) - interval '7 days'
       and ($1::bigint is null or merchant_id = $1) and ${isHere}`,
    [merchantId ?? null, now],
  );
  return row?.count ?? 0;
}
