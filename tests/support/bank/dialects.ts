/** The bank's dialects: the long run tests every promise to merchants on each of them. */
import { type TestContext, test } from "node:test";
import { isLongRun, numberOf } from "../series.ts";

export type Dialect = {
  readonly name: string;
  /** The demonstration endpoint that uses the dialect. */
  readonly through: string;
  /** The gate that the endpoint uses. */
  readonly gate: string;
  /** Whether the gateway inquires about an unanswered charge; otherwise it reverses the charge. */
  readonly inquires: boolean;
  /**
   * Translates a message type of ISO 8583:1987 into the dialect; `code` translates a response code.
   */
  readonly mti: (mti: string) => string;
  readonly code: (code: string) => string;
  /** The values of field 22 for a card that was typed, on file, or in a wallet. */
  readonly entry: Readonly<Record<"typed" | "onFile" | "wallet", string>>;
};

const asItIs = {
  mti: (mti: string) => mti,
  code: (code: string) => code,
  entry: { typed: "010", onFile: "100", wallet: "810" },
};

// biome-ignore format: a table
export const dialects: readonly Dialect[] = [
  { name: "ASCII",  through: "plain",  gate: "sandbox",        inquires: false, ...asItIs },
  { name: "binary", through: "binary", gate: "sandbox-binary", inquires: true,  ...asItIs },
  { name: "1993",   through: "iso93",  gate: "sandbox-iso93",  inquires: false,
    mti:  (mti) => mti.startsWith("040") ? `142${mti[3]}` : `1${mti.slice(1)}`,
    code: (code) => actionCodes[code] ?? code,
    entry: { typed: "100050100110", onFile: "100050700110", wallet: "100050S00110" } },
];

// biome-ignore format: a table
const actionCodes: Readonly<Record<string, string>> = {
  "00": "000", "05": "100", "09": "923", "10": "002", "12": "902", "14": "111", "1A": "161", "25": "914",
  "41": "208", "43": "209", "51": "116", "54": "101", "57": "119", "59": "202", "61": "121",
  "68": "911", "91": "912", "94": "913", "96": "909", "N7": "160",
};

type Body = (t: TestContext, dialect: Dialect) => Promise<void>;

/**
 * In the short run the test's title chooses the dialect, so that a test always runs on the same
 * one. The long run tests each title on all dialects.
 */
export function testOnEachDialect(title: string, body: Body): void {
  const turn = numberOf(title, dialects.length);
  testOn(isLongRun ? dialects : dialects.slice(turn, turn + 1), title, body);
}

/**
 * Runs the test on all dialects in every run, because they keep the promise by different messages.
 */
export function testOnAllDialects(title: string, body: Body): void {
  testOn(dialects, title, body);
}

function testOn(some: readonly Dialect[], title: string, body: Body): void {
  for (const dialect of some) test(`${dialect.name}: ${title}`, (t) => body(t, dialect));
}
