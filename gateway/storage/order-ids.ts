/**
 * Order ids. They are known before the insert: a node takes a block of the sequence and uses its
 * numbers from memory. Acquirers remember references, which are made of them, so none may come
 * again, even after the database has lost the latest blocks (decision 0037).
 */
import { randomInt } from "node:crypto";
import { composeOrderId, type OrderId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { Database } from "./database.ts";
import { makeGather } from "./gather.ts";

export const blockSize = 1000n;
const refillBelow = 300n;
/** Ids grow with time, give or take an hour: retention looks through the orders by id. */
const blockLifeMs = 3_600_000;

type Block = { readonly start: bigint; readonly fetchedAt: number };

/** The next block is fetched before the present one is used up. */
export function makeNextOrderId(takeBlock: () => Promise<bigint>): () => Promise<OrderId> {
  let next = 0n;
  let end = 0n;
  let fetchedAt = 0;
  let spare: Promise<Block> | undefined;

  return async () => {
    for (;;) {
      if (performance.now() - fetchedAt > blockLifeMs) next = end;
      if (next !== end) break;
      spare ??= fetchBlock();
      const fetched = spare;
      const block = await fetched;
      // Of all callers that waited for this block, the first one opens it. Those that find it used
      // up already wait for the next one.
      if (next === end && spare === fetched) {
        spare = undefined;
        next = block.start;
        end = block.start + blockSize;
        fetchedAt = block.fetchedAt;
      }
    }
    const sequence = next;
    next += 1n;
    if (spare === undefined && end - next < refillBelow) spare = fetchBlock();
    return composeOrderId(sequence, randomInt(1_000_000));
  };

  function fetchBlock(): Promise<Block> {
    const askedAt = performance.now();
    const block = takeBlock().then((start) => ({ start, fetchedAt: askedAt }));
    // A failed fetch is not cached: the next caller fetches again.
    block.catch(() => {
      spare = undefined;
    });
    return block;
  }
}

type Connection = Awaited<ReturnType<Database["connect"]>>;

type Options = {
  /** The time of the node's machine: the database's clock may be behind. */
  readonly ownTime: () => Instant;
  /** For how long a block is asked for again while the database is away. */
  readonly retryMs: number;
};

/**
 * Takes blocks over a connection of its own: the first block of each connection says that this may
 * be another server than before, one that does not know of the latest blocks.
 */
export function openOrderIds(database: Pick<Database, "connect">, { ownTime, retryMs }: Options) {
  let connection: Promise<Connection> | undefined;
  let reached = 0n;
  const takeOne = makeGather(async () => [await take()], { batchMax: 1, retryMs });

  return { takeBlock: () => takeOne(undefined), close };

  async function take(): Promise<bigint> {
    const isFirst = connection === undefined;
    connection ??= database.connect();
    try {
      const client = await connection;
      const values = [ownTime() / 1000, String(reached), isFirst];
      const { rows } = await client.query("select take_order_ids($1, $2, $3) as start", values);
      const start = BigInt(rows[0].start);
      reached = start + blockSize;
      return start;
    } catch (error) {
      // Not awaited: a server that does not answer does not say good-bye either.
      void close();
      throw error;
    }
  }

  async function close(): Promise<void> {
    const closing = connection;
    connection = undefined;
    await closing?.then((client) => client.end()).catch(() => undefined);
  }
}
