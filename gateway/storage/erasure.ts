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
  let after: { readonly merchant_id: string; readonly id: string } | undefined;
  return async () => {
    const key = [after?.merchant_id ?? "-1", after?.id ?? "-1"];
    const page = await query<NonNullable<typeof after>>(nextPage, [...key, pageSize]);
    after = page.at(-1) ?? after;
    if (after !== undefined && page.length > 0) {
      await query(deleteDigests, [...key, after.merchant_id, after.id]);
    }
    return page.length;
  };
}

const nextPage = `
select merchant_id, id from orders where (merchant_id, id) > ($1::bigint, $2::bigint)
order by merchant_id, id limit $3`;

/** Thirty-two zeros are no digest, and zero is no key. */
const deleteDigests = `
update orders set digest = decode(repeat('00', 32), 'hex'), digest_key = 0
where (merchant_id, id) > ($1::bigint, $2::bigint) and (merchant_id, id) <= ($3::bigint, $4::bigint)
  and digest_key is null and accepted_at < now() - interval '15 minutes'`;
