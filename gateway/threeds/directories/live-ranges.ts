/** The stored card ranges in memory. Only those that have changed are read again. */
import { type FindInList, makeFindInList, type Protocol } from "./card-ranges.ts";
import { makeInTurn } from "./in-turn.ts";
import type { RangeStore } from "./range-store.ts";

export type LiveRanges = {
  find(directory: string, protocol: Protocol): FindInList | undefined;
  hasAny(directory: string): boolean;
  reload(): Promise<void>;
};

type ExistingOrder = { readonly stamp: string; readonly count: number; readonly find: FindInList };

export function makeLiveRanges(store: Pick<RangeStore, "stamps" | "list">): LiveRanges {
  let known: ReadonlyMap<string, ExistingOrder> = new Map();
  // Of two that read at once, the one that read earlier must not be the last to be seen.
  const inTurn = makeInTurn();

  return {
    find: (directory, protocol) => known.get(keyOf(directory, protocol))?.find,
    hasAny: (directory) =>
      (["1", "2"] as const).some((protocol) => known.get(keyOf(directory, protocol))?.count),
    reload: () => inTurn(read),
  };

  async function read(): Promise<void> {
    const found = new Map<string, ExistingOrder>();
    // The stamp is read before the ranges: should they change between, they are read once more.
    for (const { directory, protocol, stamp } of await store.stamps()) {
      const key = keyOf(directory, protocol);
      const before = known.get(key);
      if (before?.stamp === stamp) {
        found.set(key, before);
        continue;
      }
      const ranges = await store.list(directory, protocol);
      const find = makeFindInList(directory, ranges);
      found.set(key, { stamp, count: ranges.length, find });
    }
    known = found;
  }
}

function keyOf(directory: string, protocol: Protocol): string {
  return `${protocol} ${directory}`;
}
