/**
 * Refreshes the card ranges of a directory server, by PReq (2.x) or CRReq (1.0.2). Directory
 * servers refuse more than one request an hour, so one node sends it under a lease, and all nodes
 * share the stored answer. After failures the node waits longer and longer.
 */
import { randomUUID } from "node:crypto";
import { type Emv3dsMessage, protocolVersions, writeMessage } from "@tollgate/protocols/emv3ds";
import { writeXml } from "@tollgate/protocols/threeds102";
import { messageOf } from "../values/problem.ts";
import { type Clock, hours, minutes, seconds } from "../values/time.ts";
import type { Protocol, RangeChanges, RangeStore, RefreshLease } from "./card-ranges.ts";
import type { Directory, DirectoryRequest } from "./directory-client.ts";
import { openRangeReader, type RangeReader, type RangeReading } from "./range-reader.ts";

type Dependencies = {
  readonly store: RangeStore;
  readonly clock: Clock;
  readonly everyMs: number;
  /** The longest answer, in MiB. */
  readonly rangesMibMax: number;
  readonly timeoutMs: number;
  readonly allowHttp: boolean;
  readonly warn: (directory: string, cause: string) => void;
  /** A request that fails while the node stops is not the server's failure. */
  readonly isStopping: () => boolean;
};

/** The gaps after the first failure, the second, and so on. */
const gapsMs = [seconds(30), minutes(1), minutes(2), minutes(5), minutes(15)];
const gapMaxMs = hours(1);
/** The time for the rest of a long answer, and for reading and storing it. */
const storingMs = minutes(10);
/** A request for every version, and again if the serial number is not known. */
const requestsMax = 2 * protocolVersions.length;

export function makeRefreshRanges(dependencies: Dependencies) {
  const { store, everyMs, timeoutMs, warn } = dependencies;
  // The lease is longer than all requests take, so that no other node sends them at the same time.
  const leaseMs = requestsMax * timeoutMs + storingMs;

  const readers = new Set<RangeReader>();

  return {
    /** Never rejects: failures are reported and tried again. */
    async refreshRanges(directory: Directory): Promise<void> {
      const { name, settings } = directory.server;
      const due: Protocol[] = [];
      if (settings.url !== undefined) due.push("2");
      if (settings.url102 !== undefined) due.push("1");
      const report = (error: unknown) =>
        warn(name, `could not refresh its card ranges: ${messageOf(error)}`);
      await Promise.all(due.map((protocol) => refresh(directory, protocol).catch(report)));
    },
    /** The node stops, so it stops reading and storing lists. */
    async stop(): Promise<void> {
      await Promise.all([...readers].map((reader) => reader.close()));
    },
  };

  async function refresh(directory: Directory, protocol: Protocol): Promise<void> {
    const lease = await store.claim(directory.server.name, protocol, leaseMs);
    if (lease === undefined) return;
    const reader = openRangeReader(dependencies);
    readers.add(reader);
    try {
      const fetchRanges = protocol === "2" ? fetchRanges2 : fetchRanges102;
      const changes = await fetchRanges({ ...dependencies, reader }, directory, lease);
      if (typeof changes !== "string") await store.save(lease, changes, everyMs);
      else await store.postpone(lease, changes === "too_often" ? gapMaxMs : gapAfter(lease));
    } catch (error) {
      if (dependencies.isStopping()) await store.release(lease);
      else await store.postpone(lease, gapAfter(lease));
      throw error;
    } finally {
      readers.delete(reader);
      await reader.close();
    }
  }
}

function gapAfter({ failures }: RefreshLease): number {
  return gapsMs[failures] ?? gapMaxMs;
}

type Fetched = RangeChanges | "no_answer" | "too_often";
type Requester = Dependencies & { readonly reader: RangeReader };
type KnownList = Pick<RefreshLease, "serialNumber" | "version">;

async function fetchRanges2(
  requester: Requester,
  directory: Directory,
  { serialNumber, version: answered }: KnownList,
): Promise<Fetched> {
  const { name } = directory.server;
  for (const version of inOrder(answered)) {
    const answer = await sendPReq(requester, directory, version, serialNumber);
    if (answer === undefined) return "no_answer";
    if (answer.kind === "changes") {
      return { ...answer, replaces: serialNumber === undefined, version };
    }
    const { code } = answer;
    // The directory server does not know its own serial number, so the whole list is requested.
    if (code === "307" && serialNumber !== undefined) {
      return fetchRanges2(requester, directory, { version });
    }
    if (code === "102") continue;
    requester.warn(name, `PReq was answered with Erro ${code}`);
    return code === "103" ? "too_often" : "no_answer";
  }
  requester.warn(name, "PReq is answered in no version");
  return "no_answer";
}

/** The version that was answered last comes first, because requests are limited by the hour. */
function inOrder(answered: string | undefined): readonly string[] {
  const newestFirst: readonly string[] = protocolVersions.toReversed();
  if (answered === undefined || !newestFirst.includes(answered)) return newestFirst;
  return [answered, ...newestFirst.filter((version) => version !== answered)];
}

async function sendPReq(
  requester: Requester,
  directory: Directory,
  messageVersion: string,
  serialNum: string | undefined,
) {
  const { url = "", referenceNumber, operatorId } = directory.server.settings;
  const { allowHttp } = requester;
  const request: Emv3dsMessage = {
    messageType: "PReq",
    messageVersion,
    threeDSServerRefNumber: referenceNumber,
    threeDSServerOperatorID: operatorId,
    threeDSServerTransID: randomUUID(),
    ...(serialNum === undefined ? {} : { serialNum }),
  };
  const sent = {
    contentType: "application/json;charset=utf-8",
    body: writeMessage(request, { allowHttp }),
  };
  return ask(requester, directory, url, sent, { protocol: "2", request, allowHttp });
}

async function fetchRanges102(requester: Requester, directory: Directory): Promise<Fetched> {
  const { url102 = "", operatorId, requestorId } = directory.server.settings;
  // An acquirer's BIN has digits only.
  const acqBin = operatorId.replaceAll(/\D/g, "").slice(0, 11) || "0";
  const merchant = { acqBin, merId: requestorId.slice(0, 24) };
  const sent = {
    contentType: "application/xml;charset=utf-8",
    body: writeXml("CRReq", { messageId: randomUUID(), merchant }),
  };
  const answer = await ask(requester, directory, url102, sent, { protocol: "1" });
  return answer?.kind === "changes" ? { ...answer, replaces: true } : "no_answer";
}

/** Returns undefined if there is no readable answer, which is reported. */
async function ask(
  { timeoutMs, rangesMibMax, reader, warn }: Requester,
  { server, fetch }: Directory,
  url: string,
  sent: Pick<DirectoryRequest, "contentType" | "body">,
  reading: RangeReading,
) {
  const answerBytesMax = rangesMibMax * 1024 * 1024;
  const blocks = await fetch(url, { ...sent, answerBytesMax, timeoutMs, mayRepeat: true });
  if (blocks === undefined) return undefined;
  const answer = await reader.read(blocks, reading);
  if (answer.kind !== "invalid") return answer;
  warn(server.name, answer.cause);
  return undefined;
}
