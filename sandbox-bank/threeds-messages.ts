/**
 * The last 3-D Secure messages that the bank received and sent, for whoever looks into a payment,
 * and for tests, which wait here for a message instead of sleeping. Card numbers are masked before
 * they come in.
 */
import type { BankClock } from "./bank-clock.ts";
import { maskCard } from "./issuer/mask-card.ts";

export type ThreeDsFields = { readonly [field: string]: unknown };

export type ThreeDsMessage = {
  readonly at: string;
  readonly direction: "received" | "sent";
  readonly type: string;
  /** The 3DS Server's id of the transaction; in 1.0.2 the message's own, or the purchase's xid. */
  readonly transactionId: string;
  readonly fields: ThreeDsFields;
};

export type ThreeDsMatch = { readonly type: string; readonly transactionId?: string };

type Waiting = {
  readonly match: ThreeDsMatch;
  readonly resolve: (fields: ThreeDsFields) => void;
  readonly reject: (error: Error) => void;
};

const kept = 10_000;
const maskedFields: ReadonlySet<string> = new Set(["acctNumber", "pan"]);

export class ThreeDsMessages {
  readonly #clock: BankClock;
  #messages: ThreeDsMessage[] = [];
  #waiting: readonly Waiting[] = [];

  constructor(clock: BankClock) {
    this.#clock = clock;
  }

  record(message: Omit<ThreeDsMessage, "at">): void {
    const { type, transactionId } = message;
    const fields = maskFields(message.fields);
    this.#messages.push({ ...message, fields, at: this.#clock.now().iso });
    // Cut seldom, because cutting copies what stays.
    if (this.#messages.length >= 2 * kept) this.#messages = this.#messages.slice(-kept);
    const matched = this.#waiting.filter(({ match }) => isMatch(match, { type, transactionId }));
    if (matched.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !matched.includes(waiting));
    for (const { resolve } of matched) resolve(fields);
  }

  /** Oldest first. */
  list(transactionId?: string): readonly ThreeDsMessage[] {
    const last = this.#messages.slice(-kept);
    return transactionId === undefined
      ? last
      : last.filter((message) => message.transactionId === transactionId);
  }

  /** The fields of the first such message, at once if it was already received or sent. */
  waitFor(match: ThreeDsMatch): Promise<ThreeDsFields> {
    const heard = this.list().find((message) => isMatch(match, message));
    if (heard !== undefined) return Promise.resolve(heard.fields);
    const { promise, resolve, reject } = Promise.withResolvers<ThreeDsFields>();
    // A test that fails before it waits for this must not fail a second time.
    promise.catch(() => {});
    this.#waiting = [...this.#waiting, { match, resolve, reject }];
    return promise;
  }

  /** Nothing comes any more. */
  close(): void {
    for (const { match, reject } of this.#waiting) {
      reject(new Error(`The bank stopped before a message ${match.type} was heard.`));
    }
    this.#waiting = [];
  }
}

function isMatch(match: ThreeDsMatch, message: { type: string; transactionId: string }): boolean {
  if (match.type !== message.type) return false;
  return match.transactionId === undefined || match.transactionId === message.transactionId;
}

function maskFields(fields: ThreeDsFields): ThreeDsFields {
  const masked = Object.entries(fields).map(([name, value]) =>
    maskedFields.has(name) ? [name, maskCard(String(value))] : [name, value],
  );
  return Object.fromEntries(masked);
}
