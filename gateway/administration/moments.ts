/**
 * Prints audit entries and an order's history for people: a heading, and below it a line for each
 * value, because whole states or events would be too wide for a terminal.
 */
import { type PackedMoney, printMoney, unpackMoney } from "../values/money.ts";
import { asInstant, type Instant } from "../values/time.ts";

type Event = {
  readonly version: number;
  readonly at: string;
  readonly node: string;
  readonly kind: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Messages are omitted, because they are too long for a terminal; the portal shows them. */
export function printHistory(
  history: readonly Event[],
  printDate: (at: Instant) => string,
): string {
  const moments = history.map(({ version, at, node, kind, detail }) => {
    const { messages: _, ...facts } = detail;
    const lines = leavesOf(readable(facts)).map(([path, text]) => `${path}: ${text}`);
    return printMoment(`${version}  ${at}  ${node}  ${kind}`, lines);
  });
  return moments.join("\n");

  function readable(value: unknown, name = ""): unknown {
    if (isMoney(value)) return printMoney(unpackMoney(value));
    if (typeof value === "number" && name.endsWith("At")) return printDate(asInstant(value));
    if (Array.isArray(value)) return value.map((each) => readable(each));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([own, inner]) => [own, readable(inner, own)]);
    return Object.fromEntries(entries);
  }
}

function isMoney(value: unknown): value is PackedMoney {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [minor, currency] = value;
  return /^\d+$/.test(String(minor)) && /^[A-Z]{3}$/.test(String(currency));
}

type Leaf = readonly [path: string, text: string];

export function printMoment(head: string, lines: readonly string[]): string {
  return [head, ...lines].map(printable).join("\n    ");
}

/** Returns all single values inside a nested state, each with its path, like `settings.fee`. */
export function leavesOf(value: unknown, path = ""): readonly Leaf[] {
  if (value === null || value === undefined) return [];
  const within = path === "" ? "" : `${path}.`;
  if (typeof value !== "object") return [[path, String(value)]];
  if (!Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${within}${name}`));
  }
  const isOfObjects = value.some((each) => typeof each === "object");
  if (!isOfObjects) return value.length === 0 ? [] : [[path, value.join(", ")]];
  return value.flatMap((each, at) => leavesOf(each, `${within}${at + 1}`));
}

/** Replaces control characters, which could control the terminal or start a new line. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ");
}
