/**
 * Which cards take part in 3-D Secure, and how. Ranges are compared on card numbers that are
 * written to their full nineteen digits, so that cards of any length find theirs. Networks send
 * ranges that overlap: the narrowest counts.
 */
import type { Enrolment } from "../../orders/order.ts";
import type { CardNumber } from "../../values/card-number.ts";
import type { DirectoryServer } from "./directory.ts";
import { makeFindNarrowest } from "./disjoint-ranges.ts";

/** EMV 3-D Secure, or 1.0.2. */
export type Protocol = "2" | "1";

export type StoredRange = {
  /** Nineteen digits each; both belong to the range. */
  readonly first: string;
  readonly last: string;
  readonly version: string;
  readonly methodUrl?: string;
};

/** How the number takes part, by the ranges that one directory server told in one protocol. */
export type FindInList = (number: string) => Enrolment | undefined;
export type FindEnrolment = (card: CardNumber) => Enrolment | undefined;

const fullLength = 19;
/** Whoever takes part in the newer one in any way is authenticated by that. */
const protocols: readonly Protocol[] = ["2", "1"];

export function padFirst(digits: string): string {
  return digits.padEnd(fullLength, "0");
}

export function padLast(digits: string): string {
  return digits.padEnd(fullLength, "9");
}

/** Hundreds of thousands of ranges name a handful of versions and addresses: each is kept once. */
export function makeFindInList(directory: string, ranges: readonly StoredRange[]): FindInList {
  const shared = new Map<string, Enrolment>();
  return makeFindNarrowest(
    ranges.map((range) => {
      const { first, last, version, methodUrl } = range;
      const key = `${version} ${methodUrl ?? ""}`;
      const value = shared.get(key) ?? enrolmentOf(directory, range);
      shared.set(key, value);
      return { first, last, value };
    }),
  );
}

export function makeFindEnrolment(
  directories: readonly DirectoryServer[],
  findList: (directory: string, protocol: Protocol) => FindInList | undefined,
): FindEnrolment {
  const lists = protocols.flatMap((protocol) =>
    directories.flatMap(({ name, networks, settings }) => {
      const url = protocol === "2" ? settings.url : settings.url102;
      const find = url === undefined ? undefined : findList(name, protocol);
      return find === undefined ? [] : [{ networks, find }];
    }),
  );

  return (card) => {
    const number = padFirst(card.reveal());
    for (const { networks, find } of lists) {
      const isMeant = card.network === undefined || networks.includes(card.network);
      if (networks.length > 0 && !isMeant) continue;
      const enrolment = find(number);
      if (enrolment !== undefined) return enrolment;
    }
    return undefined;
  };
}

function enrolmentOf(directory: string, { version, methodUrl }: StoredRange): Enrolment {
  const enrolment = { directory, version };
  return methodUrl === undefined ? enrolment : { ...enrolment, methodUrl };
}
