/** Rows that tests of the storage write and count: plain sales, callbacks, rows of a merchant. */
import { draft, events, step } from "../../orders/testing.ts";
import { asCardId, asOrderId, type OrderId, receiverOf } from "../../values/ids.ts";
import { type Instant, later } from "../../values/time.ts";
import { makeBegin, makeCommit } from "../orders/commit.ts";
import type { Database } from "../server/database.ts";
import { makeFixedName } from "../server/presence.ts";

export function makeSell(database: Database) {
  const options = { callbackLeaseMs: 1000 };
  const begin = makeBegin(database.add, makeFixedName("node-1"), options);
  const commit = makeCommit(database.hot, makeFixedName("node-1"), options);
  let sequence = 10_000_000;

  return async (): Promise<OrderId> => {
    sequence += 1;
    const id = asOrderId(String(sequence));
    const card = { ...draft.card, cardId: asCardId(id) };
    const order = { ...draft, id, sequence, clientOrderId: `invoice-${id}`, card };
    const begun = step(order, events.received);
    const { merchantId } = order;
    const kept = { keyId: 1, sealed: Buffer.alloc(90), fingerprint: Buffer.alloc(32) };
    const digest = { digest: Buffer.alloc(32), keyId: 1, cvv: undefined };
    await begin({
      step: begun,
      digest,
      sealCard: () => ({ merchantId, cardId: card.cardId, ...kept }),
    });
    await commit(step(begun.order, events.authorized, later(begun.at, 900)));
    return id;
  };
}

export async function listIndexed({ query }: Database): Promise<readonly string[]> {
  const rows = await query<{ id: string }>("select order_id as id from order_index order by 1");
  return rows.map(({ id }) => id);
}

const serial = "0195933a-7c48-7000-8000-000000000001";

export function makeOwed({ query }: Database, now: Instant) {
  return {
    /** Adds callbacks that became due one after the other, after `others` earlier ones. */
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
    /** Returns the number of failed attempts of each callback, the lowest number first. */
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

const moved = [
  ...["orders", "order_history", "requests", "cards", "callbacks", "due", "held_keys"],
  ...["screening_tallies", "payment_links", "order_index", "order_figures", "statement_days"],
];

export const none: readonly number[] = moved.map(() => 0);

export async function countAll({ query }: Database, id: number): Promise<readonly number[]> {
  const counts: number[] = [];
  for (const table of moved) {
    const owned = table === "held_keys" ? "context like $1 || '/%'" : "merchant_id::text = $1";
    counts.push((await query(`select from ${table} where ${owned}`, [String(id)])).length);
  }
  return counts;
}

export async function fill({ query }: Database, id: number, count: number): Promise<void> {
  const facts = `'{"acceptedAt":1,"purchase":{"amount":["1","USD"]}}'::json`;
  const transaction = '"transaction":{"amount":["1","USD"]},"earlier":[],"n":1.50';
  const progress = `'{"schema":1,${transaction}}'::json`;
  const each = `from generate_series(1, ${count}) as n`;
  const base = `${id}000000 + n`;
  await query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
       facts, progress)
     select ${id}, ${base}, 1, 'order-' || n, 1, '\\x01', 1, 1, 1, 'sale', 'approved', 1, 'USD',
       now(), ${facts}, ${progress} ${each}`,
  );
  await query(
    `insert into order_history (merchant_id, order_id, version, at, node, events)
     select ${id}, ${base}, 1, now(), 'n', '[]' ${each}`,
  );
  await query(
    `insert into requests (merchant_id, serial, endpoint_id, order_id, operation, at, answer)
     select ${id}, gen_random_uuid(), 1, ${base}, 'sale', now(), '{}' ${each}`,
  );
  await query(
    `insert into cards (merchant_id, id, key_id, sealed, fingerprint)
     select ${id}, ${base}, 1, '\\xff00', '\\x02' ${each}`,
  );
  await query(
    `insert into callbacks (merchant_id, order_id, sequence, serial, url, made_at, due_at)
     select ${id}, ${base}, 1, gen_random_uuid(), 'http://a', now(), now() ${each}`,
  );
  await query(
    `insert into due (due_at, order_id, version, merchant_id)
     select now(), ${base}, 1, ${id} ${each}`,
  );
  await query(
    `insert into screening_tallies (merchant_id, key, first_at, keep_until, events)
     select ${id}, gen_random_uuid(), 1, 2, '\\x0102' ${each}`,
  );
  await query(
    `insert into payment_links (merchant_id, id, endpoint_id, amount, currency, description,
       created_at, created_by, uses)
     select ${id}, ${base}, 1, 1, 'USD', 'd', 1, 'o', '{page}' ${each}`,
  );
  await query(
    `insert into order_index (merchant_id, at, order_id, version, endpoint_id, client_orderid, kind,
       stage, status, outcome, reason, threeds, amount, currency, network, last_four, email, gate,
       reference, words)
     select ${id}, now(), ${base}, 1, 1, 'order-' || n, 'sale', 'sale_approved', 'approved',
       'approved', '', '', 1, 'USD', '', '', '', '', '', '{s:approved}' ${each}`,
  );
  await query(
    `insert into order_figures (merchant_id, grain, at, name, key, count)
     select ${id}, 'minute', now() - make_interval(mins => n), 'outcome', 'approved', 1 ${each}`,
  );
  await query(
    `insert into statement_days (merchant_id, day, endpoint_id, currency, gross, fees, returns,
       chargebacks, payouts, pending)
     select ${id}, current_date - n, 1, 'USD', n, 0, 0, 0, 0, 0 ${each}`,
  );
  await query(
    `insert into held_keys (context, key_id, sealed, expires_at)
     values ('${id}/1', 1, '\\x03', now())`,
  );
}
