/**
 * Reads list entries from a CSV file as a stream, and reports the faults of all rows together. A
 * fault never quotes the file, because a value may be a card number by mistake.
 */
import { CardNumber, isLuhnValid, networkOf } from "../values/card-number.ts";
import { type Complain, CsvFaults, makeFaults, readRecords } from "../values/csv-records.ts";
import { Problem } from "../values/problem.ts";
import type { Instant } from "../values/time.ts";
import {
  findKind,
  type ListEntry,
  type ListKind,
  type ListName,
  type ListScope,
  listKinds,
  listNames,
} from "./lists.ts";

/** The most entries in a file. All are in memory until the file has been read. */
const entriesMax = 1_000_000;
const reasonCharactersMax = 200;

export const listColumns = [
  "list",
  "kind",
  "value",
  "merchant",
  "endpoint",
  "expires",
  "reason",
] as const;
type Column = (typeof listColumns)[number];
type Cells = (column: Column) => string;

type ListFileOptions = {
  /** Returns an entry's scope. An empty login means all merchants, an empty id all endpoints. */
  readonly scopeOf: (merchant: string, endpoint: string) => ListScope | Problem;
  readonly readExpiry: (text: string) => Instant | Problem;
  /** Returns what is stored for a card number. Without this function, card numbers are refused. */
  readonly cardValueOf?: (number: CardNumber, scope: ListScope) => string;
  /**
   * Returns whether a list has a card with this hash id. One hash id in thirty looks like a card
   * number, and is read as a hash id only if it is known.
   */
  readonly isKnownCard: (value: string) => boolean;
  readonly report: (count: number) => void;
};

export async function readListFile(
  chunks: AsyncIterable<Uint8Array>,
  options: ListFileOptions,
): Promise<readonly Omit<ListEntry, "id">[]> {
  const { sentences, complain } = makeFaults();
  const lines = new Map<string, number>();
  const entries: Omit<ListEntry, "id">[] = [];
  let header: readonly string[] | undefined;
  for await (const { line, cells } of readRecords(chunks)) {
    if (cells === undefined) {
      complain(line, undefined, "the quotes do not match");
    } else if (header === undefined) {
      header = cells.map((cell) => cell.trim().toLowerCase());
      if (refuseHeader(header, complain)) break;
    } else if (cells.length !== header.length) {
      complain(line, undefined, `${cells.length} cells instead of ${header.length}`);
    } else {
      const names = header;
      const cellOf = (column: Column) => readCell(cells[names.indexOf(column)]);
      const entry = readRow(cellOf, options, (column, words) => complain(line, column, words));
      if (entry === undefined) continue;
      const { list, kind, value, merchantId, endpointId } = entry;
      const key = [list, kind, merchantId, endpointId, value].join("/");
      const earlier = lines.get(key);
      if (earlier !== undefined) complain(line, undefined, `the same as line ${earlier}`);
      lines.set(key, line);
      entries.push(entry);
      options.report(entries.length);
      if (entries.length > entriesMax) complain(line, undefined, `over ${entriesMax} entries`);
      if (entries.length > entriesMax) break;
    }
  }
  if (header === undefined && sentences.length === 0) {
    complain(1, undefined, "no header row; the file is empty");
  }
  if (sentences.length > 0) throw new CsvFaults(sentences);
  return entries;
}

/** Removes the apostrophe that exports write before a cell that looks like a formula. */
function readCell(cell = ""): string {
  return cell.trim().replace(/^'(?=[=+\-@])/, "");
}

/** A file with a wrong header is refused at once, because every row would be wrong too. */
function refuseHeader(names: readonly string[], complain: Complain): boolean {
  const isUnknown = (name: string) => !listColumns.some((column) => column === name);
  const needed = ["list", "kind", "value"].every((column) => names.includes(column));
  if (needed && !names.some(isUnknown) && new Set(names).size === names.length) return false;
  complain(1, undefined, `the columns are ${listColumns.join(", ")}; the first three are needed`);
  return true;
}

type Refuse = (column: Column, words: string) => void;

function readRow(
  cellOf: Cells,
  options: ListFileOptions,
  refuse: Refuse,
): Omit<ListEntry, "id"> | undefined {
  const read = <Value>(column: Column, value: Value | Problem): Value | undefined => {
    if (!(value instanceof Problem)) return value;
    refuse(column, value.sentence);
    return undefined;
  };
  const list = read("list", readListName(cellOf("list")));
  const kind = read("kind", readKindName(cellOf("kind")));
  const scope = read("merchant", options.scopeOf(cellOf("merchant"), cellOf("endpoint")));
  const expiry = cellOf("expires") === "" ? undefined : options.readExpiry(cellOf("expires"));
  const expiresAt = read("expires", expiry);
  const reason = read("reason", readReason(cellOf("reason")));
  if (kind === undefined || scope === undefined) return undefined;
  const value = read("value", readValue(kind, cellOf("value"), scope, options));
  if (list === undefined || value === undefined || reason === undefined) return undefined;
  if (expiry instanceof Problem) return undefined;
  return { list, kind, value, reason, ...scope, ...(expiresAt !== undefined && { expiresAt }) };
}

function readValue(
  kind: ListKind,
  text: string,
  scope: ListScope,
  { cardValueOf, isKnownCard }: ListFileOptions,
): string | Problem {
  if (looksLikeCardNumber(text) && !(kind === "card" && isKnownCard(text))) {
    if (kind !== "card") return new Problem("may be a card number, which is of the kind card only");
    if (cardValueOf !== undefined) return cardValueOf(new CardNumber(digitsIn(text)), scope);
    return new Problem("may be a card number, which is taken from standard input only (-)");
  }
  return findKind(kind)?.read(text) ?? new Problem("not of a known kind");
}

function readListName(text: string): ListName | Problem {
  return listNames.find((name) => name === text) ?? new Problem("not allow or block");
}

function readKindName(text: string): ListKind | Problem {
  const names = listKinds.map(({ name }) => name).join(", ");
  return findKind(text)?.name ?? new Problem(`not one of ${names}`);
}

/** The reason is one line without a card number, because the audit and the portal show it. */
export function readReason(text: string): string | Problem {
  if (text.length > reasonCharactersMax || /\p{Cc}/u.test(text)) {
    return new Problem(`not one line of up to ${reasonCharactersMax} characters`);
  }
  return /\d(?:[ -]?\d){11}/.test(text)
    ? new Problem("more than 11 digits in a row; card numbers have no place here")
    : text;
}

function digitsIn(text: string): string {
  return text.replace(/[\s-]/g, "");
}

export function looksLikeCardNumber(text: string): boolean {
  const digits = digitsIn(text);
  return /^\d{12,19}$/.test(digits) && isLuhnValid(digits) && networkOf(digits) !== undefined;
}
