/**
 * Finds the transactions of a merchant by the time when they began, for reports. The first commit
 * of each is in the history of its order, and a partial index has these rows by time. Reports use
 * the connections that are reserved for screens, so that they never make a payment wait.
 */
import type { FindBegun, ReportPage, ReportPosition } from "../../report/report.ts";
import type { MerchantId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { assertHomeCell, type Cells } from "../cells/cells.ts";
import type { Database, Query } from "../server/database.ts";
import { plainArray } from "../server/gather.ts";
import { probeNode } from "../server/presence.ts";
import { type BegunRow, orderColumns } from "./order-row.ts";

export function makeFindBegun(cells: Cells): FindBegun<BegunRow> {
  const stores = cells.stores(({ node }) => node.forScreens);
  return (page) => stores.call(page.merchantId, (query) => findBegun(query, page));
}

export async function findBegun(query: Query, page: ReportPage) {
  const { merchantId, from, until, after, limit } = page;
  const first = after ?? { at: from, orderId: "0", version: 0 };
  const range = [merchantId, first.at, first.orderId, first.version, until, limit];
  const found = await query<Omit<BegunRow, "serial">>(begunStatement, range);
  const last = found.length === limit ? found.at(-1) : undefined;
  const serials = await findSerials(query, merchantId, found);
  const rows = found.map((row) => ({ ...row, serial: serials.get(keyOf(positionOf(row))) }));
  return { rows, end: last && positionOf(last) };
}

function positionOf(row: Omit<BegunRow, "serial">): ReportPosition {
  return { at: asInstant(row.begun_at), orderId: row.id, version: row.begun_version };
}

const keyOf = ({ orderId, version }: Omit<ReportPosition, "at">) => `${orderId}/${version}`;

const shownColumns = orderColumns
  .replace(/\w+/g, "orders.$&")
  .replace(/orders\.(?:facts|progress)/g, "$&::text");

/**
 * The condition on `events` is that of the partial index `order_history_begun`, so that PostgreSQL
 * uses the index. The JSON columns are texts, which the report's thread parses.
 */
const begunStatement = `
select ${shownColumns},
  begun_at, begun_version
from (
  select order_id, version as begun_version, (extract(epoch from at) * 1000)::float8 as begun_at
  from order_history
  where merchant_id = $1 and at >= to_timestamp($2::float8 / 1000)
    and (at, order_id, version) > (to_timestamp($2::float8 / 1000), $3::bigint, $4::int)
    and at < to_timestamp($5::float8 / 1000)
    and events #>> '{0,kind}'
      in ('received', 'capture_asked', 'return_asked', 'void_asked', 'charged_back')
  order by at, order_id, version limit $6
) as begun
join orders on orders.merchant_id = $1 and orders.id = begun.order_id
where ${assertHomeCell("= $1")}
order by begun_at, order_id, begun_version`;

/**
 * Finds the serial numbers of transactions in the history. Orders with one transaction and no
 * chargeback are skipped: they need none, and reading events takes longer than finding the order.
 */
async function findSerials(
  query: Query,
  merchantId: MerchantId,
  begun: readonly Omit<BegunRow, "serial">[],
) {
  const positions = begun.filter((row) => !hasOneLine(row)).map(positionOf);
  if (positions.length === 0) return new Map<string, string>();
  const found = await query<{ order_id: string; version: number; serial: string | null }>(
    serialsStatement,
    [
      merchantId,
      plainArray(positions.map(({ orderId }) => orderId)),
      plainArray(positions.map(({ version }) => version)),
      plainArray(positions.map(({ at }) => at)),
    ],
  );
  return new Map(
    found.flatMap(({ order_id: orderId, version, serial }) =>
      serial === null ? [] : [[keyOf({ orderId, version }), serial] as const],
    ),
  );
}

/** Returns whether the order has only one transaction and no chargeback. */
function hasOneLine({ progress }: Pick<BegunRow, "progress">): boolean {
  // The JSON is searched as a text. Its strings cannot contain these texts: JSON escapes quotes.
  return progress.includes('"earlier":[]') && !progress.includes('"chargebacks":');
}

const serialsStatement = `
select order_id, version,
  coalesce(events #>> '{0,serialNumber}', events #>> '{0,chargeback,serialNumber}') as serial
from unnest($2::bigint[], $3::int[], $4::float8[]) as wanted(order_id, version, begun_at)
join order_history using (order_id, version)
where merchant_id = $1 and at = to_timestamp(begun_at / 1000)`;

/** The first of the two numbers of a report's advisory lock. The second is the merchant's id. */
const lockClass = 8_583_037;

/**
 * Lets only one node at a time make the merchant's report, by a lock that also ends with the node
 * or its machine. Returns the function that ends the lock, or undefined if another node has it.
 */
export function makeTakeReport(database: Pick<Database, "connect">) {
  return async (merchant: MerchantId): Promise<(() => Promise<void>) | undefined> => {
    const client = await database.connect();
    client.on("error", () => undefined);
    const release = () => client.end().catch(() => undefined);
    try {
      await client.query(probeNode);
      const lock = "select pg_try_advisory_lock(($1::bigint << 32) + $2::bigint) as is_taken";
      const { rows } = await client.query<{ is_taken: boolean }>(lock, [lockClass, merchant]);
      if (rows[0]?.is_taken === true) return release;
      await release();
      return undefined;
    } catch (error) {
      await release();
      throw error;
    }
  };
}
