/**
 * Which cards take part in which version: every card number there can be, except two ranges that
 * are left out, so that any card somebody tries is authenticated by the sandbox.
 */
import { createHash } from "node:crypto";
import type { ProtocolVersion } from "@tollgate/protocols/emv3ds";

export type Range = {
  readonly start: string;
  readonly end: string;
  readonly version: ProtocolVersion;
  readonly hasMethod: boolean;
};

const cardDigits = 16;
const cardDigitsMax = 19;

/** Both ends by the digits they begin with; what lies between two rows is in no range. */
// biome-ignore format: a table
export const ranges: readonly Range[] = [
  range("0",        "40000009", "2.2.0", true),
  range("40000011", "40000020", "2.2.0", true),
  range("40000021", "40000021", "2.2.0", false),
  range("40000022", "40000022", "2.1.0", true),
  range("40000023", "40000023", "2.3.1", true),
  range("40000024", "40000029", "2.2.0", true),
  range("40000031", "9",        "2.2.0", true),
];

/** The one range of 3-D Secure 1.0.2. */
export const range102 = spanOf("40000030", "40000030");

export function findRange(card: string): Range | undefined {
  return ranges.find((each) => isWithin(card, each));
}

export function isInRange102(card: string): boolean {
  return isWithin(card, range102);
}

/** `cardRangeData` of a PRes, in the shape of its version. */
export function writeCardRanges(version: ProtocolVersion, methodUrl: string): readonly object[] {
  return ranges.map((each) =>
    version === "2.3.1" ? writeLaterShape(each, methodUrl) : writeShape(version, each, methodUrl),
  );
}

/** Another one whenever the ranges or the address in them are others: at most 20 characters. */
export function serialNumberOf(methodUrl: string): string {
  return createHash("sha256")
    .update(JSON.stringify(ranges) + methodUrl)
    .digest("hex")
    .slice(0, 16);
}

function writeShape(version: ProtocolVersion, each: Range, methodUrl: string): object {
  return {
    startRange: each.start,
    endRange: each.end,
    actionInd: "A",
    acsStartProtocolVersion: each.version,
    acsEndProtocolVersion: each.version,
    dsStartProtocolVersion: "2.1.0",
    dsEndProtocolVersion: "2.3.1",
    ...(each.hasMethod ? { threeDSMethodURL: methodUrl } : {}),
    ...(version === "2.2.0" ? { acsInfoInd: ["01", "02"] } : {}),
  };
}

function writeLaterShape(each: Range, methodUrl: string): object {
  return {
    ranges: [{ start: each.start, end: each.end }],
    actionInd: "A",
    dsProtocolVersions: ["2.1.0", "2.2.0", "2.3.1"],
    acsProtocolVersions: [
      {
        version: each.version,
        acsInfoInd: ["01", "02"],
        ...(each.hasMethod ? { threeDSMethodURL: methodUrl } : {}),
      },
    ],
  };
}

function range(first: string, last: string, version: ProtocolVersion, hasMethod: boolean): Range {
  return { ...spanOf(first, last), version, hasMethod };
}

function spanOf(first: string, last: string): { readonly start: string; readonly end: string } {
  return { start: first.padEnd(cardDigits, "0"), end: last.padEnd(cardDigits, "9") };
}

/** Numbers of different lengths are compared as if all were written to the longest. */
function isWithin(card: string, { start, end }: Pick<Range, "start" | "end">): boolean {
  const number = card.padEnd(cardDigitsMax, "0");
  return start.padEnd(cardDigitsMax, "0") <= number && number <= end.padEnd(cardDigitsMax, "9");
}
