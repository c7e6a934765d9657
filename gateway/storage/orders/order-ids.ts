/**
 * Order ids, and the sequence numbers from which acquirer references are made. Both are known
 * before the insert: a node takes a block of them and uses it from memory. Acquirers remember
 * references, so none may come again, even after the database has lost the latest blocks
 * (decisions 0037, 0055).
 */
import { asOrderId, type OrderId, orderIdMax } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import type { Database, Query } from "../server/database.ts";
import { makeGather } from "../server/gather.ts";

/** Sequence numbers in a block, and the most ids. */
export const blockMax = 1_000;
/** A node that ends loses the rest of its blocks, so they last for this long. */
const blockMs = 10_000;
const blockMin = 20;
/** Ids grow with time, give or take an hour: retention looks through the orders by id. */
const blockLifeMs = 3_600_000;

type OrderNumbers = { readonly id: OrderId; readonly sequence: number };

export type Block = {
  readonly firstSequence: number;
  readonly firstId: number;
  readonly size: number;
  /**
   * False when the connection that it was taken over has ended: a standby that took over may lack
   * the block, and give its ids out again.
   */
  readonly isKnown: () => boolean;
};

type FetchedBlock = Block & { readonly fetchedAt: number };

/** The next block is fetched before the present one is used up. */
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
      // Of all callers that waited for this block, the first one opens it. Those that find it used
      // up already wait for the next one.
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
    // A failed fetch is not cached: the next caller fetches again.
    fetching.catch(() => {
      spare = undefined;
    });
    return fetching;
  }

  /** As the present block is used up: a node that takes few orders takes few ids. */
  function sizeAt(now: number): number {
    const perMs = used / Math.max(now - block.fetchedAt, 1);
    return Math.max(blockMin, Math.min(blockMax, Math.ceil(perMs * blockMs)));
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
      // Not awaited: a server that does not answer does not say good-bye either.
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
 * Which order has a sequence number: its id or, if no stored block contains the number, the range
 * of ids between the two nearest blocks. A standby that took over may lack blocks that nodes still
 * use, even the very first.
 */
export type OrderPlace =
  | { readonly id: OrderId }
  | { readonly sequence: number; readonly low: number; readonly high: number };

export async function findPlace(query: Query, sequence: number): Promise<OrderPlace> {
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
 * After a restore, before a node runs: orders since the backup are lost, but merchants know their
 * ids and acquirers their references. Neither may come again.
 */
export async function moveOrderNumbersAhead(query: Query): Promise<void> {
  // As many as a busy day has, and one in two hundred of all ids below 2^31.
  await query("update order_numbers set next_id = next_id + 10000000");
  await query(moveSequenceAhead);
}

/** A day of numbers, 10,000 a second, beyond the sequence and the clock. */
const moveSequenceAhead = `
select setval('order_sequence', 864000000 + greatest(last_value,
  floor((extract(epoch from clock_timestamp()) - 1735689600) * 10000)::bigint))
from order_sequence`;
