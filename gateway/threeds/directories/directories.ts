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
  let ended = false;

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
      ended = true;
      await Promise.all([...running.values()].map(({ client }) => client.close()));
      running.clear();
    },
  };

  async function update(servers: readonly DirectoryServer[]): Promise<void> {
    const named = new Set(servers.map(({ name }) => name));
    for (const name of running.keys()) if (!named.has(name)) end(name);
    for (const server of servers) await takeOver(server);
    await readRanges();
  }

  /** Its files are read again each time: certificates are renewed under the same names. */
  async function takeOver(server: DirectoryServer): Promise<void> {
    const { name } = server;
    try {
      const certificates = await readCertificates(server.settings);
      const known = running.get(name);
      const same = { server: known?.server, certificates: known?.certificates };
      if (isDeepStrictEqual(same, { server, certificates })) return;
      end(name);
      const onLost = (cause: string) => warn(name, cause);
      const client = makeDirectoryClient(certificates, { clock, onLost });
      running.set(name, { server, certificates, client, ask: unlessEnded(client) });
    } catch (error) {
      warn(name, error instanceof Error ? error.message : String(error));
    }
  }

  /** An answer that is lost because this node ends means nothing: another node asks again. */
  function unlessEnded({ ask }: DirectoryClient): DirectoryClient["ask"] {
    return async (url, asked) => {
      const answer = await ask(url, asked);
      if (answer === undefined && ended) throw new Error("the node ends while it asks");
      return answer;
    };
  }

  function end(name: string): void {
    void running.get(name)?.client.close();
    running.delete(name);
  }

  async function readRanges(): Promise<void> {
    const servers = [...running.values()].map(({ server }) => server);
    findEnrolment = makeFindEnrolment(await store.list(), servers);
  }
}
