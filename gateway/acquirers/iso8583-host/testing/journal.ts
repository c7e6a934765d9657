/** A log that tests can wait on. */
type Entry = { readonly event: string; readonly facts: Readonly<Record<string, unknown>> };

/** A log to wait on. Every wait goes on from where the one before it ended. */
export class Journal {
  readonly entries: Entry[] = [];
  #read = 0;
  #onEntry: () => void = () => {};

  readonly log = (event: string, facts: object): void => {
    this.entries.push({ event, facts: { ...facts } });
    this.#onEntry();
  };

  async until(event: string, wanted: Readonly<Record<string, unknown>> = {}): Promise<Entry> {
    for (;;) {
      for (const entry of this.entries.slice(this.#read)) {
        this.#read += 1;
        const agrees = Object.entries(wanted).every(([name, value]) => entry.facts[name] === value);
        if (entry.event === event && agrees) return entry;
      }
      await new Promise<void>((resolve) => {
        this.#onEntry = resolve;
      });
    }
  }
}
