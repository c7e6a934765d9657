/** The last 3-D Secure messages that the bank received and sent. Card numbers are masked. */
import type { BankClock } from "./bank-context.ts";
import { maskCard } from "./issuer.ts";
import { type Direction, Waiters } from "./message-log.ts";

export type ThreeDsFields = { readonly [field: string]: unknown };

export type ThreeDsMessage = {
  readonly at: string;
  readonly direction: Direction;
  readonly type: string;
  /** The threeDSServerTransID; in 1.0.2 the message id, or the purchase's xid. */
  readonly transactionId: string;
  readonly fields: ThreeDsFields;
};

export type ThreeDsMatch = { readonly type: string; readonly transactionId?: string };

const messagesMax = 10_000;
const maskedFields: ReadonlySet<string> = new Set(["acctNumber", "pan"]);

export class ThreeDsMessages {
  readonly #clock: BankClock;
  readonly #waiters = new Waiters<ThreeDsMessage>();
  #messages: ThreeDsMessage[] = [];

  constructor(clock: BankClock) {
    this.#clock = clock;
  }

  record(direction: Direction, type: string, transactionId: string, fields: object): void {
    const masked = Object.entries(fields).map(([name, value]) =>
      maskedFields.has(name) ? [name, maskCard(String(value))] : [name, value],
    );
    const at = this.#clock.now().iso;
    const message = { at, direction, type, transactionId, fields: Object.fromEntries(masked) };
    this.#messages.push(message);
    // Truncated rarely, because truncating copies the rest.
    if (this.#messages.length >= 2 * messagesMax)
      this.#messages = this.#messages.slice(-messagesMax);
    this.#waiters.announce(message);
  }

  /** Oldest first. */
  list(transactionId?: string): readonly ThreeDsMessage[] {
    const last = this.#messages.slice(-messagesMax);
    if (transactionId === undefined) return last;
    return last.filter((message) => message.transactionId === transactionId);
  }

  /** The fields of the oldest such message; when there is none, of the next one. */
  waitFor({ type, transactionId }: ThreeDsMatch): Promise<ThreeDsFields> {
    const isMatch = (message: ThreeDsMessage) =>
      message.type === type &&
      (transactionId === undefined || message.transactionId === transactionId);
    const logged = this.list().find(isMatch);
    if (logged !== undefined) return Promise.resolve(logged.fields);
    const fields = this.#waiters.waitFor(type, isMatch).then((message) => message.fields);
    fields.catch(() => {});
    return fields;
  }

  close(): void {
    this.#waiters.close();
  }
}
