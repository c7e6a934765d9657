/**
 * The directory servers as they are configured now, each with its certificates read and its
 * connections; and which of them a card takes part with. One whose files cannot be read keeps its
 * cards: they take part, but asking it fails.
 */
import { isDeepStrictEqual } from "node:util";
import type { CardNumber } from "../../values/card-number.ts";
import type { Clock } from "../../values/time.ts";
import { type FindEnrolment, makeFindEnrolment } from "./card-ranges.ts";
import { type Certificates, messageOf, noCertificates, readCertificates } from "./certificates.ts";
import type { DirectoryServer } from "./directory.ts";
import { type DirectoryClient, makeDirectoryClient } from "./directory-client.ts";
import { makeInTurn } from "./in-turn.ts";
import { makeLiveRanges } from "./live-ranges.ts";
import type { RangeStore } from "./range-store.ts";
import { makeRefreshRanges } from "./refresh-ranges.ts";

export type Directory = {
  readonly server: DirectoryServer;
  readonly certificates: Certificates;
  readonly ask: DirectoryClient["ask"];
};

export type Directories = {
  find(name: string): Directory | undefined;
  list(): readonly Directory[];
  findEnrolment: FindEnrolment;
  /** Whether of one that could be asked no range is stored at all. */
  lacksRanges(): boolean;
  /** Takes over what is configured now, and the ranges as they are stored now. */
  update(servers: readonly DirectoryServer[]): Promise<void>;
  /** Asks those whose ranges are due for them. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
};

type Dependencies = {
  readonly store: RangeStore;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly everyMs: number;
  readonly allowHttp: boolean;
  readonly warn: (directory: string, cause: string) => void;
};

type Running = Directory & {
  readonly client?: DirectoryClient;
  /** Why its files cannot be used; it then has no client. */
  readonly fault?: string;
};

export function makeDirectories(dependencies: Dependencies): Directories {
  const { store, clock, warn } = dependencies;
  const running = new Map<string, Running>();
  /** Also those that only wait for their last answers. */
  const clients = new Set<DirectoryClient>();
  const refreshing = new Set<Promise<unknown>>();
  const isEnded = () => ended;
  const refreshRanges = makeRefreshRanges({ ...dependencies, onRefused: warn, isEnded });
  const ranges = makeLiveRanges(store);
  // The last to be asked for must be the last to be seen.
  const inTurn = makeInTurn();
  let findEnrolment: FindEnrolment = () => undefined;
  let ended = false;

  return {
    find: (name) => running.get(name),
    list: () => [...running.values()],
    findEnrolment: (card: CardNumber) => findEnrolment(card),
    lacksRanges: () => usable().some(({ server }) => !ranges.hasAny(server.name)),
    update: (servers) => inTurn(() => update(servers)),
    async refresh() {
      if (ended) return;
      const refreshed = refresh();
      refreshing.add(refreshed);
      await refreshed.finally(() => refreshing.delete(refreshed));
    },
    async stop() {
      ended = true;
      for (const client of clients) client.close();
      await Promise.allSettled(refreshing);
      running.clear();
    },
  };

  async function update(servers: readonly DirectoryServer[]): Promise<void> {
    const named = new Set(servers.map(({ name }) => name));
    for (const name of running.keys()) if (!named.has(name)) end(name);
    for (const server of servers) await takeOver(server);
    await readRanges();
  }

  async function refresh(): Promise<void> {
    const faulty = [...running.values()].filter(({ fault }) => fault !== undefined);
    for (const { server } of faulty) await inTurn(() => tryAgain(server));
    await Promise.all(usable().map(refreshRanges));
    if (ended) return;
    // Also when nothing was learnt here: should a notice be missed, another node's news are seen.
    await readRanges();
  }

  function usable(): readonly Running[] {
    return [...running.values()].filter(({ fault }) => fault === undefined);
  }

  async function tryAgain(server: DirectoryServer): Promise<void> {
    if (running.get(server.name)?.server === server) await takeOver(server);
  }

  /** Its files are read again each time: certificates are renewed under the same names. */
  async function takeOver(server: DirectoryServer): Promise<void> {
    const { name } = server;
    const known = running.get(name);
    const read = await readCertificates(server.settings).catch(messageOf);
    if (ended) return;
    const isNews = typeof read === "string" && read !== known?.fault;
    if (isNews) warn(name, read);
    const certificates = typeof read === "string" ? keptOf(known, server) : read;
    if (certificates === undefined) {
      end(name);
      running.set(name, makeFaulty(server, String(read)));
      return;
    }
    const same = { server: known?.server, certificates: known?.certificates };
    if (isDeepStrictEqual(same, { server, certificates })) return;
    end(name);
    const client = makeDirectoryClient(certificates, {
      clock,
      onLost: (cause) => warn(name, cause),
    });
    clients.add(client);
    running.set(name, { server, certificates, client, ask: unlessEnded(client) });
  }

  /** What was read of the same files before is still good. */
  function keptOf(known: Running | undefined, { settings }: DirectoryServer) {
    if (known === undefined || known.fault !== undefined) return undefined;
    const areSame = fileSettings.every((file) => known.server.settings[file] === settings[file]);
    return areSame ? known.certificates : undefined;
  }

  function makeFaulty(server: DirectoryServer, fault: string): Running {
    const ask = async () => {
      warn(server.name, fault);
      return undefined;
    };
    return { server, certificates: noCertificates, ask, fault };
  }

  /** An answer that is lost because this node ends means nothing: another node asks again. */
  function unlessEnded({ ask }: DirectoryClient): DirectoryClient["ask"] {
    return async (url, asked) => {
      const answer = await ask(url, asked);
      if (answer === undefined && ended) throw new Error("the node ends while it asks");
      return answer;
    };
  }

  /** Whoever waits for an answer still gets it: a payment hangs on it. */
  function end(name: string): void {
    const client = running.get(name)?.client;
    running.delete(name);
    if (client !== undefined) void client.drain().then(() => clients.delete(client));
  }

  async function readRanges(): Promise<void> {
    await ranges.reload();
    const servers = [...running.values()].map(({ server }) => server);
    findEnrolment = makeFindEnrolment(servers, ranges.find);
  }
}

const fileSettings = ["certificateFile", "keyFile", "authorityFile", "paresRootsFile"] as const;
