/** Lets a test await a message instead of sleeping; both message logs announce to it. */

type Waiter<Message> = {
  readonly name: string;
  readonly isMatch: (message: Message) => boolean;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
};

export class Waiters<Message> {
  #waiting: readonly Waiter<Message>[] = [];

  waitFor(name: string, isMatch: Waiter<Message>["isMatch"]): Promise<Message> {
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    // A test that failed before awaiting this must not fail a second time.
    promise.catch(() => {});
    this.#waiting = [...this.#waiting, { name, isMatch, resolve, reject }];
    return promise;
  }

  announce(message: Message): void {
    if (this.#waiting.length === 0) return;
    const matched = this.#waiting.filter(({ isMatch }) => isMatch(message));
    this.#waiting = this.#waiting.filter((waiter) => !matched.includes(waiter));
    for (const { resolve } of matched) resolve(message);
  }

  close(): void {
    for (const { name, reject } of this.#waiting) {
      reject(new Error(`The bank stopped before a message ${name} came.`));
    }
    this.#waiting = [];
  }
}
