/** Which cards take part and which versions reach their bank, from either shape of PRes. */
import { type Fields, isFields, type Message, textOf, type Version, versions } from "./message.ts";

export type RangeVersion = { readonly version: string; readonly methodUrl: string | undefined };

export type CardRange = {
  readonly start: string;
  readonly end: string;
  /** Add, delete or modify; a range that does not say is added. */
  readonly action: "A" | "D" | "M";
  /** What the ACS and the directory server both take, among the versions known here; rising. */
  readonly versions: readonly RangeVersion[];
};

/** The ranges of a PRes that `readMessage` accepted. */
export function readCardRanges(pres: Message): readonly CardRange[] {
  return listOf(pres.cardRangeData).flatMap((range) => {
    const indicator = textOf(range, "actionInd");
    const action = indicator === "D" || indicator === "M" ? indicator : "A";
    const spans = Array.isArray(range.ranges) ? readSpans(range) : readSpan(range);
    const shared = Array.isArray(range.ranges)
      ? readListedVersions(range, pres)
      : readVersionsBetween(range, pres);
    return spans.map(({ start, end }) => ({ start, end, action, versions: shared }));
  });
}

/** Numbers of different lengths are compared as if each were written to its full 19 digits. */
export function coversCard({ start, end }: CardRange, cardNumber: string): boolean {
  const number = cardNumber.padEnd(19, "0");
  return start.padEnd(19, "0") <= number && number <= end.padEnd(19, "9");
}

/** Among the ranges of one length that stay or come, two that share a number. */
export function hasOverlap(ranges: readonly CardRange[]): boolean {
  const kept = ranges.filter(({ action }) => action !== "D");
  const keyed = kept.map(({ start, end }) => ({ start: rankOf(start), end: rankOf(end) }));
  keyed.sort((one, other) => (one.start < other.start ? -1 : 1));
  return keyed.some(({ start }, at) => at > 0 && start <= (keyed[at - 1]?.end ?? ""));
}

/** The length goes first, so that numbers of another length never lie between two of one. */
function rankOf(cardNumber: string): string {
  return `${cardNumber.length} ${cardNumber}`;
}

type Span = { readonly start: string; readonly end: string };

function readSpan(range: Fields): readonly Span[] {
  const [start, end] = [textOf(range, "startRange"), textOf(range, "endRange")];
  return start === undefined || end === undefined ? [] : [{ start, end }];
}

function readSpans(range: Fields): readonly Span[] {
  return listOf(range.ranges).flatMap((span) => {
    const [start, end] = [textOf(span, "start"), textOf(span, "end")];
    return start === undefined || end === undefined ? [] : [{ start, end }];
  });
}

/** Up to 2.2.0 each side names its first and its last version. */
function readVersionsBetween(range: Fields, pres: Message): readonly RangeVersion[] {
  const methodUrl = textOf(range, "threeDSMethodURL");
  const acsStart = textOf(range, "acsStartProtocolVersion");
  const acsEnd = textOf(range, "acsEndProtocolVersion");
  if (acsStart === undefined || acsEnd === undefined) return [];
  return versions
    .filter((version) => isBetween(acsStart, version, acsEnd) && isTakenByDs(version, range, pres))
    .map((version) => ({ version, methodUrl }));
}

/** From 2.3.1 on the ACS lists its versions, each with a method address of its own. */
function readListedVersions(range: Fields, pres: Message): readonly RangeVersion[] {
  const acsVersions = listOf(range.acsProtocolVersions);
  return versions.flatMap((version) => {
    const acs = acsVersions.find((one) => textOf(one, "version") === version);
    if (acs === undefined || !isTakenByDs(version, range, pres)) return [];
    return [{ version, methodUrl: textOf(acs, "threeDSMethodURL") }];
  });
}

/** What a range says goes before what the message says; who says nothing takes every version. */
function isTakenByDs(version: Version, range: Fields, pres: Message): boolean {
  const listed = [range.dsProtocolVersions, pres.dsProtocolVersions].find(Array.isArray);
  if (listed !== undefined) return listed.includes(version);
  const find = (field: string) => textOf(range, field) ?? textOf(pres, field) ?? version;
  return isBetween(find("dsStartProtocolVersion"), version, find("dsEndProtocolVersion"));
}

function isBetween(start: string, version: string, end: string): boolean {
  return rank(start) <= rank(version) && rank(version) <= rank(end);
}

/** By number, not by letter: 2.10.0 is newer than 2.3.1. */
function rank(version: string): number {
  return version.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
