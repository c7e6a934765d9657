/**
 * Structured logs: each line is a JSON object with the event's name in `event`. `CardNumber` and
 * `Secret` print themselves masked. In addition, card numbers are masked in every value before it
 * is written, as in stored texts.
 */
import { type DestinationStream, pino, stdSerializers } from "pino";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import { type EventName, events } from "./events.ts";

/** Writes a line with the level of the event in the catalogue. */
export type Log = (event: EventName, facts: object) => void;

/** The numbers that pino gives the levels. */
const levels: Readonly<Record<string, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  silent: Number.POSITIVE_INFINITY,
};

export function makeLog(level: string, destination: Pick<DestinationStream, "write">): Log {
  const lowest = levels[level] ?? 0;
  const printTime = makeTimestamp();
  return (event, facts) => {
    const own = levels[events[event][0]] ?? 0;
    if (own < lowest) return;
    const head = `{"level":${own}${printTime()}`;
    destination.write(`${head}${printFacts(facts)},"event":"${event}"}\n`);
  };
}

/**
 * The shortest time between two lines. Jobs that run every ten seconds are logged each time, even
 * if their timer is early.
 */
const failuresEveryMs = 9_500;

/**
 * Limits the log of a job that fails many times in a row, as most do while the database is
 * unreachable. The first failure is logged, then one in ten seconds, with the number of those that
 * were left out.
 */
export function makeReportFailures(log: Log, event: EventName, now = () => performance.now()) {
  let reportedAt = Number.NEGATIVE_INFINITY;
  let unreported = 0;
  return (error: unknown): void => {
    const at = now();
    if (at - reportedAt < failuresEveryMs) {
      unreported += 1;
      return;
    }
    log(event, unreported === 0 ? { err: error } : { err: error, unreported });
    [reportedAt, unreported] = [at, 0];
  };
}

// Fields that are not masked: the gateway's own ids are digits too, and operators search for them.
const ownIds: ReadonlySet<string> = new Set([
  ...["order", "serial", "merchant", "entry", "endpoint", "reference"],
]);

function printFacts(facts: object): string {
  let text = "";
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    const isOwn = ownIds.has(name) && typeof value === "string";
    const print = name === "err" ? printError : printMasked;
    const printed = isOwn ? JSON.stringify(value) : print(value);
    if (printed !== undefined) text += `,"${maskCardNumbers(name)}":${printed}`;
  }
  return text;
}

/**
 * Prints an error part by part, because one part may be unprintable: a root certificate is its own
 * issuer.
 */
function printError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return printMasked(error);
  const parts = Object.entries(stdSerializers.err(error)).map(
    ([name, value]) => `${JSON.stringify(name)}:${printMasked(value) ?? null}`,
  );
  return `{${parts.join(",")}}`;
}

/** Shorter numbers are not card numbers. */
const longNumber = 1e11;

/**
 * Returns the masked value, or undefined for an absent one. A value that JSON cannot write must not
 * end the caller.
 */
function printMasked(value: unknown): string | undefined {
  if (typeof value === "string") return JSON.stringify(maskCardNumbers(value));
  if (typeof value === "number" && Math.abs(value) < longNumber) return String(value);
  try {
    const printed = JSON.stringify(value, maskValue);
    const masked = printed && maskCardNumbers(printed);
    // If a card number is spread over several items of a list, the list is logged as text.
    return masked === printed ? printed : JSON.stringify(masked);
  } catch {
    return '"[unprintable]"';
  }
}

/** A masked number becomes text, because JSON numbers have no asterisks. Bytes are not logged. */
function maskValue(this: object, key: string, value: unknown): unknown {
  // A buffer's `toJSON` has already made a list of its bytes.
  const given: unknown = Reflect.get(this, key);
  if (ArrayBuffer.isView(given)) return `[${given.byteLength} bytes]`;
  if (typeof value === "string" || typeof value === "bigint") return maskCardNumbers(`${value}`);
  if (typeof value === "number" && Math.abs(value) >= longNumber) {
    const printed = maskCardNumbers(String(value));
    return printed.includes("*") ? printed : value;
  }
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  const names = isPlain ? Object.keys(value) : [];
  if (names.every((name) => maskCardNumbers(name) === name)) return value;
  const entries = names.map((name) => [maskCardNumbers(name), Reflect.get(Object(value), name)]);
  return Object.fromEntries(entries);
}

/** Formatting the time is the most expensive part of a line, and many lines share a millisecond. */
function makeTimestamp(): () => string {
  let latest = 0;
  let printed = "";
  return () => {
    const now = Date.now();
    if (now !== latest) {
      latest = now;
      printed = `,"time":"${new Date(now).toISOString()}"`;
    }
    return printed;
  };
}

/** Writes lines without making the caller wait for the reader. */
export function openStandardOutput() {
  const destination = openDestination({ dest: 1 });
  // A few lines are written before the buffer is full, because an operator may be reading along.
  setInterval(() => destination.flush(), 500).unref();
  return Object.assign(destination, { stop: async () => destination.flushSync() });
}

/**
 * Lines are gathered and written in another thread. They are gathered as bytes, because sonic-boom
 * copies and measures all waiting text with each line: 12 µs a line instead of 5, and 35 KB of
 * garbage, which was 8 % of a sale.
 */
export function openDestination(options: {
  readonly dest: string | 1;
  readonly maxLength?: number;
}) {
  const gathered = { sync: false, minLength: 65_536, maxWrite: 131_072, mode: 0o640 };
  const destination = pino.destination({ ...options, ...gathered, contentMode: "buffer" });
  // The type does not say that it accepts bytes.
  const { write: writeBytes } = destination;
  const write = (line: string) => Reflect.apply(writeBytes, destination, [Buffer.from(line)]);
  return Object.assign(destination, { write });
}
