/** Nodes that share the directory servers of one network, for tests. */
import { after, before, beforeEach } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  loadDirectories,
  makeDirectoryAdministration,
  makeRangeStore,
} from "../../storage/configuration/directories.ts";
import type { Audit } from "../../storage/people/audit.ts";
import type { Database } from "../../storage/server/database.ts";
import { startDatabase } from "../../storage/testing/database-for-tests.ts";
import { CardNumber } from "../../values/card-number.ts";
import { TestClock } from "../../values/testing.ts";
import type { Clock } from "../../values/time.ts";
import type { RangeStore } from "../card-ranges.ts";
import { type Directories, openDirectories } from "../directories.ts";
import type { DirectoryServer } from "../directory-client.ts";
import { type Network, startNetwork } from "./network.ts";

export const dayMs = 86_400_000;

type Stored = {
  put(server: DirectoryServer): Promise<void>;
  load(): Promise<readonly DirectoryServer[]>;
  readonly store: RangeStore;
};

type Test = Parameters<typeof startNetwork>[0];

type Options = {
  readonly stored: Stored;
  readonly clock: Clock;
  readonly names: readonly string[];
  /** Wraps the node's store, to change its behaviour. */
  readonly wrap?: (store: RangeStore) => RangeStore;
};

/** No ranges have been requested yet. */
async function startNodes(t: Test, { stored, clock, names, wrap }: Options) {
  const network = await startNetwork(t);
  const warned: string[] = [];
  for (const name of names) await stored.put(network.server(name));
  const openNode = async (): Promise<Directories> => {
    const node = await openDirectories({
      load: stored.load,
      store: wrap?.(stored.store) ?? stored.store,
      clock,
      timeoutMs: 7_000,
      everyMs: dayMs,
      rangesMibMax: 128,
      allowHttp: false,
      warn: (directory, cause) => warned.push(`${directory}: ${cause}`),
      onReloadError: (error) => warned.push(`reload: ${error}`),
      onRefreshError: (error) => warned.push(`refresh: ${error}`),
    });
    t.after(() => void node.stop());
    return node;
  };
  return { network, warned, directories: await openNode(), openNode };
}

export function findCard({ findEnrolment }: Directories, digits: string) {
  return findEnrolment(new CardNumber(digits), "always");
}

/** The range of all cards of sixteen digits that begin with this prefix. */
export function rangeOf(prefix: string): readonly [start: string, end: string] {
  return [prefix.padEnd(16, "0"), prefix.padEnd(16, "9")];
}

export async function untilReceived({ received }: Network, count: number): Promise<void> {
  while (received.length < count) await setImmediate();
}

type More = { readonly wrap?: (store: RangeStore) => RangeStore };

/** A test file calls this once, at its top. */
export function useDatabase() {
  let database: Database;
  let audit: Audit;
  let stop = async (): Promise<void> => undefined;
  before(async () => {
    ({ database, audit, stop } = await startDatabase());
  });
  after(() => stop());
  beforeEach(async () => {
    const { remove } = makeDirectoryAdministration(audit, database.query);
    for (const { name } of await loadDirectories(database.query)) await remove(name);
  });

  return {
    administration: () => makeDirectoryAdministration(audit, database.query),

    async start(
      t: Parameters<typeof startNodes>[0],
      names: readonly string[] = ["a"],
      more: More = {},
    ) {
      const clock = new TestClock();
      const load = () => loadDirectories(database.query);
      const { put } = makeDirectoryAdministration(audit, database.query);
      const stored = { put, load, store: makeRangeStore(database, clock) };
      return { clock, ...stored, ...(await startNodes(t, { stored, clock, names, ...more })) };
    },
  };
}
