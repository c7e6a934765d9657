/** Callbacks of many orders that a test finds due, as if other nodes had written them. */
import { receiverOf } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import type { Database } from "../server/database.ts";

const serial = "0195933a-7c48-7000-8000-000000000001";

export function makeOwed({ query }: Database, now: Instant) {
  return {
    /**
     * Adds callbacks that became due one after the other until a moment ago, after `others` other
     * ones.
     */
    async owe(merchant: string, urls: readonly string[], others = 0): Promise<void> {
      await query(
        `insert into callbacks
           (merchant_id, order_id, sequence, serial, url, receiver, made_at, begun_at, due_at)
         select $1, at, 1, $2, url, receiver, now, now, now - interval '1 ms' * (5000 - $6 - at)
         from to_timestamp($5::float8 / 1000) as now,
           unnest($3::text[], $4::text[]) with ordinality as owed (url, receiver, at)`,
        [merchant, serial, urls, urls.map(receiverOf), now, others],
      );
    },
    async forgetAll(): Promise<void> {
      await query("delete from callbacks");
    },
    /** Returns how often each callback was sent without success, the lowest number first. */
    async triesOf(merchant: string): Promise<readonly number[]> {
      const rows = await query<{ tries: number }>(
        "select tries from callbacks where merchant_id = $1 order by tries",
        [merchant],
      );
      return rows.map(({ tries }) => tries);
    },
    async countDue(merchant: string): Promise<number> {
      const rows = await query(
        `select from callbacks
         where merchant_id = $1 and due_at <= to_timestamp($2::float8 / 1000)`,
        [merchant, now],
      );
      return rows.length;
    },
  };
}
