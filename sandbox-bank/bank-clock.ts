/** Wall time in the shapes that the books and the messages need. The bank's local time is UTC. */
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

  /** Made once per millisecond: many messages share it. */
  now(): Moment {
    const ms = Date.now();
    if (ms !== this.#moment.ms) this.#moment = momentAt(ms);
    return this.#moment;
  }
}

function momentAt(ms: number): Moment {
  const iso = new Date(ms).toISOString();
  return {
    ms,
    iso,
    time: iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19),
    date: iso.slice(5, 7) + iso.slice(8, 10),
    month: iso.slice(2, 4) + iso.slice(5, 7),
  };
}

/** A stored moment, as text. */
export function isoAt(ms: number): string {
  return new Date(ms).toISOString();
}
