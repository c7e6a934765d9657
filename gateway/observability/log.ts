/**
 * Structured logs, a JSON object a line with the event's name in `event`. `CardNumber` and `Secret`
 * print themselves masked; as a second fence, digits that look like a card number are masked in
 * every line before it is written.
 */
import { type DestinationStream, pino } from "pino";
import { isLuhnValid } from "../values/card-number.ts";
import { type EventName, events } from "./events.ts";

/** Writes a line of the level that the catalogue gives the event. */
export type Log = (event: EventName, facts: object) => void;

export function makeLog(level: string, destination: DestinationStream): Log {
  const masked = { write: (line: string) => destination.write(maskLine(line)) };
  const options = { level, timestamp: makeTimestamp(), base: null, messageKey: "event" };
  const logger = pino(options, masked);
  return (event, facts) => logger[events[event][0]](facts, event);
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

/** Without making the caller wait for the reader. */
export function openStandardOutput() {
  const destination = pino.destination({ dest: 1, ...logBuffer });
  // A few lines must not wait until the buffer is full: an operator may be reading along.
  setInterval(() => destination.flush(), 500).unref();
  return Object.assign(destination, { stop: () => destination.flushSync() });
}

export const logBuffer = { sync: false, minLength: 65_536, maxWrite: 131_072 };

// The gateway's own ids are digits too, and operators search for them: they are skipped by name.
// Everything else that passes the Luhn check is masked, even if it is not a card number.
const ownIds = `"(?:order|serial|merchant|entry|endpoint|reference)":"[^"]*"`;
const cardLike = String.raw`(?<!\d|\d\.)\d(?:[ -]?\d){11,18}(?!\d|\.\d)`;
const idsAndCards = new RegExp(`${ownIds}|${cardLike}`, "g");

export function maskLine(line: string): string {
  return line.replace(idsAndCards, (found) => {
    if (found.startsWith('"')) return found;
    const digits = found.replace(/\D/g, "");
    return isLuhnValid(digits) ? `${digits.slice(0, 6)}****${digits.slice(-4)}` : found;
  });
}
