/**
 * Reads the records of an operator's CSV file as a stream, and writes cells of the gateway's own
 * files. No sentence here quotes a cell, which may be a card number by mistake.
 */
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";

/** The longest record by default. An unclosed quote would make one record of the whole rest. */
const recordBytesMax = 10_000;

type CsvRecord = {
  /** The line on which the record starts. A quoted cell may contain line ends. */
  readonly line: number;
  /** Undefined in the last record, if its quotes do not match. The rest of the file is not read. */
  readonly cells: readonly string[] | undefined;
};

export async function* readRecords(
  chunks: AsyncIterable<Uint8Array>,
  delimiter = ",",
  bytesMax = recordBytesMax,
): AsyncGenerator<CsvRecord> {
  const parser = parse({
    info: true,
    raw: true,
    record_delimiter: "\n",
    max_record_size: bytesMax,
    relax_column_count: true,
    skip_empty_lines: true,
    delimiter,
  });
  // The loop below gets the error as well, because the pipeline destroys the parser with it.
  pipeline(decode(chunks), parser, () => undefined);
  try {
    for await (const { record, info, raw } of parser) {
      yield { line: firstLineOf(info.lines, raw), cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: firstLineOf(Number(error["lines"]), String(error["raw"])), cells: undefined };
  }
}

/** `lines` is the number of the line on which the record ends. `raw` may start with empty lines. */
function firstLineOf(lines: number, raw: string): number {
  return lines - raw.slice(0, -1).trimStart().split("\n").length + 1;
}

/** Removes a byte order mark and unifies line ends. Bytes that are not UTF-8 become U+FFFD. */
async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    rest = text.endsWith("\r") ? "\r" : "";
    yield text.slice(0, text.length - rest.length).replaceAll("\r\n", "\n");
  }
  yield rest + decoder.decode();
}

/** Writes a record for a program, which gets every value as it is (RFC 4180). */
export function writeRecord(cells: readonly string[]): string {
  const quote = (cell: string) =>
    /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  return `${cells.map(quote).join(",")}\r\n`;
}

const faultsMax = 20;

/** The faults of a file. They are thrown, because only that rolls back a consumer's transaction. */
export class CsvFaults extends Error {
  readonly sentences: readonly string[];

  constructor(sentences: readonly string[]) {
    super("the CSV file has faults");
    this.sentences = sentences;
  }
}

export type Complain = (line: number, column: string | undefined, words: string) => void;

/** Throws if there are too many faults. */
export function makeFaults() {
  const sentences: string[] = [];
  const complain: Complain = (line, column, words) => {
    const place = column === undefined ? `Line ${line}` : `Line ${line}, column ${column}`;
    sentences.push(`${place}: ${words}.`);
    if (sentences.length < faultsMax) return;
    throw new CsvFaults([...sentences, `Stopped reading after ${faultsMax} faults.`]);
  };
  return { sentences, complain };
}

/** Quotes a cell (RFC 4180). Some spreadsheets separate cells by semicolons. */
export function quoteCell(value: string): string {
  return mustBeQuoted.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

const mustBeQuoted = /[",;\r\n]/;

/** Puts an apostrophe in front of a text that a spreadsheet would run as a formula. */
export function withoutFormula(value: string): string;
export function withoutFormula(value: string | undefined): string | undefined;
export function withoutFormula(value: string | undefined): string | undefined {
  return value !== undefined && isFormula.test(value) ? `'${value}` : value;
}

/** Spreadsheets ignore leading spaces and accept the full-width forms of the signs. */
const isFormula = /^[\s\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;
