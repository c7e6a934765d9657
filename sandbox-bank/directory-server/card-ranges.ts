/**
 * The protocol version of each card. Every card number is in a range, except for the ranges of
 * 1.0.2 and one that is left out, so that the sandbox authenticates any card that a tester tries.
 */
import { createHash } from "node:crypto";
import type { ProtocolVersion } from "@tollgate/protocols/emv3ds";

type Span = { readonly start: string; readonly end: string };
type Range = Span & { readonly version: ProtocolVersion; readonly hasMethod: boolean };

/** The ranges, with both ends given by their first digits. */
const ranges: readonly Range[] = [
  { ...span("0", "40000009"), version: "2.2.0", hasMethod: true },
  { ...span("40000011", "40000020"), version: "2.2.0", hasMethod: true },
  { ...span("40000021", "40000021"), version: "2.2.0", hasMethod: false },
  { ...span("40000022", "40000022"), version: "2.1.0", hasMethod: true },
  { ...span("40000023", "40000023"), version: "2.3.1", hasMethod: true },
  { ...span("40000024", "40000029"), version: "2.2.0", hasMethod: true },
  { ...span("40000031", "52000029"), version: "2.2.0", hasMethod: true },
  { ...span("52000031", "9"), version: "2.2.0", hasMethod: true },
];

/** The ranges of 3-D Secure 1.0.2: one of Visa, one of Mastercard. */
export const ranges102 = [span("40000030", "40000030"), span("52000030", "52000030")];

export function findVersion(card: string): ProtocolVersion | undefined {
  return ranges.find((range) => isWithin(card, range))?.version;
}

/** Returns `cardRangeData` of a PRes in the form of its version. */
export function writeCardRanges(version: ProtocolVersion, methodUrl: string): readonly object[] {
  return ranges.map((range) => writeRange(range, version, methodUrl));
}

/** Returns the JSON of further ranges, each after a comma: up to as many as a large network has. */
export function writeMoreRanges(
  count: number,
  version: ProtocolVersion,
  methodUrl: string,
): string {
  const sample = { start: "FIRST", end: "LAST", version: "2.2.0", hasMethod: true } as const;
  const json = `,${JSON.stringify(writeRange(sample, version, methodUrl))}`;
  const [before = "", between = "", after = ""] = json.split(/FIRST|LAST/);
  let text = "";
  for (let number = 0; number < count; number += 1) {
    // The ranges are every second block of ten thousand cards.
    const prefix = 620_000_000_000_000 + 2 * number;
    text += `${before}${prefix}0000${between}${prefix}9999${after}`;
  }
  return text;
}

function writeRange(range: Range, version: ProtocolVersion, methodUrl: string): object {
  const { start, end, hasMethod } = range;
  const method = hasMethod ? { threeDSMethodURL: methodUrl } : {};
  const acsInfoInd = ["01", "02"];
  if (version === "2.3.1") {
    return {
      ranges: [{ start, end }],
      actionInd: "A",
      dsProtocolVersions: ["2.1.0", "2.2.0", "2.3.1"],
      acsProtocolVersions: [{ version: range.version, acsInfoInd, ...method }],
    };
  }
  return {
    startRange: start,
    endRange: end,
    actionInd: "A",
    acsStartProtocolVersion: range.version,
    acsEndProtocolVersion: range.version,
    dsStartProtocolVersion: "2.1.0",
    dsEndProtocolVersion: "2.3.1",
    ...method,
    ...(version === "2.2.0" ? { acsInfoInd } : {}),
  };
}

/**
 * Returns a serial number, which changes with the ranges and the method URL and has at most 20
 * characters.
 */
export function serialNumberOf(methodUrl: string, moreRanges: number): string {
  const content = JSON.stringify([ranges, moreRanges]) + methodUrl;
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

function span(first: string, last: string): Span {
  return { start: first.padEnd(16, "0"), end: last.padEnd(16, "9") };
}

/**
 * Returns whether the card is in the range. Card numbers have up to 19 digits and are padded for
 * the comparison.
 */
export function isWithin(card: string, { start, end }: Span): boolean {
  const number = card.padEnd(19, "0");
  return start.padEnd(19, "0") <= number && number <= end.padEnd(19, "9");
}
