/**
 * The directory servers as they are configured now, with certificates and connections. If the files
 * of a server cannot be read, its cards stay enrolled, but requests to it fail.
 */
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Enrolment } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import { messageOf } from "../values/problem.ts";
import { openReloadable } from "../values/reloadable.ts";
import { type Clock, every } from "../values/time.ts";
import type { ThreeDSecurePolicy } from "./authentication-outcome.ts";
import {
  findEnrolment,
  hasRanges,
  type RangeLists,
  type RangeStore,
  readRangeLists,
} from "./card-ranges.ts";
import {
  type Certificates,
  type Directory,
  type DirectoryClient,
  type DirectoryRequest,
  type DirectoryServer,
  makeDirectoryClient,
  readCertificates,
} from "./directory-client.ts";
import { makeRefreshRanges } from "./refresh-ranges.ts";

export type Directories = Awaited<ReturnType<typeof openDirectories>>;

type Dependencies = {
  readonly load: () => Promise<readonly DirectoryServer[]>;
  readonly store: RangeStore;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly everyMs: number;
  /** The longest answer with ranges, in MiB. */
  readonly rangesMibMax: number;
  readonly allowHttp: boolean;
  /** No server is asked for ranges while the installation is on hold. */
  readonly mayRefresh?: () => boolean;
  readonly warn: (directory: string, cause: string) => void;
  readonly onReloadError: (error: unknown) => void;
  readonly onRefreshError: (error: unknown) => void;
};

type Connected = Directory & {
  readonly client?: DirectoryClient;
  /** The reason why the server's files cannot be used, if so. It then has no client. */
  readonly fault?: string;
};

/** How often a node looks for card ranges that are due. */
const lookEveryMs = 5_000;
/** How long the start waits for the first ranges, without which no card is enrolled. */
const firstRangesMs = 3_000;
const noCertificates: Certificates = { cert: "", key: "", ca: "", paresRoots: [] };
const fileSettings = ["certificateFile", "keyFile", "authorityFile", "paresRootsFile"] as const;

export async function openDirectories(dependencies: Dependencies) {
  const { load, store, clock, warn, mayRefresh = () => true } = dependencies;
  /** All clients, even those that only wait for their last answers. */
  const clients = new Set<DirectoryClient>();
  const refreshing = new Set<Promise<unknown>>();
  let stopping = false;
  let stopLooking = async () => {};
  let reloading = Promise.resolve();
  const { refreshRanges, stop: stopReading } = makeRefreshRanges({
    ...dependencies,
    isStopping: () => stopping,
  });
  const ranges = await openReloadable<RangeLists>({
    read: (present) => readRangeLists(store, present),
    onError: dependencies.onRefreshError,
  });
  const connected = await openReloadable<readonly Connected[]>({
    read: connectAll,
    onError: dependencies.onReloadError,
  });
  const usable = () => connected.current().filter(({ fault }) => fault === undefined);

  return {
    find: (name: string): Directory | undefined =>
      connected.current().find(({ server }) => server.name === name),
    list: (): readonly Directory[] => connected.current(),

    /** `isForced`: a screening rule demands an authentication, even with the policy `off`. */
    findEnrolment(
      card: CardNumber,
      policy: ThreeDSecurePolicy,
      isForced = false,
    ): Enrolment | undefined {
      if (policy === "off" && !isForced) return undefined;
      const servers = connected.current().map(({ server }) => server);
      return findEnrolment(card, servers, ranges.current());
    },

    countRanges: () => [...ranges.current().values()].reduce((sum, { count }) => sum + count, 0),

    /** The authorities whose certificates may post results, by the directory server's name. */
    authorities: () =>
      new Map(
        usable().map(({ server: { name, settings }, certificates: { ca } }) => [
          name,
          { certificates: ca, name: settings.resultsName },
        ]),
      ),

    /** Reads servers, files and stored ranges again, then calls `others`. Calls run in turn. */
    reload(others = async () => {}): Promise<void> {
      reloading = reloading.then(reloadAll).then(others);
      return reloading;
    },
    refresh,

    /** Refreshes ranges from now on. Waits some seconds for the first ones. */
    async start(onRefreshed: () => void): Promise<void> {
      const lists = ranges.current();
      const refreshed = refresh();
      if (!usable().every(({ server }) => hasRanges(lists, server.name))) {
        await Promise.race([refreshed, setTimeout(firstRangesMs, undefined, { ref: false })]);
      }
      stopLooking = every(
        lookEveryMs,
        () => refresh().then(onRefreshed),
        () => undefined,
      );
    },

    async stop(): Promise<void> {
      stopping = true;
      const stopped = stopLooking();
      for (const client of clients) client.close();
      await stopReading();
      await Promise.allSettled(refreshing);
      await stopped;
    },
  };

  async function reloadAll(): Promise<void> {
    await connected.reload();
    await ranges.reload();
  }

  /** Requests the ranges that are due, and reads the stored ones again. Never rejects. */
  async function refresh(): Promise<void> {
    if (stopping || !mayRefresh()) return;
    const refreshed = refreshAll();
    refreshing.add(refreshed);
    await refreshed.finally(() => refreshing.delete(refreshed));
  }

  async function refreshAll(): Promise<void> {
    // Files that could not be read may be readable now.
    if (usable().length < connected.current().length) await connected.reload();
    await Promise.all(usable().map(refreshRanges));
    // Ranges are read even if this node stored none: a notice of another node's may have been lost.
    if (!stopping) await ranges.reload();
  }

  async function connectAll(present: readonly Connected[] = []): Promise<readonly Connected[]> {
    const servers = await load();
    const knownOf = ({ name }: DirectoryServer) =>
      present.find(({ server }) => server.name === name);
    const next = await Promise.all(servers.map((server) => connect(server, knownOf(server))));
    for (const { client } of present) {
      if (client === undefined || next.some((each) => each.client === client)) continue;
      // Requests in flight still get their answers, because payments depend on them.
      void client.drain().then(() => clients.delete(client));
    }
    return next;
  }

  /** Certificates are renewed under the same names, so files are read each time. Never rejects. */
  async function connect(server: DirectoryServer, known?: Connected): Promise<Connected> {
    const { name } = server;
    const read = await readCertificates(server.settings).catch(messageOf);
    const isFaulty = typeof read === "string";
    if (isFaulty && read !== known?.fault) warn(name, read);
    const certificates = isFaulty ? keptFor(server, known) : read;
    if (certificates === undefined) return makeFaulty(server, String(read));
    const same = { server: known?.server, certificates: known?.certificates };
    if (known && isDeepStrictEqual(same, { server, certificates })) return known;
    const client = makeDirectoryClient(certificates, clock, (cause) => warn(name, cause));
    if (stopping) client.close();
    else clients.add(client);
    const { send, fetch } = client;
    return {
      server,
      certificates,
      client,
      send: unlessStopping(send),
      fetch: unlessStopping(fetch),
    };
  }

  /** Returns certificates that were read earlier from the same files, if they are still valid. */
  function keptFor({ settings }: DirectoryServer, known?: Connected): Certificates | undefined {
    if (known?.client === undefined) return undefined;
    const areSame = fileSettings.every((file) => known.server.settings[file] === settings[file]);
    return areSame ? known.certificates : undefined;
  }

  function makeFaulty(server: DirectoryServer, fault: string): Connected {
    const send = async () => {
      warn(server.name, fault);
      return undefined;
    };
    return { server, certificates: noCertificates, send, fetch: send, fault };
  }

  /** A stopping node ignores a lost answer, because another node sends the request again. */
  function unlessStopping<Answer>(
    ask: (url: string, request: DirectoryRequest) => Promise<Answer | undefined>,
  ): typeof ask {
    return async (url, request) => {
      const answer = await ask(url, request);
      if (answer === undefined && stopping) throw new Error("the node stops during a request");
      return answer;
    };
  }
}
