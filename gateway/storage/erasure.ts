/**
 * Deletes what must not be known any longer from orders that stay in the books. It changes nothing
 * of what happened to an order, and is the only code beside the commit queue that writes orders.
 */
import type { Query } from "./database.ts";

/** Orders a statement looks at, so that payments do not notice it. */
const pageSize = 1_000;

/**
 * Digests of requests of an earlier version, which cover the CVV. Each call goes on after the
 * page of the last one, and answers how many orders it has looked at.
 */
export function makeDeleteDigests(query: Query): () => Promise<number> {
  let after = "0";
  return async () => {
    const page = await query<{ id: string }>(nextPage, [after, pageSize]);
    const last = page.at(-1)?.id ?? after;
    if (last !== after) await query(deleteDigests, [after, last]);
    after = last;
    return page.length;
  };
}

const nextPage = "select id from orders where id > $1::bigint order by id limit $2";

/** Thirty-two zeros are no digest, and zero is no key. */
const deleteDigests = `
update orders set digest = decode(repeat('00', 32), 'hex'), digest_key = 0
where id > $1::bigint and id <= $2::bigint
  and digest_key is null and accepted_at < now() - interval '15 minutes'`;
