/** The questions after card ranges: PReq of 2.x, CRReq of 1.0.2, and what the answers change. */
import { randomUUID } from "node:crypto";
import {
  type Emv3dsMessage,
  MessageFault,
  protocolVersions,
  readCardRanges,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import { readCrRes, ThreeDsFault, writeCrReq } from "@tollgate/protocols/threeds102";
import { padFirst, padLast, type StoredRange } from "./card-ranges.ts";
import type { Directory } from "./directories.ts";
import type { RangeChanges, RefreshLease } from "./range-store.ts";

export type Told = RangeChanges | "no_answer" | "too_often";
export type AskRanges = (directory: Directory, known: ExistingOrder) => Promise<Told>;

export type AskDependencies = {
  readonly timeoutMs: number;
  readonly allowHttp: boolean;
  /** Why what came is no list. */
  readonly onRefused: (directory: string, cause: string) => void;
};

type ExistingOrder = Pick<RefreshLease, "serialNumber" | "version">;

/** As much as `readMessage` takes. */
const answerBytesMax = 64 * 1024 * 1024;
/** Every version, and once more when the serial number turns out to be unknown. */
export const questionsMax = 2 * protocolVersions.length;

export function makeAskNewer(dependencies: AskDependencies): AskRanges {
  return askNewer;

  async function askNewer(directory: Directory, known: ExistingOrder): Promise<Told> {
    const { serialNumber } = known;
    for (const version of inOrder(known.version)) {
      const answer = await sendPReq(directory, version, serialNumber);
      if (answer === undefined) return "no_answer";
      if (answer.messageType === "PRes") {
        return { ...changesOf(answer), replaces: serialNumber === undefined, version };
      }
      const error = textOf(answer, "errorCode");
      // It does not know the number that it gave: the whole list, then.
      if (error === "307" && serialNumber !== undefined) return askNewer(directory, { version });
      if (error === "102") continue;
      dependencies.onRefused(directory.server.name, `PReq was answered with Erro ${error}`);
      return error === "103" ? "too_often" : "no_answer";
    }
    dependencies.onRefused(directory.server.name, "PReq is answered in no version");
    return "no_answer";
  }

  async function sendPReq(
    { server, ask }: Directory,
    messageVersion: string,
    serialNum: string | undefined,
  ): Promise<Emv3dsMessage | undefined> {
    const { url = "", referenceNumber, operatorId } = server.settings;
    const request: Emv3dsMessage = {
      messageType: "PReq",
      messageVersion,
      threeDSServerRefNumber: referenceNumber,
      threeDSServerOperatorID: operatorId,
      threeDSServerTransID: randomUUID(),
      ...(serialNum === undefined ? {} : { serialNum }),
    };
    const { allowHttp, timeoutMs } = dependencies;
    const text = await ask(url, {
      contentType: "application/json;charset=utf-8",
      body: writeMessage(request, { allowHttp }),
      ...{ answerBytesMax, timeoutMs, mayRepeat: true },
    });
    if (text === undefined) return undefined;
    const answer = readMessage(text, { types: ["PRes", "Erro"], request, allowHttp });
    if (!(answer instanceof MessageFault)) return answer;
    dependencies.onRefused(server.name, `the PRes is not right: ${answer.code} ${answer.detail}`);
    return undefined;
  }
}

/** What was answered last goes first: every question more counts against the hour's limit. */
function inOrder(known: string | undefined): readonly string[] {
  const newestFirst: readonly string[] = protocolVersions.toReversed();
  if (known === undefined || !newestFirst.includes(known)) return newestFirst;
  return [known, ...newestFirst.filter((version) => version !== known)];
}

export function makeAskOlder(dependencies: AskDependencies): AskRanges {
  return async ({ server, ask }) => {
    const { url102 = "", operatorId, requestorId } = server.settings;
    const merchant = { acqBin: digitsOf(operatorId), merId: requestorId.slice(0, 24) };
    const text = await ask(url102, {
      contentType: "application/xml;charset=utf-8",
      body: writeCrReq({ messageId: randomUUID(), merchant }),
      ...{ answerBytesMax, timeoutMs: dependencies.timeoutMs, mayRepeat: true },
    });
    if (text === undefined) return "no_answer";
    const answer = readCrRes(text);
    if (answer instanceof ThreeDsFault || answer.iReq !== undefined) {
      const cause = answer instanceof ThreeDsFault ? answer.reason : answer.iReq?.iReqCode;
      dependencies.onRefused(server.name, `the CRRes is not right: ${cause}`);
      return "no_answer";
    }
    const put = answer.cardRanges
      .filter(({ action }) => action === "A")
      .map(({ begin, end }) => ({
        ...{ first: padFirst(begin), last: padLast(end), version: "1.0.2" },
      }));
    return { replaces: true, put, remove: [] };
  };
}

/** Of a range that is named more than once, what is said last counts. */
function changesOf(answer: Emv3dsMessage): Pick<RangeChanges, "put" | "remove" | "serialNumber"> {
  const put = new Map<string, StoredRange>();
  const remove = new Map<string, Pick<StoredRange, "first" | "last">>();
  for (const { start, end, action, versions: offered } of readCardRanges(answer)) {
    const newest = offered.at(-1);
    const place = { first: padFirst(start), last: padLast(end) };
    const key = place.first + place.last;
    put.delete(key);
    remove.delete(key);
    // A range of which we speak no version is as good as none.
    if (action === "D" || newest === undefined) {
      remove.set(key, place);
      continue;
    }
    const { version, methodUrl } = newest;
    put.set(key, { ...place, version, ...(methodUrl === undefined ? {} : { methodUrl }) });
  }
  const serialNumber = textOf(answer, "serialNum");
  return { put: [...put.values()], remove: [...remove.values()], serialNumber };
}

/** An acquirer's number where only digits are allowed. */
function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, "").slice(0, 11) || "0";
}
