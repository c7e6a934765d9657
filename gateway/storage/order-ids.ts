/**
 * Order ids are known before the insert: a node takes a block of the sequence and hands its numbers
 * out from memory. The next block is fetched before the present one is used up.
 */
import { randomInt } from "node:crypto";
import { composeOrderId, type OrderId } from "../values/ids.ts";
import type { Query } from "./database.ts";

const blockSize = 1000n;
const refillBelow = 300n;

export type NextOrderId = () => Promise<OrderId>;

export function makeNextOrderId(query: Query): NextOrderId {
  let next = 0n;
  let end = 0n;
  let spare: Promise<bigint> | undefined;

  return async () => {
    while (next === end) {
      spare ??= fetchBlock();
      const start = await spare;
      // Of all who waited for this block, the first one opens it.
      if (next === end) {
        spare = undefined;
        next = start;
        end = start + blockSize;
      }
    }
    const sequence = next;
    next += 1n;
    if (spare === undefined && end - next < refillBelow) spare = fetchBlock();
    return composeOrderId(sequence, randomInt(1_000_000));
  };

  async function takeBlock(): Promise<bigint> {
    const [row] = await query<{ start: string }>("select nextval('order_sequence') as start");
    return BigInt(row?.start ?? 0);
  }

  function fetchBlock(): Promise<bigint> {
    const block = takeBlock();
    // A failed fetch is forgotten: whoever needs a number next tries again.
    block.catch(() => {
      spare = undefined;
    });
    return block;
  }
}
