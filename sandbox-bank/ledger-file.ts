/**
 * The books on disk: one JSON line per entry, only ever appended. Lines of one turn of the event
 * loop are written together and before their answers leave, so that a killed bank has forgotten
 * nothing it said; a last line torn by a crash is cut off when the file is next opened.
 */
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { appendFile, mkdir, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import type { EntryKind, LedgerEntry } from "./ledger.ts";

type Line = { readonly entry: LedgerEntry; readonly scenario: string | undefined };

export class LedgerFile {
  readonly #path: string;
  readonly #log: (line: string) => void;
  #pending = "";
  #descriptor: number | undefined;

  constructor(path: string, log: (line: string) => void) {
    this.#path = path;
    this.#log = log;
  }

  /** Every entry of the file, which is made when absent; once, before anything is appended. */
  async *readBack(): AsyncGenerator<Line> {
    await mkdir(dirname(this.#path), { recursive: true });
    await appendFile(this.#path, "");
    let rest = "";
    let lineNumber = 0;
    let wholeBytes = 0;
    for await (const chunk of createReadStream(this.#path, "utf8")) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        lineNumber += 1;
        wholeBytes += Buffer.byteLength(line) + 1;
        yield parseLine(line, `${this.#path} line ${lineNumber}`);
      }
    }
    if (rest === "") return;
    this.#log(`The last line of ${this.#path} was torn and is left out.`);
    await truncate(this.#path, wholeBytes);
  }

  append(entry: LedgerEntry, scenario: string | undefined): void {
    if (this.#pending === "") setImmediate(() => this.write());
    this.#pending += formatLine(entry, scenario);
  }

  /** At the latest when this turn of the event loop ends; before any answer of the turn leaves. */
  write(): void {
    const lines = this.#pending;
    if (lines === "") return;
    this.#pending = "";
    try {
      this.#descriptor ??= openSync(this.#path, "a");
      writeSync(this.#descriptor, lines);
    } catch (error) {
      // The books in memory stay right; only a restart would miss these entries.
      this.#log(`The ledger could not be written: ${String(error)}`);
    }
  }

  close(): void {
    this.write();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Written by hand, because this is the one line of text that every sale costs. */
function formatLine(entry: LedgerEntry, scenario: string | undefined): string {
  const { reference, kind, amount, currency, at } = entry;
  const named = scenario === undefined ? "" : `,"scenario":"${scenario}"`;
  return (
    `{"reference":${JSON.stringify(reference)},"kind":"${kind}","amount":${amount},` +
    `"currency":${JSON.stringify(currency)},"at":"${at}"${named}}\n`
  );
}

function parseLine(text: string, where: string): Line {
  const line = parseJson(text);
  const scenario = line["scenario"];
  const { reference, kind, amount, currency, at } = line;
  if (
    typeof reference !== "string" ||
    !isEntryKind(kind) ||
    !Number.isSafeInteger(amount) ||
    typeof amount !== "number" ||
    typeof currency !== "string" ||
    typeof at !== "string"
  ) {
    throw new Error(`The ledger cannot be read back: ${where} is no entry.`);
  }
  const entry = { reference, kind, amount: BigInt(amount), currency, at };
  return { entry, scenario: typeof scenario === "string" ? scenario : undefined };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function isEntryKind(kind: unknown): kind is EntryKind {
  return kind === "sale" || kind === "authorisation" || kind === "capture" || kind === "reversal";
}
