/**
 * The issuers as they are now: the operator's BIN table, read whole at the start and again only
 * when it was replaced; in staging also the sandbox bank's ranges, where the operator has no row.
 */

import type { IssuerRange } from "./issuer-range.ts";
import { type IssuerTable, makeIssuerTable, startIssuerTable } from "./issuer-table.ts";

export type Issuers = IssuerTable & {
  /** Cheap when nothing changed; keeps the present table when the database cannot be read. */
  reload(): Promise<void>;
};

export type IssuerStore = {
  findVersion(): Promise<string>;
  /** Hands over all ranges as of one moment, by their first cards; comes back with the version. */
  readRanges(take: (ranges: readonly IssuerRange[]) => void): Promise<string>;
};

type Dependencies = {
  readonly store: IssuerStore;
  /** Known without a BIN table: the sandbox bank's cards in staging, none in production. */
  readonly builtIn: readonly IssuerRange[];
  readonly onError: (error: unknown) => void;
};

export async function openIssuers({ store, builtIn, onError }: Dependencies): Promise<Issuers> {
  const sandbox = makeIssuerTable(builtIn);
  let loaded = await load();
  let reloading = Promise.resolve();

  return {
    find: (prefix) => loaded.table.find(prefix) ?? sandbox.find(prefix),
    reload() {
      // One after the other: the last to be asked for must be the last to be read.
      reloading = reloading.then(refresh).catch(onError);
      return reloading;
    },
  };

  async function refresh(): Promise<void> {
    if ((await store.findVersion()) !== loaded.version) loaded = await load();
  }

  async function load() {
    const builder = startIssuerTable();
    const version = await store.readRanges((ranges) => {
      for (const range of ranges) builder.add(range);
    });
    return { version, table: builder.finish() };
  }
}
