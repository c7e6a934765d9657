/**
 * Refreshes the card ranges of a directory server: by PReq for 2.x, by CRReq for 1.0.2. Directory
 * servers refuse more than one request an hour, so one node sends it under a lease and all nodes
 * share the stored answer; after failures the node waits longer and longer.
 */
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
import { readXml, ThreeDsFault, writeXml } from "@tollgate/protocols/threeds102";
import { messageOf } from "../values/problem.ts";
import { hours, minutes, seconds } from "../values/time.ts";
import {
  type Protocol,
  padFirst,
  padLast,
  type RangeChanges,
  type RangeStore,
  type RefreshLease,
  type StoredRange,
} from "./card-ranges.ts";
import type { Directory } from "./directory-client.ts";

type Dependencies = {
  readonly store: RangeStore;
  readonly everyMs: number;
  readonly timeoutMs: number;
  readonly allowHttp: boolean;
  readonly warn: (directory: string, cause: string) => void;
  /** Whether this node is stopping: a request that fails then is not the server's failure. */
  readonly isStopping: () => boolean;
};

/** After the first failure, the second … */
const gapsMs = [seconds(30), minutes(1), minutes(2), minutes(5), minutes(15)];
const gapMaxMs = hours(1);
/** For reading and storing an answer. */
const storingMs = minutes(1);
/** As much as `readMessage` takes. */
const answerBytesMax = 64 * 1024 * 1024;
/** Every version, and once more when the directory server does not know the serial number. */
const requestsMax = 2 * protocolVersions.length;

/** Never rejects: failures are reported and tried again. */
export function makeRefreshRanges(dependencies: Dependencies) {
  const { store, everyMs, timeoutMs, warn } = dependencies;
  // Longer than all requests take, so that no other node sends them at the same time.
  const leaseMs = requestsMax * timeoutMs + storingMs;

  return async (directory: Directory): Promise<void> => {
    const { name, settings } = directory.server;
    const due: Protocol[] = [];
    if (settings.url !== undefined) due.push("2");
    if (settings.url102 !== undefined) due.push("1");
    const report = (error: unknown) =>
      warn(name, `could not refresh its card ranges: ${messageOf(error)}`);
    await Promise.all(due.map((protocol) => refresh(directory, protocol).catch(report)));
  };

  async function refresh(directory: Directory, protocol: Protocol): Promise<void> {
    const lease = await store.claim(directory.server.name, protocol, leaseMs);
    if (lease === undefined) return;
    try {
      const fetchRanges = protocol === "2" ? fetchRanges2 : fetchRanges102;
      const changes = await fetchRanges(dependencies, directory, lease);
      if (typeof changes !== "string") await store.save(lease, changes, everyMs);
      else await store.postpone(lease, changes === "too_often" ? gapMaxMs : gapAfter(lease));
    } catch (error) {
      if (dependencies.isStopping()) await store.release(lease);
      else await store.postpone(lease, gapAfter(lease));
      throw error;
    }
  }
}

function gapAfter({ failures }: RefreshLease): number {
  return gapsMs[failures] ?? gapMaxMs;
}

type Fetched = RangeChanges | "no_answer" | "too_often";
type KnownList = Pick<RefreshLease, "serialNumber" | "version">;

async function fetchRanges2(
  dependencies: Dependencies,
  directory: Directory,
  { serialNumber, version: answered }: KnownList,
): Promise<Fetched> {
  const { name } = directory.server;
  for (const version of inOrder(answered)) {
    const answer = await sendPReq(dependencies, directory, version, serialNumber);
    if (answer === undefined) return "no_answer";
    if (answer.messageType === "PRes") {
      return { ...changesIn(answer), replaces: serialNumber === undefined, version };
    }
    const error = textOf(answer, "errorCode");
    // The directory server does not know the serial number that it gave: the whole list is needed.
    if (error === "307" && serialNumber !== undefined) {
      return fetchRanges2(dependencies, directory, { version });
    }
    if (error === "102") continue;
    dependencies.warn(name, `PReq was answered with Erro ${error}`);
    return error === "103" ? "too_often" : "no_answer";
  }
  dependencies.warn(name, "PReq is answered in no version");
  return "no_answer";
}

/** The version that was answered last goes first: every request counts towards the hourly limit. */
function inOrder(answered: string | undefined): readonly string[] {
  const newestFirst: readonly string[] = protocolVersions.toReversed();
  if (answered === undefined || !newestFirst.includes(answered)) return newestFirst;
  return [answered, ...newestFirst.filter((version) => version !== answered)];
}

async function sendPReq(
  { allowHttp, timeoutMs, warn }: Dependencies,
  { server, send }: Directory,
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
  const text = await send(url, {
    contentType: "application/json;charset=utf-8",
    body: writeMessage(request, { allowHttp }),
    ...{ answerBytesMax, timeoutMs, mayRepeat: true },
  });
  if (text === undefined) return undefined;
  const answer = readMessage(text, { types: ["PRes", "Erro"], request, allowHttp });
  if (!(answer instanceof MessageFault)) return answer;
  warn(server.name, `the PRes is invalid: ${answer.code} ${answer.detail}`);
  return undefined;
}

/** Of a range that is named more than once, the last mention counts. */
function changesIn(answer: Emv3dsMessage): Pick<RangeChanges, "put" | "remove" | "serialNumber"> {
  const put = new Map<string, StoredRange>();
  const remove = new Map<string, Pick<StoredRange, "first" | "last">>();
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
  return { put: [...put.values()], remove: [...remove.values()], serialNumber };
}

async function fetchRanges102(
  { timeoutMs, warn }: Dependencies,
  { server, send }: Directory,
): Promise<Fetched> {
  const { url102 = "", operatorId, requestorId } = server.settings;
  // An acquirer's BIN has digits only.
  const acqBin = operatorId.replaceAll(/\D/g, "").slice(0, 11) || "0";
  const merchant = { acqBin, merId: requestorId.slice(0, 24) };
  const text = await send(url102, {
    contentType: "application/xml;charset=utf-8",
    body: writeXml("CRReq", { messageId: randomUUID(), merchant }),
    ...{ answerBytesMax, timeoutMs, mayRepeat: true },
  });
  if (text === undefined) return "no_answer";
  const answer = readXml("CRRes", text);
  if (answer instanceof ThreeDsFault || answer.iReq !== undefined) {
    const cause = answer instanceof ThreeDsFault ? answer.reason : answer.iReq?.iReqCode;
    warn(server.name, `the CRRes is invalid: ${cause}`);
    return "no_answer";
  }
  const put = answer.cardRanges
    .filter(({ action }) => action === "A")
    .map(({ begin, end }) => ({ first: padFirst(begin), last: padLast(end), version: "1.0.2" }));
  return { replaces: true, put, remove: [] };
}
