/** What the parts of the bank share: among others the clock, whose local time is UTC. */
import type { Log } from "./http.ts";
import type { AuthenticationValues } from "./issuer.ts";
import type { Switchboard } from "./switches.ts";

export type BankContext = {
  readonly dataDir: string;
  readonly clock: BankClock;
  readonly switches: Switchboard;
  readonly authenticationValues: AuthenticationValues;
  readonly log: Log;
};

/** A time in the formats of ledger and messages. */
export type Moment = {
  readonly ms: number;
  readonly iso: string;
  /** hhmmss, as field 12. */
  readonly time: string;
  /** MMDD, as fields 13 and 15. */
  readonly date: string;
  /** YYMM, as field 14. */
  readonly month: string;
};

export class BankClock {
  #moment: Moment = momentAt(Date.now());

  /** Computed once per millisecond: many messages share it. */
  now(): Moment {
    const ms = Date.now();
    if (ms !== this.#moment.ms) this.#moment = momentAt(ms);
    return this.#moment;
  }
}

function momentAt(ms: number): Moment {
  const iso = new Date(ms).toISOString();
  const time = iso.slice(11, 19).replaceAll(":", "");
  const date = iso.slice(5, 10).replace("-", "");
  return { ms, iso, time, date, month: iso.slice(2, 4) + iso.slice(5, 7) };
}
