/** Which cards are enrolled, and with which versions, from either shape of PRes. */
import { isJsonObject, type JsonObject } from "../shared/json.ts";
import { type Emv3dsMessage, protocolVersions, textOf } from "./message.ts";

type CardRange = ReturnType<typeof readCardRanges>[number];

/** The ranges of a PRes that `readMessage` accepted. */
export function readCardRanges(pres: Emv3dsMessage) {
  return listOf(pres.cardRangeData).flatMap((range) => {
    const indicator = textOf(range, "actionInd");
    // Add, delete or modify; a range without an indicator is added.
    const action = indicator === "D" || indicator === "M" ? indicator : "A";
    const versions = readVersions(range, pres);
    const spans = Array.isArray(range.ranges)
      ? listOf(range.ranges).map((span) => [textOf(span, "start"), textOf(span, "end")])
      : [[textOf(range, "startRange"), textOf(range, "endRange")]];
    return spans.flatMap(([start, end]) =>
      start === undefined || end === undefined ? [] : [{ start, end, action, versions }],
    );
  });
}

/** Whether two ranges of one card number length share a number, deleted ranges aside. */
export function hasOverlap(ranges: readonly CardRange[]): boolean {
  // The length goes first, so that numbers of another length never lie between two of one.
  const keyOf = (cardNumber: string) => `${cardNumber.length} ${cardNumber}`;
  const kept = ranges.filter(({ action }) => action !== "D");
  const keyed = kept.map(({ start, end }) => ({ start: keyOf(start), end: keyOf(end) }));
  keyed.sort((one, other) => (one.start < other.start ? -1 : 1));
  return keyed.some(({ start }, at) => at > 0 && start <= (keyed[at - 1]?.end ?? ""));
}

/**
 * Those that ACS, directory server and this codec all support; ascending. Up to 2.2.0 the ACS names
 * its first and last version. From 2.3.1 on it lists its versions, each with a method address.
 */
function readVersions(range: JsonObject, pres: JsonObject) {
  const acsStart = textOf(range, "acsStartProtocolVersion");
  const acsEnd = textOf(range, "acsEndProtocolVersion");
  const listed = Array.isArray(range.ranges) ? listOf(range.acsProtocolVersions) : undefined;
  return protocolVersions.flatMap((version) => {
    const isNamed = listed === undefined && isBetween(acsStart, version, acsEnd);
    const acs = isNamed ? range : listed?.find((one) => textOf(one, "version") === version);
    if (acs === undefined || !isSupportedByDs(version, range, pres)) return [];
    return [{ version, methodUrl: textOf(acs, "threeDSMethodURL") }];
  });
}

/** A range overrides the message; where neither restricts versions, all are supported. */
function isSupportedByDs(version: string, range: JsonObject, pres: JsonObject): boolean {
  const listed = [range.dsProtocolVersions, pres.dsProtocolVersions].find(Array.isArray);
  if (listed !== undefined) return listed.includes(version);
  const find = (element: string) => textOf(range, element) ?? textOf(pres, element) ?? version;
  return isBetween(find("dsStartProtocolVersion"), version, find("dsEndProtocolVersion"));
}

/** By number, not by letter: 2.10.0 is newer than 2.3.1. */
function isBetween(start: string | undefined, version: string, end: string | undefined): boolean {
  const rankOf = (each: string) =>
    each.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
  if (start === undefined || end === undefined) return false;
  return rankOf(start) <= rankOf(version) && rankOf(version) <= rankOf(end);
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
