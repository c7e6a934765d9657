/**
 * Asks a directory server for its card ranges: by PReq for 2.x, by CRReq for 1.0.2. Directory
 * servers refuse to be asked more than once an hour, so of all nodes one asks, and all share what
 * it was told.
 */
import { randomUUID } from "node:crypto";
import {
  type Message,
  MessageFault,
  readCardRanges,
  readMessage,
  textOf,
  versions,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import { readCrRes, ThreeDsFault, writeCrReq } from "@tollgate/protocols/threeds102";
import { padFirst, padLast, type StoredRange } from "./card-ranges.ts";
import type { Directory } from "./directories.ts";

export type RangeChanges = {
  readonly directory: string;
  readonly protocol: "2" | "1";
  /** Whether what is stored goes first: the directory server has sent everything. */
  readonly replaces: boolean;
  readonly put: readonly StoredRange[];
  readonly remove: readonly Pick<StoredRange, "first" | "last">[];
  /** To be named next time, so that only changes are sent. */
  readonly serialNumber: string | undefined;
};

export type RangeStore = {
  list(): Promise<readonly StoredRange[]>;
  /** Whether this node is the one to ask now; the serial number that was told last, when it is. */
  claim(directory: string, retryMs: number): Promise<{ serialNumber?: string } | undefined>;
  /** Changes the ranges, and lets nobody ask again until then. */
  save(changes: readonly RangeChanges[], directory: string, nextMs: number): Promise<void>;
};

type Needs = {
  readonly store: RangeStore;
  readonly timeoutMs: number;
  readonly everyMs: number;
  readonly allowHttp: boolean;
  /** What a merchant plug-in says of itself where no merchant is meant. */
  readonly onRefused: (directory: string, cause: string) => void;
};

/** Even a network's whole list is smaller. */
const answerBytesMax = 128 * 1024 * 1024;
/** Longer than the questions take, so that no other node asks beside this one. */
const retryMs = 30_000;

/** Whether anything was learnt. */
export type RefreshRanges = (directory: Directory) => Promise<boolean>;

export function makeRefreshRanges(needs: Needs): RefreshRanges {
  return async (directory) => {
    const { name, settings } = directory.server;
    const claimed = await needs.store.claim(name, retryMs);
    if (claimed === undefined) return false;
    const found = [
      settings.url === undefined ? undefined : await askNewer(directory, claimed.serialNumber),
      settings.url102 === undefined ? undefined : await askOlder(directory),
    ].filter((changes) => changes !== undefined);
    const wanted = [settings.url, settings.url102].filter((url) => url !== undefined);
    if (found.length === 0) return false;
    // What was not told this time is asked for again soon.
    await needs.store.save(found, name, found.length < wanted.length ? retryMs : needs.everyMs);
    return true;
  };

  async function askNewer(
    directory: Directory,
    serialNumber: string | undefined,
  ): Promise<RangeChanges | undefined> {
    for (const version of versions.toReversed()) {
      const answer = await sendPReq(directory, version, serialNumber);
      if (answer === undefined) return undefined;
      const error = answer.messageType === "Erro" ? textOf(answer, "errorCode") : undefined;
      // It does not know the number that it gave: the whole list, then.
      if (error === "307" && serialNumber !== undefined) return askNewer(directory, undefined);
      if (answer.messageType === "PRes") return changesOf(directory, answer, serialNumber);
      if (error !== "102") {
        needs.onRefused(directory.server.name, `PReq was answered with Erro ${error}`);
        return undefined;
      }
    }
    return undefined;
  }

  async function sendPReq(
    { server, ask }: Directory,
    messageVersion: string,
    serialNum: string | undefined,
  ): Promise<Message | undefined> {
    const { url = "", referenceNumber, operatorId } = server.settings;
    const request: Message = {
      messageType: "PReq",
      messageVersion,
      threeDSServerRefNumber: referenceNumber,
      threeDSServerOperatorID: operatorId,
      threeDSServerTransID: randomUUID(),
      ...(serialNum === undefined ? {} : { serialNum }),
    };
    const { allowHttp, timeoutMs } = needs;
    const text = await ask(url, {
      contentType: "application/json;charset=utf-8",
      body: writeMessage(request, { allowHttp }),
      ...{ answerBytesMax, timeoutMs },
    });
    if (text === undefined) return undefined;
    const answer = readMessage(text, { types: ["PRes", "Erro"], request, allowHttp });
    if (!(answer instanceof MessageFault)) return answer;
    needs.onRefused(server.name, `the PRes is not right: ${answer.code} ${answer.detail}`);
    return undefined;
  }

  async function askOlder({ server, ask }: Directory): Promise<RangeChanges | undefined> {
    const { url102 = "", operatorId, requestorId } = server.settings;
    const merchant = { acqBin: digitsOf(operatorId), merId: requestorId.slice(0, 24) };
    const text = await ask(url102, {
      contentType: "application/xml;charset=utf-8",
      body: writeCrReq({ messageId: randomUUID(), merchant }),
      ...{ answerBytesMax, timeoutMs: needs.timeoutMs },
    });
    if (text === undefined) return undefined;
    const answer = readCrRes(text);
    if (answer instanceof ThreeDsFault || answer.iReq !== undefined) {
      const cause = answer instanceof ThreeDsFault ? answer.reason : answer.iReq?.iReqCode;
      needs.onRefused(server.name, `the CRRes is not right: ${cause}`);
      return undefined;
    }
    const put = answer.cardRanges
      .filter(({ action }) => action === "A")
      .map(({ begin, end }) => ({
        ...{ directory: server.name, version: "1.0.2" },
        ...{ first: padFirst(begin), last: padLast(end) },
      }));
    const nothing = { remove: [], serialNumber: undefined };
    return { directory: server.name, protocol: "1", replaces: true, put, ...nothing };
  }
}

function changesOf(
  { server }: Directory,
  answer: Message,
  serialNumber: string | undefined,
): RangeChanges {
  const ranges = readCardRanges(answer).map(({ start, end, action, versions: offered }) => {
    const newest = offered.at(-1);
    const place = { first: padFirst(start), last: padLast(end) };
    // A range of which we speak no version is as good as none.
    if (action === "D" || newest === undefined) return { put: undefined, place };
    const { version, methodUrl } = newest;
    const range = { directory: server.name, ...place, version };
    return { put: methodUrl === undefined ? range : { ...range, methodUrl }, place };
  });
  return {
    directory: server.name,
    protocol: "2",
    replaces: serialNumber === undefined,
    put: ranges.flatMap(({ put }) => put ?? []),
    remove: ranges.flatMap(({ put, place }) => (put === undefined ? [place] : [])),
    serialNumber: textOf(answer, "serialNum"),
  };
}

/** An acquirer's number where only digits are allowed. */
function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, "").slice(0, 11) || "0";
}
