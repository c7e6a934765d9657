/**
 * The directory servers as they are configured now, each with its certificates read and its
 * connections; and which of them a card takes part with.
 */
import { isDeepStrictEqual } from "node:util";
import type { CardNumber } from "../../values/card-number.ts";
import type { Clock } from "../../values/time.ts";
import { type FindEnrolment, makeFindEnrolment } from "./card-ranges.ts";
import type { DirectoryServer } from "./directory.ts";
import {
  type Certificates,
  type DirectoryClient,
  makeDirectoryClient,
  readCertificates,
} from "./directory-client.ts";
import { makeRefreshRanges, type RangeStore } from "./refresh-ranges.ts";

export type Directory = {
  readonly server: DirectoryServer;
  readonly certificates: Certificates;
  readonly ask: DirectoryClient["ask"];
};

export type Directories = {
  find(name: string): Directory | undefined;
  list(): readonly Directory[];
  findEnrolment: FindEnrolment;
  /** Takes over what is configured now, and the ranges as they are stored now. */
  update(servers: readonly DirectoryServer[]): Promise<void>;
  /** Asks those whose ranges are due for them. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
};

type Needs = {
  readonly store: RangeStore;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly everyMs: number;
  readonly allowHttp: boolean;
  readonly warn: (directory: string, cause: string) => void;
};

type Running = Directory & { readonly client: DirectoryClient };

export function makeDirectories(needs: Needs): Directories {
  const { store, clock, warn } = needs;
  const running = new Map<string, Running>();
  const refreshRanges = makeRefreshRanges({ ...needs, onRefused: warn });
  let findEnrolment: FindEnrolment = () => undefined;
  let updating = Promise.resolve();

  return {
    find: (name) => running.get(name),
    list: () => [...running.values()],
    findEnrolment: (card: CardNumber) => findEnrolment(card),
    // One after the other: the last to be asked for must be the last to be seen.
    update: (servers) => (updating = updating.then(() => update(servers))),
    async refresh() {
      const learnt = await Promise.all([...running.values()].map(refreshRanges));
      if (learnt.includes(true)) await readRanges();
    },
    async stop() {
      await Promise.all([...running.values()].map(({ client }) => client.close()));
      running.clear();
    },
  };

  async function update(servers: readonly DirectoryServer[]): Promise<void> {
    const wanted = new Map(servers.map((server) => [server.name, server]));
    for (const [name, { server, client }] of running) {
      if (isDeepStrictEqual(server, wanted.get(name))) continue;
      running.delete(name);
      void client.close();
    }
    for (const [name, server] of wanted) {
      if (!running.has(name)) await start(server);
    }
    await readRanges();
  }

  async function start(server: DirectoryServer): Promise<void> {
    const { name } = server;
    try {
      const certificates = await readCertificates(server.settings);
      const onLost = (cause: string) => warn(name, cause);
      const client = makeDirectoryClient(certificates, { clock, onLost });
      running.set(name, { server, certificates, client, ask: client.ask });
    } catch (error) {
      warn(name, error instanceof Error ? error.message : String(error));
    }
  }

  async function readRanges(): Promise<void> {
    const servers = [...running.values()].map(({ server }) => server);
    findEnrolment = makeFindEnrolment(await store.list(), servers);
  }
}
