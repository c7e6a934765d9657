/** Lets a test wait for a message instead of sleeping: resolved as it comes, or if it has come. */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import type { MessageLog } from "./message-log.ts";

export type Match = { readonly mti: string; readonly reference?: string };

type Waiting = {
  readonly match: Match;
  readonly resolve: (message: IsoMessage) => void;
  readonly reject: (error: Error) => void;
};

export class Arrivals {
  readonly #log: MessageLog;
  #waiting: readonly Waiting[] = [];

  constructor(log: MessageLog) {
    this.#log = log;
  }

  waitFor(match: Match): Promise<IsoMessage> {
    const arrived = this.#log.find(match.mti, match.reference);
    if (arrived !== undefined) return Promise.resolve(arrived);
    const { promise, resolve, reject } = Promise.withResolvers<IsoMessage>();
    // A test that fails before it waits for this must not fail a second time.
    promise.catch(() => {});
    this.#waiting = [...this.#waiting, { match, resolve, reject }];
    return promise;
  }

  announce(message: IsoMessage): void {
    if (this.#waiting.length === 0) return;
    const matched = this.#waiting.filter(({ match }) => isMatch(match, message));
    if (matched.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !matched.includes(waiting));
    for (const { resolve } of matched) resolve(message);
  }

  /** Nothing comes any more. */
  close(): void {
    for (const { match, reject } of this.#waiting) {
      reject(new Error(`The bank stopped before a message ${match.mti} came.`));
    }
    this.#waiting = [];
  }
}

function isMatch(match: Match, message: IsoMessage): boolean {
  if (match.mti !== message.mti) return false;
  return match.reference === undefined || match.reference === message.fields[37];
}
