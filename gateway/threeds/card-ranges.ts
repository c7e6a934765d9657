/**
 * The cards that are enrolled in 3-D Secure: the ranges that directory servers have sent, as they
 * are stored and searched. Card numbers of every length are padded to nineteen digits and compared
 * with them.
 */
import type { Enrolment } from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import { type RangeTable, startRangeTable } from "../values/range-table.ts";
import type { DirectoryServer } from "./directory-client.ts";

/** EMV 3-D Secure, or 1.0.2. A card that is enrolled in both is authenticated with the newer. */
export type Protocol = "2" | "1";

const protocols: readonly Protocol[] = ["2", "1"];
const cardDigits = 19;

export type StoredRange = {
  /** Nineteen digits each. Both bounds belong to the range. */
  readonly first: string;
  readonly last: string;
  readonly version: string;
  readonly methodUrl?: string;
};

export type RangeChanges = {
  /** The directory server has sent its whole list, which replaces the stored ranges. */
  readonly replaces: boolean;
  readonly put: RangePortions;
  /** Only `first` and `last` are used. No range is both here and in `put`. */
  readonly remove: RangePortions;
  /** The number for the next request, so that only changes are sent. */
  readonly serialNumber?: string | undefined;
  /** The message version that was answered, which is tried before others the next time. */
  readonly version?: string;
};

/** Changed ranges as JSON, because text from a thread is stored without being parsed. */
export type RangePortions = { readonly count: number; read(): AsyncIterable<string> };

/** One node's right to refresh a list of ranges, and the results of earlier refreshes. */
export type RefreshLease = {
  readonly directory: string;
  readonly protocol: Protocol;
  /** Identifies the lease. A node whose lease has expired can no longer write. */
  readonly mark: string;
  readonly failures: number;
  readonly serialNumber?: string;
  readonly version?: string;
};

/** The ranges of one directory server in one protocol. Another stamp means other ranges. */
export type ListStamp = Pick<RefreshLease, "directory" | "protocol"> & { readonly stamp: string };

export type RangeStore = {
  stamps(): Promise<readonly ListStamp[]>;
  /** Calls `take` with portions of the ranges as of one moment, sorted by their first cards. */
  readRanges(
    directory: string,
    protocol: Protocol,
    take: (ranges: readonly StoredRange[]) => void,
  ): Promise<void>;
  /** Returns undefined if the list is not due, or another node has the lease. */
  claim(directory: string, protocol: Protocol, leaseMs: number): Promise<RefreshLease | undefined>;
  /** Returns whether the ranges were written, which only a node with the lease can do. */
  save(lease: RefreshLease, changes: RangeChanges, nextMs: number): Promise<boolean>;
  postpone(lease: RefreshLease, nextMs: number): Promise<void>;
  /** Called when the node stops, so that another one can refresh at once. */
  release(lease: RefreshLease): Promise<void>;
};

export function padFirst(digits: string): string {
  return digits.padEnd(cardDigits, "0");
}

export function padLast(digits: string): string {
  return digits.padEnd(cardDigits, "9");
}

/** All lists in memory, by protocol and directory server. */
export type RangeLists = ReadonlyMap<string, RangeList>;

type RangeList = {
  readonly stamp: string;
  readonly count: number;
  readonly table: RangeTable<Enrolment>;
};

/** Reads only the lists that have changed. */
export async function readRangeLists(
  store: Pick<RangeStore, "stamps" | "readRanges">,
  present: RangeLists = new Map(),
): Promise<RangeLists> {
  const lists = new Map<string, RangeList>();
  // The stamp is read before the ranges: if they change in between, the next read repeats them.
  for (const { directory, protocol, stamp } of await store.stamps()) {
    const key = keyOf(directory, protocol);
    const known = present.get(key);
    if (known?.stamp === stamp) {
      lists.set(key, known);
      continue;
    }
    lists.set(key, { stamp, ...(await readTable(store, directory, protocol)) });
  }
  return lists;
}

async function readTable(
  store: Pick<RangeStore, "readRanges">,
  directory: string,
  protocol: Protocol,
): Promise<Omit<RangeList, "stamp">> {
  const builder = startRangeTable<Enrolment>(cardDigits);
  let count = 0;
  await store.readRanges(directory, protocol, (ranges) => {
    count += ranges.length;
    for (const { first, last, version, methodUrl } of ranges) {
      const value = { directory, version, ...(methodUrl === undefined ? {} : { methodUrl }) };
      builder.add({ first: BigInt(first), last: BigInt(last), value });
    }
  });
  return { count, table: builder.finish() };
}

export function hasRanges(lists: RangeLists, directory: string): boolean {
  return protocols.some((protocol) => lists.get(keyOf(directory, protocol))?.count);
}

/** A list is only used while the directory server has an address for its protocol. */
export function findEnrolment(
  card: CardNumber,
  servers: Iterable<DirectoryServer>,
  lists: RangeLists,
): Enrolment | undefined {
  const responsible = [...servers].filter(
    ({ networks }) =>
      networks.length === 0 || card.network === undefined || networks.includes(card.network),
  );
  const number = padFirst(card.reveal());
  for (const protocol of protocols) {
    for (const { name, settings } of responsible) {
      if ((protocol === "2" ? settings.url : settings.url102) === undefined) continue;
      const enrolment = lists.get(keyOf(name, protocol))?.table.find(number);
      if (enrolment !== undefined) return enrolment;
    }
  }
  return undefined;
}

function keyOf(directory: string, protocol: Protocol): string {
  return `${protocol} ${directory}`;
}
