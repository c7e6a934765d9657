/**
 * An acquirer's CSV file: settled transactions or chargebacks, one per line. The operator describes
 * the format, because every acquirer has its own columns, amounts and words. A fault in any line
 * refuses the file: half a file would report differences that do not exist. No fault repeats a
 * cell, which may be a card number.
 */
import type { Chargeback, ChargebackStage } from "../orders/order.ts";
import { type SettlementKind, settlementKinds } from "../orders/settlement-items.ts";
import { type Complain, CsvFaults, makeFaults, readRecords } from "../values/csv-records.ts";
import { findCurrency, findCurrencyByNumber } from "../values/iso-codes.ts";
import { Money, parseAmount } from "../values/money.ts";
import { type Instant, parseDate } from "../values/time.ts";

export const amountForms = ["minor", "decimal", "comma"] as const;
export type AmountForm = (typeof amountForms)[number];

export type FileFormat<Column extends string, Word extends string> = {
  /** The title of each column in the file, or its number in a file without a header row. */
  readonly columns: Readonly<Record<Column, string>>;
  /** The meaning of the file's words. The gateway's own words are always understood. */
  readonly words: ReadonlyMap<string, Word>;
  readonly amounts: AmountForm;
  readonly delimiter: string;
};

/** The columns have the gateway's own names, as in the sandbox's file. */
function usualNames<Column extends string>(columns: readonly Column[]) {
  const names: Record<string, string> = Object.fromEntries(columns.map((name) => [name, name]));
  return names as Readonly<Record<Column, string>>;
}

/** Columns that a file may lack. */
const optionalColumns: readonly string[] = ["due"];

type FileRow<Column extends string> = {
  readonly line: number;
  /** The trimmed text of each column. */
  readonly cells: Readonly<Record<Column, string>>;
  readonly complain: (column: Column, words: string) => void;
};

/** Yields rows as text. The consumer reads each row and complains about unreadable values. */
async function* readRows<Column extends string>(
  chunks: AsyncIterable<Uint8Array>,
  { columns, delimiter }: Pick<FileFormat<Column, string>, "columns" | "delimiter">,
): AsyncGenerator<FileRow<Column>> {
  const { sentences, complain } = makeFaults();
  // Every value is a name or a place of the table's own column.
  const named = Object.entries(columns) as [Column, string][];
  const needed = named.filter(([column]) => !optionalColumns.includes(column));
  const hasHeader = !needed.every(([, name]) => /^\d{1,3}$/.test(name));
  let places = hasHeader ? undefined : named.map(([column, place]) => [column, Number(place) - 1]);
  for await (const { line, cells } of readRecords(chunks, delimiter)) {
    if (cells === undefined) complain(line, undefined, "the quotes do not match");
    else if (places === undefined) {
      places = findPlaces(line, cells, named, complain);
      if (sentences.length > 0) break;
    } else {
      const found = places.map(([column, place]) => [column, cells[Number(place)]?.trim() ?? ""]);
      const own = Object.fromEntries(found) as Record<Column, string>;
      yield {
        line,
        cells: own,
        complain: (column, words) => complain(line, columns[column], words),
      };
    }
  }
  if (places === undefined && sentences.length === 0) {
    complain(1, undefined, "no header row; the file is empty");
  }
  if (sentences.length > 0) throw new CsvFaults(sentences);
}

function findPlaces<Column extends string>(
  line: number,
  cells: readonly string[],
  named: readonly [Column, string][],
  complain: Complain,
): [Column, number][] {
  const header = cells.map((cell) => cell.trim().toLowerCase());
  return named.map(([column, name]) => {
    const place = header.indexOf(name.toLowerCase());
    if (place < 0 && !optionalColumns.includes(column)) {
      complain(line, undefined, `no column ${name}`);
    }
    if (place >= 0 && header.lastIndexOf(name.toLowerCase()) !== place) {
      complain(line, undefined, `several columns ${name}`);
    }
    return [column, place];
  });
}

const referenceCharactersMax = 12;

/** Field 37 has twelve characters: anything longer may be a card number. */
function readReference({ cells, complain }: FileRow<"reference">): string | undefined {
  const { reference } = cells;
  if (/^[0-9A-Za-z]+$/.test(reference) && reference.length <= referenceCharactersMax) {
    return reference.toUpperCase();
  }
  complain("reference", `not a reference of up to ${referenceCharactersMax} letters and digits`);
  return undefined;
}

type AmountRow = FileRow<"amount" | "currency">;

/** Returns the amount without its sign, and whether it was negative. */
function readMoney({ cells, complain }: AmountRow, form: AmountForm) {
  const { currency: code, amount } = cells;
  const currency = findCurrency(code.toUpperCase()) ?? findCurrencyByNumber(code);
  if (currency === undefined) {
    complain("currency", "not a currency of ISO 4217");
    return undefined;
  }
  const isNegative = amount.startsWith("-");
  const digits = isNegative ? amount.slice(1).trim() : amount;
  const isMinor = form === "minor" && /^\d{1,18}$/.test(digits);
  const plain = form === "comma" ? digits.replace(",", ".") : digits;
  const parsed = isMinor ? new Money(BigInt(digits), currency) : undefined;
  const money = form === "minor" ? parsed : parseAmount(plain, currency);
  if (money === undefined || money.minor > amountMax) {
    complain("amount", form === "minor" ? "not a whole number of minor units" : "not an amount");
    return undefined;
  }
  return { money, isNegative };
}

const amountMax = 10n ** 18n;

/** Finds the meaning of a word by the operator's table, or as one of the gateway's words. */
function readWord<Column extends string, Word extends string>(
  { cells, complain }: FileRow<Column>,
  column: Column,
  words: ReadonlyMap<string, Word>,
): Word | undefined {
  const word = words.get(cells[column].toLowerCase());
  if (word === undefined) complain(column, "a word without a meaning: see --words");
  return word;
}

export type SettlementLine = {
  readonly line: number;
  readonly reference: string;
  readonly kind: SettlementKind;
  readonly money: Money;
};

/** `ignore` means that the line moves no money of a payment, like a hold, a fee or a sum. */
type SettlementWord = SettlementKind | "ignore";
const settlementFields = ["reference", "kind", "amount", "currency"] as const;
type SettlementColumn = (typeof settlementFields)[number];
export type SettlementFormat = FileFormat<SettlementColumn, SettlementWord>;

export const settlementColumns = usualNames(settlementFields);

// Every word is a key of the table.
const ownKinds = Object.keys(settlementKinds) as SettlementKind[];
export const settlementWords: readonly SettlementWord[] = [...ownKinds, "ignore"];

export async function* readSettlementFile(
  chunks: AsyncIterable<Uint8Array>,
  format: SettlementFormat,
): AsyncGenerator<SettlementLine> {
  for await (const row of readRows(chunks, format)) {
    const line = readSettlementLine(row, format);
    if (line !== undefined) yield line;
  }
}

function readSettlementLine(row: FileRow<SettlementColumn>, format: SettlementFormat) {
  const kind = readWord(row, "kind", format.words);
  if (kind === "ignore") return undefined;
  const reference = readReference(row);
  const amount = readMoney(row, format.amounts);
  if (kind === undefined || reference === undefined || amount === undefined) return undefined;
  // Some acquirers write a minus before a refund. Before a charge it has no meaning.
  if (amount.isNegative && settlementKinds[kind] === "debit") {
    row.complain("amount", "negative for money that was taken");
  }
  return { line: row.line, reference, kind, money: amount.money };
}

export type ChargebackLine = {
  readonly line: number;
  readonly reference: string;
  readonly chargeback: Omit<Chargeback, "serialNumber">;
};

const chargebackFields = [
  "case",
  "reference",
  "amount",
  "currency",
  "reason",
  "stage",
  "at",
  "due",
] as const;
type ChargebackColumn = (typeof chargebackFields)[number];
type ChargebackFormat = FileFormat<ChargebackColumn, ChargebackStage>;

export const chargebackColumns = usualNames(chargebackFields);

/**
 * Reads the acquirer's file of chargebacks, with one line for each stage of each case. The whole
 * file is read before any line is used, because a fault in the last line refuses the first too.
 */
export async function readChargebackFile(
  chunks: AsyncIterable<Uint8Array>,
  format: ChargebackFormat,
): Promise<readonly ChargebackLine[]> {
  const lines: ChargebackLine[] = [];
  for await (const row of readRows(chunks, format)) {
    const line = readChargebackLine(row, format);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function readChargebackLine(row: FileRow<ChargebackColumn>, format: ChargebackFormat) {
  const caseId = readText(row, "case", 40);
  const reason = readText(row, "reason", 100);
  const stage = readWord(row, "stage", format.words);
  const reference = readReference(row);
  // Some acquirers write the amounts that they take with a minus.
  const amount = readMoney(row, format.amounts)?.money;
  const at = readTime(row, "at");
  const dueAt = row.cells.due === "" ? undefined : readTime(row, "due");
  if (caseId === undefined || reason === undefined || stage === undefined) return undefined;
  if (reference === undefined || amount === undefined || at === undefined) return undefined;
  return {
    line: row.line,
    reference,
    chargeback: { caseId, stage, amount, reason, at, ...(dueAt && { dueAt }) },
  };
}

/** The text is stored, shown and sent to the merchant, so it must not contain a card number. */
function readText(
  { cells, complain }: FileRow<ChargebackColumn>,
  column: "case" | "reason",
  charactersMax: number,
): string | undefined {
  const text = cells[column].replace(/\s+/g, " ");
  const isPlain = !/[\p{Cc}\ufffd]/u.test(text) && text.length <= charactersMax;
  const mayBeCard = column === "reason" && /\d(?:[ -]?\d){11}/.test(text);
  if (text !== "" && isPlain && !mayBeCard) return text;
  complain(column, `not 1 to ${charactersMax} characters without a card number`);
  return undefined;
}

function readTime(
  { cells, complain }: FileRow<ChargebackColumn>,
  column: "at" | "due",
): Instant | undefined {
  const [, day, time = "00:00"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)Z?)?$/.exec(cells[column]) ?? [];
  const at = day === undefined ? undefined : parseDate(`${day}T${time}Z`);
  if (at === undefined) complain(column, "not a date like 2030-01-31 or 2030-01-31T12:00:00Z");
  return at;
}
