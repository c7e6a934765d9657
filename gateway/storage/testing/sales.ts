/** Plain sales, written by the gateway's own statements: begun, then approved. */
import { draft, events, step } from "../../orders/testing.ts";
import { asCardId, asOrderId, type OrderId } from "../../values/ids.ts";
import { later } from "../../values/time.ts";
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

/** Returns the orders that the portal lists, by their ids. */
export async function listIndexed({ query }: Database): Promise<readonly string[]> {
  const rows = await query<{ id: string }>("select order_id as id from order_index order by 1");
  return rows.map(({ id }) => id);
}
