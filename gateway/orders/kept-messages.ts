/**
 * Messages that led to an event, kept with it: masked where they were read or written, so that no
 * card number, CVV or cryptogram is among them, and bounded, because a host decides how long its
 * answers are. They are described only when an event keeps them: a plain charge keeps none
 * (decision 0061).
 */
import type { Instant } from "../values/time.ts";

/** To or from an acquirer or a directory server. */
export type KeptMessage = {
  readonly at: Instant;
  readonly way: "sent" | "received";
  /** `0420`, `ARes`. */
  readonly type: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Keep = (describe: () => readonly KeptMessage[]) => void;

/** The hundredth repeat of a message says nothing new. */
export const keptTries = 10;
const messagesMax = 8;
const fieldsMax = 64;
const lengthMax = 200;

export function makeKept() {
  const described: (() => readonly KeptMessage[])[] = [];
  return {
    keep: ((describe) => void described.push(describe)) satisfies Keep,
    with<Event extends object>(event: Event): Event {
      if (described.length === 0) return event;
      const messages = described.flatMap((describe) => describe());
      return { ...event, messages: messages.slice(-messagesMax).map(bound) };
    },
  };
}

function bound({ fields, ...message }: KeptMessage): KeptMessage {
  const entries = Object.entries(fields).slice(0, fieldsMax);
  const short = entries.map(([name, value]) => [name, shorten(value)]);
  return { ...message, fields: Object.fromEntries(short) };
}

function shorten(value: string): string {
  return value.length <= lengthMax ? value : `${value.slice(0, lengthMax)}…`;
}
