/**
 * The issuer of a card, found by the card's first digits in the operator's BIN table. The table is
 * read whole at the start and again only when it was replaced; in staging the sandbox bank's ranges
 * fill its gaps.
 */
import type { Issuer } from "../orders/order.ts";
import { makeRangeTable, type RangeTable, startRangeTable } from "../values/range-table.ts";
import { openReloadable } from "../values/reloadable.ts";

/** The ends are numbers of eleven digits: a shorter prefix is filled up with zeros or nines. */
export type IssuerRange = {
  readonly first: number;
  readonly last: number;
  readonly issuer: Issuer;
};

/** Networks tell issuers apart by no more digits; a longer prefix may be a card number. */
const prefixDigitsMax = 11;

export function isPrefix(text: string): boolean {
  return /^\d{6,11}$/.test(text);
}

export function makeRange(first: string, last: string, issuer: Issuer): IssuerRange {
  return { first: firstOf(first), last: lastOf(last), issuer };
}

/** The lowest number that starts with the prefix. */
export function firstOf(prefix: string): number {
  return Number(prefix.slice(0, prefixDigitsMax).padEnd(prefixDigitsMax, "0"));
}

/** The highest number that starts with the prefix. */
export function lastOf(prefix: string): number {
  return Number(prefix.slice(0, prefixDigitsMax).padEnd(prefixDigitsMax, "9"));
}

export function formatPrefix(end: number): string {
  return String(end).padStart(prefixDigitsMax, "0");
}

export type Issuers = Awaited<ReturnType<typeof openIssuers>>;

export type IssuerStore = {
  findVersion(): Promise<string>;
  /** Hands over all ranges as of one moment, by their first cards; returns the version. */
  readRanges(take: (ranges: readonly IssuerRange[]) => void): Promise<string>;
};

type Dependencies = {
  readonly store: IssuerStore;
  /** Known without a BIN table: the sandbox bank's cards in staging, none in production. */
  readonly builtIn: readonly IssuerRange[];
  readonly onError: (error: unknown) => void;
};

type LoadedTable = { readonly version: string; readonly table: RangeTable<Issuer> };

export async function openIssuers({ store, builtIn, onError }: Dependencies) {
  const sandbox = makeIssuerTable(builtIn);
  const loaded = await openReloadable<LoadedTable>({
    read: async (present) =>
      present !== undefined && (await store.findVersion()) === present.version ? present : load(),
    onError,
  });
  return {
    find: (prefix: string) => loaded.current().table.find(prefix) ?? sandbox.find(prefix),
    /** Costs one small query unless the table was replaced. Never rejects. */
    reload: loaded.reload,
  };

  async function load(): Promise<LoadedTable> {
    const builder = startRangeTable<Issuer>(prefixDigitsMax);
    const version = await store.readRanges((ranges) => {
      for (const range of ranges) builder.add(numbersOf(range));
    });
    return { version, table: builder.finish() };
  }
}

export function makeIssuerTable(ranges: readonly IssuerRange[]): RangeTable<Issuer> {
  return makeRangeTable(prefixDigitsMax, ranges.map(numbersOf));
}

function numbersOf({ first, last, issuer }: IssuerRange) {
  return { first: BigInt(first), last: BigInt(last), value: issuer };
}
