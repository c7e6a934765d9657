/** Nodes that share the directory servers of one network, for tests. */
import { CardNumber } from "../../../values/card-number.ts";
import type { Clock } from "../../../values/time.ts";
import { type Directories, makeDirectories } from "../directories.ts";
import type { DirectoryServer } from "../directory.ts";
import type { RangeStore } from "../range-store.ts";
import { type Network, startNetwork } from "./network.ts";

export const dayMs = 86_400_000;

/** The database, as far as a node of this kind needs it. */
export type Kept = {
  put(server: DirectoryServer): Promise<void>;
  load(): Promise<readonly DirectoryServer[]>;
  readonly store: RangeStore;
};

type Test = Parameters<typeof startNetwork>[0];

type Wanted = {
  readonly kept: Kept;
  readonly clock: Clock;
  readonly names: readonly string[];
  /** Puts something between a node and its database. */
  readonly wrap?: (store: RangeStore) => RangeStore;
  /** Whether the node has taken over what is configured. */
  readonly isUpdated?: boolean;
};

/** Nobody has asked for ranges yet. */
export async function startNodes(t: Test, { kept, clock, names, ...wanted }: Wanted) {
  const { wrap = (store: RangeStore) => store, isUpdated = true } = wanted;
  const network = await startNetwork(t);
  const warned: string[] = [];
  for (const name of names) await kept.put(network.server(name));
  const servers = await kept.load();
  const makeNode = async (): Promise<Directories> => {
    const node = makeDirectories({
      ...{ store: wrap(kept.store), clock, timeoutMs: 7_000, everyMs: dayMs, allowHttp: false },
      warn: (directory, cause) => warned.push(`${directory}: ${cause}`),
    });
    t.after(() => void node.stop());
    if (isUpdated) await node.update(servers);
    return node;
  };
  return { network, warned, servers, directories: await makeNode(), makeOther: makeNode };
}

export function findCard({ findEnrolment }: Directories, digits: string) {
  return findEnrolment(new CardNumber(digits));
}

/** All cards of sixteen digits that begin so. */
export function rangeOf(prefix: string): readonly [start: string, end: string] {
  return [prefix.padEnd(16, "0"), prefix.padEnd(16, "9")];
}

export async function untilHeard({ heard }: Network, count: number): Promise<void> {
  while (heard.length < count) await new Promise((resolve) => setImmediate(resolve));
}
