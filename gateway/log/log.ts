/**
 * Structured logs, a JSON object a line. Card numbers are `CardNumber`s and secrets `Secret`s, which
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
  return pino({ level, timestamp: pino.stdTimeFunctions.isoTime, base: null }, masked);
}

/** To standard error or a file, without making the caller wait for the disk. */
export function openLogFile(path: string | 1 | 2): DestinationStream & { flushSync(): void } {
  const destination = pino.destination({ dest: path, sync: false, minLength: 4096 });
  // What is little must not wait for more: somebody may be watching.
  setInterval(() => destination.flush(), 500).unref();
  return destination;
}

// Order ids and references are digits too, but never 13 to 16 alone with a good check digit and a
// first digit that card numbers have; those that are get masked, and the line stays readable.
const cardLike = /(?<![\d.-])[2-6]\d{12,18}(?![\d.-])/g;

export function maskCardNumbers(line: string): string {
  return line.replace(cardLike, (digits) => {
    if (digits.length > 16 || !isLuhnValid(digits)) return digits;
    return `${digits.slice(0, 6)}****${digits.slice(-4)}`;
  });
}
