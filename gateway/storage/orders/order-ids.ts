/**
 * Order ids, and the sequence numbers from which acquirer references are made. A node takes blocks
 * of them from the database and uses them from memory, so that both are known before an order is
 * inserted. No sequence number may be issued twice, even after the database has lost the latest
 * blocks, because acquirers remember references (decisions 0037, 0055).
 */
import { asOrderId, type OrderId, orderIdMax } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import type { Database, Query } from "../server/database.ts";
import { makeGather } from "../server/gather.ts";

/** The number of sequence numbers in each block, and the highest number of order ids in a block. */
export const blockMax = 1_000;
/** Blocks last about this long, because a node that ends loses the rest of its blocks. */
const blockMs = 10_000;
const blockMin = 20;
/**
 * The longest use of a block. Ids must grow with time, except for differences of up to an hour,
 * because the search for expired cards goes through orders by id.
 */
const blockLifeMs = 3_600_000;

type OrderNumbers = { readonly id: OrderId; readonly sequence: number };

export type Block = {
  readonly firstSequence: number;
  readonly firstId: number;
  readonly size: number;
  /**
   * Returns false if the connection that fetched the block has ended: a standby that does not know
   * the block may have taken over, and would issue its ids again.
   */
  readonly isKnown: () => boolean;
};

type FetchedBlock = Block & { readonly fetchedAt: number };

/** Fetches the next block before the present one is used up. */
export function makeNextNumbers(
  takeBlock: (size: number) => Promise<Block>,
): () => Promise<OrderNumbers> {
  let block: FetchedBlock = {
    firstSequence: 0,
    firstId: 0,
    size: 0,
    fetchedAt: 0,
    isKnown: () => true,
  };
  let used = 0;
  let spare: Promise<FetchedBlock> | undefined;

  return async () => {
    for (;;) {
      if (performance.now() - block.fetchedAt > blockLifeMs || !block.isKnown()) used = block.size;
      if (used < block.size) break;
      spare ??= fetchBlock();
      const fetched = spare;
      const next = await fetched;
      // Several callers may wait for the same block. The first of them begins the block, and a
      // caller that finds the block used up waits for the next one.
      if (used >= block.size && spare === fetched) {
        spare = undefined;
        block = next;
        used = 0;
      }
    }
    const { firstSequence, firstId, size } = block;
    const sequence = firstSequence + used;
    const id = asOrderId(String(firstId + used));
    used += 1;
    if (spare === undefined && size - used < 0.3 * size) spare = fetchBlock();
    return { id, sequence };
  };

  function fetchBlock(): Promise<FetchedBlock> {
    const fetchedAt = performance.now();
    const fetching = takeBlock(sizeAt(fetchedAt)).then((next) => ({ ...next, fetchedAt }));
    fetching.catch(() => {
      spare = undefined;
    });
    return fetching;
  }

  function sizeAt(now: number): number {
    const perMs = used / Math.max(now - block.fetchedAt, 1);
    return Math.max(blockMin, Math.min(blockMax, Math.ceil(perMs * blockMs)));
  }
}

type Connection = Awaited<ReturnType<Database["connect"]>>;

type Options = {
  /** The time of the node's machine, which is used because the database's clock may be slow. */
  readonly ownTime: () => Instant;
  /** How long the node repeats its request for a block while the database is unreachable. */
  readonly retryMs: number;
};

/**
 * Takes blocks over a connection of its own. The first request of each connection is marked as the
 * first, because the connection may lead to another server, which lacks the latest blocks.
 */
export function openOrderIds(database: Pick<Database, "connect">, { ownTime, retryMs }: Options) {
  let connection: Promise<Connection> | undefined;
  let reached = 0;
  let reachedId = 0;
  const takeOne = makeGather(async ([size = blockMin]: readonly number[]) => [await take(size)], {
    batchMax: 1,
    retryMs,
  });

  return { takeBlock: (size: number): Promise<Block> => takeOne(size), close };

  async function take(size: number): Promise<Block> {
    const isFirst = connection === undefined;
    connection ??= connect();
    const taken = connection;
    const isKnown = () => connection === taken;
    try {
      const client = await connection;
      const values = [ownTime() / 1000, reached, isFirst, reachedId, size];
      const { rows } = await client.query<BlockRow>(takeStatement, values);
      const firstSequence = Number(rows[0]?.first_sequence);
      const firstId = Number(rows[0]?.first_id);
      reached = firstSequence + blockMax;
      reachedId = firstId + size;
      return { firstSequence, firstId, size, isKnown };
    } catch (error) {
      // The node does not wait for the close, because a silent server may not confirm it.
      void close();
      throw error;
    }
  }

  function connect(): Promise<Connection> {
    const connecting = database.connect();
    const forget = () => {
      if (connection === connecting) connection = undefined;
    };
    connecting.then((client) => client.on("end", forget), forget);
    return connecting;
  }

  async function close(): Promise<void> {
    const closing = connection;
    connection = undefined;
    await closing?.then((client) => client.end()).catch(() => undefined);
  }
}

type BlockRow = { readonly first_sequence: string; readonly first_id: string };
const takeStatement = "select * from take_order_numbers($1, $2, $3, $4, $5)";

/**
 * Where the order with a sequence number is: its id, if a stored block contains the number, or the
 * range of ids between the two nearest blocks. A block may be missing, even the very first one, if
 * a standby took over before it received the block.
 */
export type OrderPosition =
  | { readonly id: OrderId }
  | { readonly sequence: number; readonly low: number; readonly high: number };

export async function findPosition(query: Query, sequence: number): Promise<OrderPosition> {
  const blocks = await query<BlockRow & { readonly size: number }>(
    `(select first_sequence, first_id, size from order_blocks
       where first_sequence <= $1 order by first_sequence desc limit 1)
     union all
     (select first_sequence, first_id, size from order_blocks
       where first_sequence > $1 order by first_sequence limit 1)`,
    [sequence],
  );
  const before = blocks.find((block) => Number(block.first_sequence) <= sequence);
  const behind = blocks.find((block) => Number(block.first_sequence) > sequence);
  const [start, size] = [Number(before?.first_id ?? 0), before?.size ?? 0];
  const offset = sequence - Number(before?.first_sequence ?? 0);
  if (offset < size) return { id: asOrderId(String(start + offset)) };
  const high = behind === undefined ? orderIdMax : Number(behind.first_id) - 1;
  return { sequence, low: start + size, high };
}

/**
 * Skips order ids and sequence numbers after a restore, before a node runs. The orders since the
 * backup are lost, but merchants know their ids and acquirers their references.
 */
export async function moveOrderNumbersAhead(query: Query): Promise<void> {
  // Skips ten million ids: as many as the orders of a busy day, and few of the ids below 2^31.
  await query("update order_numbers set next_id = next_id + 10000000");
  await query(moveSequenceAhead);
}

/** Skips a day's sequence numbers. There are 10,000 numbers for each second since 2025. */
const moveSequenceAhead = `
select setval('order_sequence', 864000000 + greatest(last_value,
  floor((extract(epoch from clock_timestamp()) - 1735689600) * 10000)::bigint))
from order_sequence`;
