/**
 * Structured logs, a JSON object a line. Card numbers are `CardNumber`s and secrets `Secret`s and
 * print themselves masked; as a second fence, digits that look like a card number are masked in
 * every line before it is written, wherever they came from.
 */
import { type DestinationStream, pino } from "pino";
import { isLuhnValid } from "../values/card-number.ts";

export type Log = {
  debug(facts: object, sentence: string): void;
  info(facts: object, sentence: string): void;
  warn(facts: object, sentence: string): void;
  error(facts: object, sentence: string): void;
};

export function makeLog(level: string, destination: DestinationStream): Log {
  const masked = {
    write(line: string) {
      destination.write(maskCardNumbers(line));
    },
  };
  return pino({ level, timestamp: makeTimestamp(), base: null }, masked);
}

/** Several lines fall into a millisecond, and printing the moment is the dearest part of a line. */
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

/** To standard error or a file, without making the caller wait for the disk. */
export function openLogFile(path: string | 1 | 2): DestinationStream & { flushSync(): void } {
  const destination = pino.destination({
    dest: path,
    sync: false,
    minLength: 65_536,
    maxWrite: 131_072,
  });
  // What is little must not wait for more: somebody may be watching.
  setInterval(() => destination.flush(), 500).unref();
  return destination;
}

// Our own ids are digits too, and are what support looks for: they are stepped over by name. Of all
// else, whatever passes the check of a card number is masked: better a line less than a card more.
const ownIds = `"(?:order|serial|merchant|entry|endpoint|reference)":"[^"]*"`;
const cardLike = String.raw`(?<!\d|\d\.)\d(?:[ -]?\d){11,18}(?!\d|\.\d)`;
const idsAndCards = new RegExp(`${ownIds}|${cardLike}`, "g");

export function maskCardNumbers(line: string): string {
  return line.replace(idsAndCards, (found) => {
    if (found.startsWith('"')) return found;
    const digits = found.replace(/\D/g, "");
    return isLuhnValid(digits) ? `${digits.slice(0, 6)}****${digits.slice(-4)}` : found;
  });
}
