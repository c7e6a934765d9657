/**
 * What a directory server answers to a request for its card ranges: a PRes or an Erro in 2.x, a
 * CRRes in 1.0.2. The list may be long: the caller decides in which thread it is read.
 */
import {
  type Emv3dsMessage,
  MessageFault,
  readCardRanges,
  readMessage,
  textOf,
} from "@tollgate/protocols/emv3ds";
import { readXml, ThreeDsFault } from "@tollgate/protocols/threeds102";
import { type Protocol, padFirst, padLast, type StoredRange } from "./card-ranges.ts";

/** How to read an answer: `request` is the PReq that it answers. */
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
    // A range without a version that we support is not enrolled for us.
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

/** So few that storing them does not delay the orders of a running gateway. */
export const portionRanges = 500;

/** The ranges from this one on, as JSON. */
export function writePortion(ranges: readonly Bounds[], from: number): string {
  return JSON.stringify(ranges.slice(from, from + portionRanges));
}
