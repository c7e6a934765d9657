/**
 * Reads the answers of one refresh: short ones at once, long ones in a thread, so that payments go
 * on. A thread that fails is an answer that cannot be read, and the stored ranges stay; a reader
 * that is closed before the end rejects, because the answer itself may be good.
 */
import { type Clock, minutes } from "../values/time.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";
import type { RangePortions } from "./card-ranges.ts";
import type { Blocks } from "./directory-client.ts";
import {
  portionRanges,
  type RangeAnswer,
  type RangeReading,
  readRangeAnswer,
  writePortion,
} from "./range-answer.ts";

type List = "put" | "remove";
type Changes = Extract<RangeAnswer, { kind: "changes" }>;
type Other = Exclude<RangeAnswer, Changes>;

export type ReaderRequest =
  | { readonly blocks: Blocks; readonly reading: RangeReading }
  | { readonly list: List; readonly from: number };
export type ReaderReply =
  | Other
  | (Omit<Changes, List> & Readonly<Record<List, number>>)
  | { readonly portion: string };

type ReadAnswer = Other | (Omit<Changes, List> & Readonly<Record<List, RangePortions>>);

export type RangeReader = ReturnType<typeof openRangeReader>;

type Dependencies = {
  readonly clock: Clock;
  /** The size of the longest answer. */
  readonly rangesMibMax: number;
};

/** Takes few milliseconds; most answers name a few changes, or none. */
const shortBytes = 64 * 1024;
/** On a busy machine, too: 250,000 ranges take some seconds. */
const replyWithinMs = minutes(5);
/** The text, what JSON makes of it, and the ranges. */
const heapPerMib = 8;
const heapMibMin = 256;

export function openRangeReader({ clock, rangesMibMax }: Dependencies) {
  const thread = startWorkerThread<ReaderRequest, ReaderReply>({
    file: new URL("./range-reader-thread.ts", import.meta.url),
    inFlightMax: 1,
    replyWithinMs,
    clock,
    onLost: () => undefined,
    heapMib: Math.max(heapMibMin, heapPerMib * rangesMibMax),
  });

  return {
    async read(blocks: Blocks, reading: RangeReading): Promise<ReadAnswer> {
      const bytes = blocks.reduce((sum, { length }) => sum + length, 0);
      if (bytes <= shortBytes) return readHere(Buffer.concat(blocks).toString(), reading);
      const reply = await thread.ask({ blocks, reading });
      if (reply instanceof ThreadFault && reply.kind !== "stopped") {
        return { kind: "invalid", cause: describe(reply) };
      }
      if (reply instanceof ThreadFault) throw new Error(describe(reply));
      if ("portion" in reply) throw new Error("the thread replied with a portion to an answer");
      if (reply.kind !== "changes") return reply;
      const put = fromThread("put", reply.put);
      return { ...reply, put, remove: fromThread("remove", reply.remove) };
    },
    /** Ends the thread, and what it keeps in memory. */
    close: thread.stop,
  };

  function fromThread(list: List, count: number): RangePortions {
    return {
      count,
      async *read() {
        for (let from = 0; from < count; from += portionRanges) {
          const reply = await thread.ask({ list, from });
          if (reply instanceof ThreadFault) throw new Error(describe(reply));
          if (!("portion" in reply)) throw new Error("the thread that read the ranges was lost");
          yield reply.portion;
        }
      },
    };
  }
}

function readHere(text: string, reading: RangeReading): ReadAnswer {
  const answer = readRangeAnswer(text, reading);
  if (answer.kind !== "changes") return answer;
  return { ...answer, put: portionsOf(answer.put), remove: portionsOf(answer.remove) };
}

function portionsOf(ranges: Changes[List]): RangePortions {
  return {
    count: ranges.length,
    async *read() {
      for (let from = 0; from < ranges.length; from += portionRanges) {
        yield writePortion(ranges, from);
      }
    },
  };
}

function describe({ kind, detail }: ThreadFault): string {
  return `the card ranges could not be read: ${kind} ${detail}`.trim();
}
