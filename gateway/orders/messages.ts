/**
 * The identifiers of messages to acquirers and directory servers, and how an event keeps a message.
 * The identifiers are derived from the order's sequence number, which the first commit stores, so
 * that a node that recovers an order after a crash names the very request that may have been sent.
 * The reference (ISO 8583 field 37, twelve characters) is the sequence number and the attempt in
 * base 36. The trace number (field 11, six digits) comes from the same sequence and returns after
 * half a million orders.
 */
import assert from "node:assert/strict";
import type { Instant } from "../values/time.ts";

const sequenceWidth = 10;
const attemptWidth = 2;
const traceNumbers = 999_999;
const perTransaction = 399_989;
const perAttempt = 170_003;

type Sequenced = { readonly sequence: number };

export function referenceOf(order: Sequenced, attempt: number): string {
  const sequence = order.sequence.toString(36).toUpperCase().padStart(sequenceWidth, "0");
  const suffix = attempt.toString(36).toUpperCase().padStart(attemptWidth, "0");
  assert.ok(order.sequence > 0, "an order without a charge has no sequence number");
  assert.equal(sequence.length + suffix.length, sequenceWidth + attemptWidth);
  return sequence + suffix;
}

/**
 * `message` is 0 for the charge, 1 for messages that settle doubt about it, and even from 2 on for
 * later transactions. A repeat keeps its number; another attempt at the charge has its own. Trace
 * numbers of different transactions and attempts are far apart, because orders with neighbouring
 * sequence numbers send at the same moment and must not share one.
 */
export function traceNumberOf(order: Sequenced, message: number, attempt = 1): string {
  const own = order.sequence * 2 + (message & 1);
  const distance = (message >> 1) * perTransaction + (attempt - 1) * perAttempt;
  return String(((own + distance) % traceNumbers) + 1).padStart(6, "0");
}

const stepMs = 10;

/**
 * The trace number of a message that does not repeat an earlier one about the same charge: an
 * inquiry, or a reversal after a late approval. It differs from the earlier message's number,
 * because an answer to that message is out of date. It returns after 2.8 hours.
 */
export function traceNumberAt(at: Instant, earlier: string): string {
  const shifted = Number(earlier) + Math.floor(at / stepMs);
  return String((shifted % traceNumbers) + 1).padStart(6, "0");
}

/** Returns undefined for a text that this gateway did not make. */
export function parseReference(
  reference: string,
): { sequence: number; attempt: number } | undefined {
  if (!/^[0-9A-Z]{12}$/.test(reference)) return undefined;
  return {
    sequence: Number.parseInt(reference.slice(0, sequenceWidth), 36),
    attempt: Number.parseInt(reference.slice(sequenceWidth), 36),
  };
}

/**
 * A message that an event keeps, masked where it was read or written: it has no card number, CVV or
 * cryptogram. Its length is limited, because a host decides how long its answers are. Messages that
 * no event keeps are not described: a plain charge keeps none (decision 0061).
 */
export type KeptMessage = {
  readonly at: Instant;
  readonly way: "sent" | "received";
  /** A type such as `0420` or `ARes`. */
  readonly type: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Keep = (describe: () => readonly KeptMessage[]) => void;

/** The limit on kept repeats: the hundredth says nothing new. */
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
