/**
 * An acquirer's CSV file: settled transactions or chargebacks, one per line. Every acquirer names
 * its columns, writes amounts and calls the kinds of transaction in its own way, so the operator
 * describes the format. A fault in any line refuses the file: half a file would report differences
 * that do not exist. No fault repeats a cell, which may be a card number.
 */
import { type Complain, CsvFaults, makeFaults, readRecords } from "../values/csv-records.ts";
import { findCurrency, findCurrencyByNumber } from "../values/iso-codes.ts";
import { Money, parseAmount } from "../values/money.ts";

export const amountForms = ["minor", "decimal", "comma"] as const;
export type AmountForm = (typeof amountForms)[number];

export type FileFormat<Column extends string, Word extends string> = {
  /** What the file calls each column; digits are its place, in a file without a header row. */
  readonly columns: Readonly<Record<Column, string>>;
  /** What a word of the file means; our own words always count. */
  readonly words: ReadonlyMap<string, Word>;
  readonly amounts: AmountForm;
  readonly delimiter: string;
};

/** Columns that the file names as we do, like the sandbox bank's. */
export function usualNames<Column extends string>(columns: readonly Column[]) {
  const names: Record<string, string> = Object.fromEntries(columns.map((name) => [name, name]));
  // One entry for each column.
  return names as Readonly<Record<Column, string>>;
}

export type FileRow<Column extends string> = {
  readonly line: number;
  /** Trimmed. */
  readonly cells: Readonly<Record<Column, string>>;
  readonly complain: (column: Column, words: string) => void;
};

/** Rows as text; the consumer reads each, and complains about what it cannot read. */
export async function* readRows<Column extends string>(
  chunks: AsyncIterable<Uint8Array>,
  { columns, delimiter }: Pick<FileFormat<Column, string>, "columns" | "delimiter">,
): AsyncGenerator<FileRow<Column>> {
  const { sentences, complain } = makeFaults();
  // Every value is a name or a place of the table's own column.
  const named = Object.entries(columns) as [Column, string][];
  const hasHeader = !named.every(([, name]) => /^\d{1,3}$/.test(name));
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
    if (place < 0) complain(line, undefined, `no column ${name}`);
    if (place >= 0 && header.lastIndexOf(name.toLowerCase()) !== place) {
      complain(line, undefined, `several columns ${name}`);
    }
    return [column, place];
  });
}

const referenceCharactersMax = 12;

/** Field 37 has twelve characters: anything longer may be a card number. */
export function readReference({ cells, complain }: FileRow<"reference">): string | undefined {
  const { reference } = cells;
  if (/^[0-9A-Za-z]+$/.test(reference) && reference.length <= referenceCharactersMax) {
    return reference.toUpperCase();
  }
  complain("reference", `not a reference of up to ${referenceCharactersMax} letters and digits`);
  return undefined;
}

type AmountRow = FileRow<"amount" | "currency">;

/** Negative amounts are read without their sign: `sign` says whether there was one. */
export function readMoney({ cells, complain }: AmountRow, form: AmountForm) {
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

/** The file's own word by the operator's table, or one of ours. */
export function readWord<Column extends string, Word extends string>(
  { cells, complain }: FileRow<Column>,
  column: Column,
  words: ReadonlyMap<string, Word>,
): Word | undefined {
  const word = words.get(cells[column].toLowerCase());
  if (word === undefined) complain(column, "a word without a meaning: see --words");
  return word;
}
