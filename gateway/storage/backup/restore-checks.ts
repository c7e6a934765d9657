/** Queries that verify a restored installation. Each statement concerns one cell. */
import type { CardId, MerchantId } from "../../values/ids.ts";
import type { Query } from "../server/database.ts";

export async function listCardKeysInUse(query: Query): Promise<readonly number[]> {
  const rows = await query<{ id: number }>("select distinct key_id as id from cards order by 1");
  return rows.map(({ id }) => id);
}

type CardName = { readonly merchantId: MerchantId; readonly cardId: CardId };

/** Returns the oldest and the newest cards under a key. */
export async function sampleCards(
  query: Query,
  key: number,
  count: number,
): Promise<readonly CardName[]> {
  const some = (direction: string) =>
    query<CardName>(
      `select merchant_id as "merchantId", id as "cardId" from cards where key_id = $1
       order by id ${direction} limit $2`,
      [key, Math.ceil(count / 2)],
    );
  const found = [...(await some("asc")), ...(await some("desc"))];
  return [...new Map(found.map((card) => [`${card.merchantId}/${card.cardId}`, card])).values()];
}

/** Returns merchants that have orders in this cell but do not exist in the main database. */
export async function findStrayMerchants(main: Query, query: Query) {
  const known = await main<{ id: string }>("select id from merchants");
  const rows = await query<{ id: string }>(
    `select distinct merchant_id as id from orders where merchant_id <> all($1::bigint[])
     limit 20`,
    [known.map(({ id }) => id)],
  );
  return rows.map(({ id }) => id);
}

/** Returns whether a cell has orders with ids that the main database would issue again. */
export async function hasOrdersFrom(query: Query, id: string): Promise<boolean> {
  return (await query("select from orders where id >= $1::bigint limit 1", [id])).length > 0;
}

export async function hasAuditEntry(query: Query, seq: number, hash: string): Promise<boolean> {
  const statement = "select from audit where seq = $1 and hash = decode($2, 'hex')";
  return (await query(statement, [seq, hash])).length > 0;
}

export async function findNextId(query: Query): Promise<string> {
  const [row] = await query<{ id: string }>("select next_id as id from order_numbers");
  if (row === undefined) throw new Error("there are no order numbers");
  return row.id;
}
