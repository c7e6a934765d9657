/**
 * Which cards take part in 3-D Secure, and how. Ranges are compared on card numbers that are
 * written to their full nineteen digits, so that cards of any length find theirs; within one
 * directory server and protocol no two ranges overlap, so the search is a binary one.
 */
import type { Enrolment } from "../../orders/order.ts";
import type { CardNumber } from "../../values/card-number.ts";
import type { DirectoryServer } from "./directory.ts";

export type StoredRange = {
  readonly directory: string;
  /** Nineteen digits each; both belong to the range. */
  readonly first: string;
  readonly last: string;
  readonly version: string;
  readonly methodUrl?: string;
};

export type FindEnrolment = (card: CardNumber) => Enrolment | undefined;

const fullLength = 19;

export function padFirst(digits: string): string {
  return digits.padEnd(fullLength, "0");
}

export function padLast(digits: string): string {
  return digits.padEnd(fullLength, "9");
}

export function makeFindEnrolment(
  ranges: readonly StoredRange[],
  directories: readonly DirectoryServer[],
): FindEnrolment {
  const lists = directories.flatMap(({ name, networks }) => {
    const own = ranges.filter(({ directory }) => directory === name);
    const newer = own.filter(({ version }) => version !== "1.0.2");
    const older = own.filter(({ version }) => version === "1.0.2");
    return [
      { networks, sorted: newer.toSorted(byFirst) },
      { networks, sorted: older.toSorted(byFirst) },
    ];
  });

  return (card) => {
    const number = padFirst(card.reveal());
    for (const { networks, sorted } of lists) {
      const isMeant = card.network === undefined || networks.includes(card.network);
      if (networks.length > 0 && !isMeant) continue;
      const range = search(sorted, number);
      if (range !== undefined) return enrolmentOf(range);
    }
    return undefined;
  };
}

function byFirst(left: StoredRange, right: StoredRange): number {
  return left.first < right.first ? -1 : left.first > right.first ? 1 : 0;
}

/** The last range that begins at or before the number, when it reaches that far. */
function search(sorted: readonly StoredRange[], number: string): StoredRange | undefined {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.first ?? "") <= number) low = middle + 1;
    else high = middle;
  }
  const candidate = sorted[low - 1];
  return candidate !== undefined && number <= candidate.last ? candidate : undefined;
}

function enrolmentOf({ directory, version, methodUrl }: StoredRange): Enrolment {
  const enrolment = { directory, version };
  return methodUrl === undefined ? enrolment : { ...enrolment, methodUrl };
}
