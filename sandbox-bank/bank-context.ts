/**
 * The context that all parts of the sandbox bank share, such as the clock, whose local time is UTC.
 */
import type { Log } from "./http.ts";
import type { AuthenticationValues } from "./issuer.ts";
import type { Switchboard } from "./switches.ts";

export type BankContext = {
  readonly dataDir: string;
  readonly clock: BankClock;
  readonly switches: Switchboard;
  readonly authenticationValues: AuthenticationValues;
  readonly log: Log;
  readonly resultTimeoutMs: number;
};

export type Moment = ReturnType<typeof momentAt>;

export class BankClock {
  readonly #read: () => number;
  #moment: Moment;

  /** `read` returns the time in milliseconds, by default that of the machine. */
  constructor(read: () => number = Date.now) {
    this.#read = read;
    this.#moment = momentAt(read());
  }

  /**
   * Returns the current moment, which is computed once per millisecond because many messages share
   * it.
   */
  now(): Moment {
    const ms = this.#read();
    if (ms !== this.#moment.ms) this.#moment = momentAt(ms);
    return this.#moment;
  }
}

/**
 * Returns a moment, also in the forms of the fields: hhmmss (12), MMDD (13 and 15) and YYMM (14).
 */
function momentAt(ms: number) {
  const iso = new Date(ms).toISOString();
  const time = iso.slice(11, 19).replaceAll(":", "");
  const date = iso.slice(5, 10).replace("-", "");
  return { ms, iso, time, date, month: iso.slice(2, 4) + iso.slice(5, 7) };
}

const entriesMax = 100_000;
const lifetimeMs = 3_600_000;

export class ExpiringMap<Value> {
  readonly #clock: BankClock;
  /** The entries in order of insertion, so that the oldest is always first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly expiresAtMs: number }>();

  constructor(clock: BankClock) {
    this.#clock = clock;
  }

  add(id: string, value: Value): void {
    const { ms } = this.#clock.now();
    for (const [oldId, { expiresAtMs }] of this.#entries) {
      if (expiresAtMs > ms && this.#entries.size < entriesMax) break;
      this.#entries.delete(oldId);
    }
    this.#entries.set(id, { value, expiresAtMs: ms + lifetimeMs });
  }

  find(id: string): Value | undefined {
    const entry = this.#entries.get(id);
    const isAlive = entry !== undefined && entry.expiresAtMs > this.#clock.now().ms;
    return isAlive ? entry.value : undefined;
  }
}
