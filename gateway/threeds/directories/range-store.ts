/** What is kept of card ranges, and who may ask for them: the side of the database. */
import type { Protocol, StoredRange } from "./card-ranges.ts";

export type RangeChanges = {
  /** Whether what is stored goes first: the directory server has sent everything. */
  readonly replaces: boolean;
  readonly put: readonly StoredRange[];
  readonly remove: readonly Pick<StoredRange, "first" | "last">[];
  /** To be named next time, so that only changes are sent. */
  readonly serialNumber?: string | undefined;
  /** Of the messages by which it was told: the first to be tried next time. */
  readonly version?: string;
};

/** The right to ask one directory server now, and how it went before. */
export type RefreshLease = {
  readonly directory: string;
  readonly protocol: Protocol;
  readonly mark: string;
  readonly failures: number;
  readonly serialNumber?: string;
  readonly version?: string;
};

/** One directory server's ranges in one protocol, and which state of them is stored. */
export type ListStamp = {
  readonly directory: string;
  readonly protocol: Protocol;
  readonly stamp: string;
};

export type RangeStore = {
  stamps(): Promise<readonly ListStamp[]>;
  /** Sorted by their first number. */
  list(directory: string, protocol: Protocol): Promise<readonly StoredRange[]>;
  /** Nothing when they are not due, or another node asks: for as long as it may take. */
  claim(directory: string, protocol: Protocol, claimMs: number): Promise<RefreshLease | undefined>;
  /** Changes the ranges; not when somebody else has been given the right to ask meanwhile. */
  save(claim: RefreshLease, changes: RangeChanges, nextMs: number): Promise<boolean>;
  /** Nothing was learnt: the next try is later. */
  postpone(claim: RefreshLease, nextMs: number): Promise<void>;
  /** Whoever asked ends: anybody may ask at once. */
  release(claim: RefreshLease): Promise<void>;
};
