/**
 * The bank's books: what it accepted, in the order it came, by acquirer reference. They never hold
 * a card number; where a charge's card has rules for later, the line names the scenario instead.
 */
import type { BankClock } from "./bank-clock.ts";
import { LedgerFile } from "./ledger-file.ts";

export type EntryKind = "sale" | "authorisation" | "capture" | "reversal";

export type LedgerEntry = {
  readonly reference: string;
  readonly kind: EntryKind;
  readonly amount: bigint;
  readonly currency: string;
  readonly at: string;
};

export type Booking = Omit<LedgerEntry, "at">;

/** Where a charge stands, from all that was booked under its reference. */
export type Standing = {
  readonly kind: "sale" | "authorisation";
  readonly charged: bigint;
  /** What the cardholder still owes: charged or captured, less what was reversed. */
  readonly outstanding: bigint;
  readonly captures: readonly bigint[];
  readonly currency: string;
};

export class Ledger {
  readonly #clock: BankClock;
  readonly #entries: LedgerEntry[] = [];
  readonly #byReference = new Map<string, LedgerEntry[]>();
  readonly #scenarios = new Map<string, string>();
  readonly #file: LedgerFile;

  private constructor(clock: BankClock, file: LedgerFile) {
    this.#clock = clock;
    this.#file = file;
  }

  static async open(path: string, clock: BankClock, log: (line: string) => void): Promise<Ledger> {
    const file = new LedgerFile(path, log);
    const ledger = new Ledger(clock, file);
    for await (const { entry, scenario } of file.readBack()) ledger.#keep(entry, scenario);
    return ledger;
  }

  book(booking: Booking, scenario?: string): void {
    const { reference, kind, amount, currency } = booking;
    const entry = { reference, kind, amount, currency, at: this.#clock.now().iso };
    this.#keep(entry, scenario);
    this.#file.append(entry, scenario);
  }

  entries(reference?: string): readonly LedgerEntry[] {
    return reference === undefined ? this.#entries : (this.#byReference.get(reference) ?? []);
  }

  /** The name of the scenario of the charge, where that matters later. */
  findScenarioName(reference: string): string | undefined {
    return this.#scenarios.get(reference);
  }

  findStanding(reference: string): Standing | undefined {
    return standingOf(this.entries(reference));
  }

  /** Writes what is not written yet. Nothing may be booked afterwards. */
  close(): void {
    this.#file.close();
  }

  /** What was booked is on disk before it is answered. */
  write(): void {
    this.#file.write();
  }

  #keep(entry: LedgerEntry, scenario: string | undefined): void {
    this.#entries.push(entry);
    const sameReference = this.#byReference.get(entry.reference);
    if (sameReference === undefined) this.#byReference.set(entry.reference, [entry]);
    else sameReference.push(entry);
    if (scenario !== undefined) this.#scenarios.set(entry.reference, scenario);
  }
}

function standingOf(entries: readonly LedgerEntry[]): Standing | undefined {
  let standing: Standing | undefined;
  for (const { kind, amount, currency } of entries) {
    if (kind === "sale" || kind === "authorisation") {
      // A second charge under one reference is the gateway's mistake: it stays in the books, and
      // a reversal gives back the first charge only, so that the sums show it.
      standing ??= { kind, charged: amount, outstanding: amount, captures: [], currency };
    } else if (standing !== undefined) {
      standing =
        kind === "capture" ? withCapture(standing, amount) : withReversal(standing, amount);
    }
  }
  return standing;
}

function withCapture(standing: Standing, amount: bigint): Standing {
  const capturedBefore = standing.captures.length > 0;
  return {
    ...standing,
    captures: [...standing.captures, amount],
    outstanding: capturedBefore ? standing.outstanding + amount : amount,
  };
}

function withReversal(standing: Standing, amount: bigint): Standing {
  return { ...standing, outstanding: standing.outstanding - amount };
}
