/**
 * The sums of merchants' statements (decision 0092). When an order's row in the index is replaced,
 * the difference between the movements of money in the old row and in the new one is booked in the
 * same transaction. Each movement counts once, however often its order is written.
 */
import { movementKinds, unpackMovements } from "../../orders/movements.ts";
import type { IndexRow } from "../../portal-api/order-index.ts";
import type { BalanceOwner, Days, MerchantBalance, StatementDay } from "../../report/statement.ts";
import type { MerchantId } from "../../values/ids.ts";
import type { Cells } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";
import { plainArray } from "../server/gather.ts";

export async function bookMovements(
  query: Query,
  written: readonly IndexRow[],
  before: ReadonlyMap<string, Pick<IndexRow, "movements">>,
): Promise<void> {
  const changes = written.flatMap(({ merchantId, endpointId, currency, orderId, movements }) => {
    const counted = before.get(orderId)?.movements ?? "";
    if (counted === movements) return [];
    const taken = unpackMovements(counted).map((each) => ({ ...each, minor: -BigInt(each.minor) }));
    return [...taken, ...unpackMovements(movements)].map(({ kind, day, minor }) => {
      return [merchantId, endpointId, currency, kind, day, minor] as const;
    });
  });
  if (changes.length === 0) return;
  const columns = [0, 1, 2, 3, 4, 5].map((at) => plainArray(changes.map((row) => row[at] ?? "")));
  await query(bookStatement, columns, "book_movements");
}

const key = "merchant_id, endpoint_id, currency, day";
const each = (write: (kind: string) => string) => movementKinds.map(write).join(", ");
const bookStatement = `
insert into statement_days as known (${key}, ${movementKinds.join(", ")})
select merchant_id, endpoint_id, currency, date '1970-01-01' + number,
  ${each((kind) => `coalesce(sum(minor) filter (where kind = '${kind}'), 0)`)}
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::bigint[])
  as source(merchant_id, endpoint_id, currency, kind, number, minor)
group by merchant_id, endpoint_id, currency, number
on conflict (merchant_id, day, endpoint_id, currency)
do update set ${each((kind) => `${kind} = known.${kind} + excluded.${kind}`)}`;

export function makeStatements(cells: Cells, query: Query) {
  const stores = cells.stores(({ node }) => node.forScreens);
  return {
    listDays: (merchant: MerchantId, { from, until }: Days) =>
      stores.call(merchant, (cell) => cell<StatementDay>(daysStatement, [merchant, from, until])),

    /** Returns a balance for each currency of the merchant's endpoints. */
    async findBalances({
      merchantId,
      endpointId,
    }: BalanceOwner): Promise<readonly MerchantBalance[]> {
      const owner = [merchantId, endpointId ?? null];
      const settled = await query<Pick<MerchantBalance, "currency" | "settled">>(
        settledStatement,
        owner,
      );
      const moved = await stores.call(merchantId, (cell) =>
        cell<MerchantBalance>(netStatement, owner),
      );
      const found = new Map(moved.map((row) => [row.currency, row]));
      return settled.map((row) => ({ net: "0", pending: "0", ...found.get(row.currency), ...row }));
    },
  };
}

const net = "gross - fees - returns - chargebacks - payouts";
const daysStatement = `
select to_char(day, 'YYYY-MM-DD') as day, currency, sum(${net})::text as net,
  ${each((kind) => `sum(${kind})::text as ${kind}`)}
from statement_days where merchant_id = $1 and day between $2::date and $3::date
group by day, currency
having ${each((kind) => `sum(${kind}) <> 0`).replaceAll(",", " or")}
order by day desc, currency`;
const netStatement = `
select currency, sum(${net})::text as net, sum(pending)::text as pending from statement_days
where merchant_id = $1 and ($2::bigint is null or endpoint_id = $2) group by currency`;
const settledStatement = `
select currency, (
    select coalesce(sum(amount), 0)::text from settlements
    where merchant_id = $1 and currency = endpoints.currency
      and ($2::bigint is null or endpoint_id = $2)
  ) as settled
from endpoints where merchant_id = $1 and ($2::bigint is null or id = $2)
group by currency order by currency`;

export type Settlement = Pick<MerchantBalance, "currency"> & {
  readonly reference: string;
  readonly endpoint: string | null;
  readonly minor: string;
};

/** Books a settlement. Returns false if its reference is booked already. */
export async function addSettlement(query: Query, merchant: MerchantId, booked: Settlement) {
  const { reference, endpoint, minor, currency } = booked;
  const added = await query(
    `insert into settlements (merchant_id, reference, endpoint_id, amount, currency)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning reference`,
    [merchant, reference, endpoint, minor, currency],
  );
  return added.length > 0;
}

export function listSettlements(query: Query, merchant: MerchantId, most: number) {
  return query<Settlement & { readonly at: number }>(
    `select reference, endpoint_id as endpoint, amount::text as minor, currency,
       (extract(epoch from booked_at) * 1000)::float8 as at
     from settlements where merchant_id = $1 order by booked_at desc, reference limit $2`,
    [merchant, most],
  );
}
