/** What the ACS remembers between two messages: not for long, and never more than it can hold. */
import type { BankClock } from "../bank-clock.ts";

const keptMax = 100_000;
const keptMs = 3_600_000;

export class Transactions<Kept> {
  readonly #clock: BankClock;
  /** A map keeps the order of its keys, so the oldest is always first. */
  readonly #kept = new Map<string, { readonly value: Kept; readonly untilMs: number }>();

  constructor(clock: BankClock) {
    this.#clock = clock;
  }

  add(id: string, value: Kept): void {
    this.#forget();
    this.#kept.set(id, { value, untilMs: this.#clock.now().ms + keptMs });
  }

  find(id: string): Kept | undefined {
    const found = this.#kept.get(id);
    return found !== undefined && found.untilMs > this.#clock.now().ms ? found.value : undefined;
  }

  /** Makes room for one more. */
  #forget(): void {
    const { ms } = this.#clock.now();
    for (const [id, { untilMs }] of this.#kept) {
      if (untilMs > ms && this.#kept.size < keptMax) return;
      this.#kept.delete(id);
    }
  }
}
