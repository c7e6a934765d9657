/**
 * The sandbox bank's ledger: accepted charges, captures and reversals in order of arrival, by
 * acquirer reference, in memory and in a file of one JSON line per entry. It contains no card
 * numbers. A charge whose card has rules for later messages names its scenario instead.
 */
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { appendFile, mkdir, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import type { BankClock } from "./bank-context.ts";
import type { Log } from "./http.ts";

const entryKinds = ["sale", "authorisation", "capture", "reversal", "refund", "payout"] as const;

export type LedgerEntry = {
  readonly reference: string;
  readonly kind: (typeof entryKinds)[number];
  readonly amount: bigint;
  readonly currency: string;
  readonly at: string;
  /** The gate of the port on which the message arrived. Absent in older ledgers. */
  readonly gate?: string;
  /** The trace number, by which an inquiry names a capture, a return, a refund or a payout. */
  readonly trace?: string;
};

export type Booking = Omit<LedgerEntry, "at">;

/** The state of a charge, computed from all entries of its reference. */
type ChargeBalance = {
  readonly kind: "sale" | "authorisation";
  readonly charged: bigint;
  /** The charged or captured amount less reversals. */
  readonly outstanding: bigint;
  readonly captures: readonly bigint[];
  readonly currency: string;
};

export class Ledger {
  readonly #clock: BankClock;
  readonly #path: string;
  readonly #log: Log;
  readonly #entries: LedgerEntry[] = [];
  readonly #byReference = new Map<string, LedgerEntry[]>();
  readonly #scenarios = new Map<string, string>();
  #unwritten = "";
  #descriptor: number | undefined;

  private constructor(path: string, clock: BankClock, log: Log) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
  }

  static async open(path: string, clock: BankClock, log: Log): Promise<Ledger> {
    const ledger = new Ledger(path, clock, log);
    for await (const { entry, scenario } of readEntries(path, log)) ledger.#add(entry, scenario);
    return ledger;
  }

  /**
   * Books an entry. It is appended to the file together with all bookings of this turn of the event
   * loop.
   */
  book(booking: Booking, scenario?: string): void {
    const entry = { ...booking, at: this.#clock.now().iso };
    this.#add(entry, scenario);
    if (this.#unwritten === "") setImmediate(() => this.write());
    this.#unwritten += formatLine(entry, scenario);
  }

  entries(reference?: string): readonly LedgerEntry[] {
    return reference === undefined ? this.#entries : (this.#byReference.get(reference) ?? []);
  }

  /** Returns the name of the charge's scenario, if it has rules for later messages. */
  findScenarioName(reference: string): string | undefined {
    return this.#scenarios.get(reference);
  }

  findBalance(reference: string): ChargeBalance | undefined {
    return balanceOf(this.entries(reference));
  }

  /**
   * Writes the file. It is called before an answer is sent, so that a killed process remembers all
   * that it answered.
   */
  write(): void {
    const lines = this.#unwritten;
    if (lines === "") return;
    this.#unwritten = "";
    try {
      this.#descriptor ??= openSync(this.#path, "a");
      writeSync(this.#descriptor, lines);
    } catch (error) {
      // The entries in memory stay correct, but will be missing after a restart.
      this.#log(`The ledger could not be written: ${String(error)}`);
    }
  }

  /** Closes the file. Nothing may be booked after this. */
  close(): void {
    this.write();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #add(entry: LedgerEntry, scenario: string | undefined): void {
    this.#entries.push(entry);
    const sameReference = this.#byReference.get(entry.reference);
    if (sameReference === undefined) this.#byReference.set(entry.reference, [entry]);
    else sameReference.push(entry);
    if (scenario !== undefined) this.#scenarios.set(entry.reference, scenario);
  }
}

function balanceOf(entries: readonly LedgerEntry[]): ChargeBalance | undefined {
  let balance: ChargeBalance | undefined;
  for (const { kind, amount, currency } of entries) {
    if (kind === "sale" || kind === "authorisation") {
      // A second charge with one reference is the gateway's mistake. A reversal reverses only the
      // first, so that the sums show it.
      balance ??= { kind, charged: amount, outstanding: amount, captures: [], currency };
    } else if (balance !== undefined && kind !== "refund" && kind !== "payout") {
      const { captures, outstanding } = balance;
      const before = kind === "capture" && captures.length === 0 ? 0n : outstanding;
      balance =
        kind === "capture"
          ? { ...balance, captures: [...captures, amount], outstanding: before + amount }
          : { ...balance, outstanding: before - amount };
    }
  }
  return balance;
}

/** Reads the file, and creates it if it is missing. A last line that a crash has cut is removed. */
async function* readEntries(path: string, log: Log) {
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, "");
  let rest = "";
  let lineNumber = 0;
  let completeBytes = 0;
  for await (const chunk of createReadStream(path, "utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      lineNumber += 1;
      completeBytes += Buffer.byteLength(line) + 1;
      yield parseLine(line, `${path} line ${lineNumber}`);
    }
  }
  if (rest === "") return;
  log(`The last line of ${path} is incomplete and was removed.`);
  await truncate(path, completeBytes);
}

/** Formats an entry without JSON.stringify of an object, because every sale needs this line. */
function formatLine(entry: LedgerEntry, scenario: string | undefined): string {
  const { reference, kind, amount, currency, at, gate, trace } = entry;
  const named = scenario === undefined ? "" : `,"scenario":"${scenario}"`;
  const through = gate === undefined ? "" : `,"gate":"${gate}"`;
  const traced = trace === undefined ? "" : `,"trace":${JSON.stringify(trace)}`;
  return (
    `{"reference":${JSON.stringify(reference)},"kind":"${kind}","amount":${amount},` +
    `"currency":${JSON.stringify(currency)},"at":"${at}"${through}${traced}${named}}\n`
  );
}

function parseLine(text: string, location: string) {
  let line: Readonly<Record<string, unknown>> = {};
  try {
    line = { ...JSON.parse(text) };
  } catch {
    // The check below refuses this, as a line without fields.
  }
  const { reference, amount, currency, at, gate, trace, scenario } = line;
  const kind = entryKinds.find((each) => each === line["kind"]);
  if (
    typeof reference !== "string" ||
    typeof currency !== "string" ||
    typeof at !== "string" ||
    kind === undefined ||
    !Number.isSafeInteger(amount)
  ) {
    throw new Error(`The ledger cannot be read: ${location} is not an entry.`);
  }
  const booked = { reference, kind, amount: BigInt(Number(amount)), currency, at };
  const entry: LedgerEntry = {
    ...booked,
    ...(typeof gate === "string" && { gate }),
    ...(typeof trace === "string" && { trace }),
  };
  return { entry, scenario: typeof scenario === "string" ? scenario : undefined };
}
