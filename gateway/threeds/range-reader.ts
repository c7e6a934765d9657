/**
 * Reads the answers to a refresh of card ranges (PRes or Erro in 2.x, CRRes in 1.0.2): short ones
 * at once, long ones in a thread, so that payments continue. If the thread fails, the stored ranges
 * stay. If the reader is closed before the end, it rejects, because the answer itself may be valid.
 */
import {
  type Emv3dsMessage,
  MessageFault,
  readCardRanges,
  readMessage,
  textOf,
} from "@tollgate/protocols/emv3ds";
import { readXml, ThreeDsFault } from "@tollgate/protocols/threeds102";
import { type Clock, minutes } from "../values/time.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";
import {
  type Protocol,
  padFirst,
  padLast,
  type RangePortions,
  type StoredRange,
} from "./card-ranges.ts";
import type { Blocks } from "./directory-client.ts";

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
  /** The longest answer, in MiB. */
  readonly rangesMibMax: number;
};

/** Answers up to this length are read at once, in milliseconds. Most name few changes or none. */
const shortBytes = 64 * 1024;
/** The reader's limit on a busy machine. 250,000 ranges need some seconds. */
const replyWithinMs = minutes(5);
/** The memory for the text, the parsed JSON and the ranges. */
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
    /** Ends the thread and frees its memory. */
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

/** The protocol of the answer. `request` is the PReq that it answers. */
export type RangeReading =
  | { readonly protocol: "1" & Protocol }
  | {
      readonly protocol: "2" & Protocol;
      readonly request: Emv3dsMessage;
      readonly allowHttp: boolean;
    };

type Bounds = Pick<StoredRange, "first" | "last">;

export type RangeAnswer =
  | {
      readonly kind: "changes";
      readonly put: readonly StoredRange[];
      readonly remove: readonly Bounds[];
      readonly serialNumber?: string | undefined;
    }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "invalid"; readonly cause: string };

/** The list may be long. The caller decides in which thread it is read. */
export function readRangeAnswer(text: string, reading: RangeReading): RangeAnswer {
  if (reading.protocol === "1") return readCrRes(text);
  const { request, allowHttp } = reading;
  const answer = readMessage(text, { types: ["PRes", "Erro"], request, allowHttp });
  if (answer instanceof MessageFault) {
    return { kind: "invalid", cause: `the PRes is invalid: ${answer.code} ${answer.detail}` };
  }
  if (answer.messageType === "Erro") {
    return { kind: "refused", code: textOf(answer, "errorCode") ?? "" };
  }
  return readPRes(answer);
}

/** The last mention of a range counts. */
function readPRes(answer: Emv3dsMessage): RangeAnswer {
  const put = new Map<string, StoredRange>();
  const remove = new Map<string, Bounds>();
  for (const { start, end, action, versions } of readCardRanges(answer)) {
    const newest = versions.at(-1);
    const range = { first: padFirst(start), last: padLast(end) };
    const key = range.first + range.last;
    put.delete(key);
    remove.delete(key);
    // A range without a version that the gateway supports counts as not enrolled.
    if (action === "D" || newest === undefined) {
      remove.set(key, range);
      continue;
    }
    const { version, methodUrl } = newest;
    put.set(key, { ...range, version, ...(methodUrl === undefined ? {} : { methodUrl }) });
  }
  const serialNumber = textOf(answer, "serialNum");
  return {
    kind: "changes",
    serialNumber,
    put: [...put.values()],
    remove: [...remove.values()],
  };
}

function readCrRes(text: string): RangeAnswer {
  const answer = readXml("CRRes", text);
  if (answer instanceof ThreeDsFault || answer.iReq !== undefined) {
    const cause = answer instanceof ThreeDsFault ? answer.reason : answer.iReq?.iReqCode;
    return { kind: "invalid", cause: `the CRRes is invalid: ${cause}` };
  }
  const put = new Map<string, StoredRange>();
  for (const { begin, end, action } of answer.cardRanges) {
    const range = { first: padFirst(begin), last: padLast(end), version: "1.0.2" };
    if (action === "A") put.set(range.first + range.last, range);
  }
  return { kind: "changes", put: [...put.values()], remove: [] };
}

/** Few enough ranges not to delay the orders of a running gateway while they are stored. */
const portionRanges = 500;

export function writePortion(ranges: readonly Bounds[], from: number): string {
  return JSON.stringify(ranges.slice(from, from + portionRanges));
}
