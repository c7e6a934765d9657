/** What happened to an order, event by event, as it was committed. */
import type { Order } from "../orders/order.ts";
import type { Query } from "./database.ts";

export type HistoryLine = {
  /** The order's version after the commit that the event was part of. */
  readonly version: number;
  readonly at: string;
  readonly node: string;
  readonly kind: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

export async function findHistory(
  query: Query,
  { merchantId, id }: Order,
): Promise<readonly HistoryLine[]> {
  const rows = await query<Commit>(
    `select version, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as at, node, events
     from order_history where merchant_id = $1 and order_id = $2 order by version`,
    [merchantId, id],
  );
  return rows.flatMap(({ version, at, node, events }) =>
    events.map(({ kind, ...detail }) => ({ version, at, node, kind, detail })),
  );
}

type Commit = {
  readonly version: number;
  readonly at: string;
  readonly node: string;
  readonly events: readonly ({ readonly kind: string } & Readonly<Record<string, unknown>>)[];
};
