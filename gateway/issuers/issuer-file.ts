/**
 * An operator's CSV file of issuers, read as a stream and handed on in portions. Faults are
 * collected and thrown together at the end, so the consumer must be able to undo earlier portions.
 * No fault repeats a cell: it may be a card number that has strayed into the file.
 */
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import countries from "i18n-iso-countries/codes.json" with { type: "json" };
import type { Issuer } from "../orders/order.ts";
import { Problem } from "../values/problem.ts";
import { type IssuerRange, isPrefix, makeRange } from "./issuers.ts";

const faultsMax = 20;
const portionRows = 5000;
const textCharactersMax = 128;
/** A quote that is never closed would make one record of the rest of the file. */
const recordBytesMax = 10_000;

/** Thrown, because only that rolls back the consumer's transaction. */
export class IssuerFileFaults extends Error {
  readonly sentences: readonly string[];

  constructor(sentences: readonly string[]) {
    super("the issuer file has faults");
    this.sentences = sentences;
  }
}

export async function* readIssuerFile(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly IssuerRange[]> {
  const sentences: string[] = [];
  const readRow = makeReadRow(complain);
  let header: Header | undefined;
  let portion: IssuerRange[] = [];

  for await (const { line, cells } of readRecords(chunks)) {
    if (cells === undefined) {
      complain(line, undefined, "the quotes do not match");
    } else if (header === undefined) {
      header = readHeader(line, cells, complain);
      // With a wrong header every row would be wrong too.
      if (sentences.length > 0) break;
    } else {
      const range = readRow(line, cells, header);
      if (range !== undefined) portion.push(range);
      if (portion.length < portionRows || sentences.length > 0) continue;
      yield portion;
      portion = [];
    }
  }
  if (header === undefined && sentences.length === 0) {
    complain(1, undefined, "no header row; the file is empty");
  }
  if (sentences.length > 0) throw new IssuerFileFaults(sentences);
  yield portion;

  function complain(line: number, column: string | undefined, words: string): void {
    const place = column === undefined ? `Line ${line}` : `Line ${line}, column ${column}`;
    sentences.push(`${place}: ${words}.`);
    if (sentences.length < faultsMax) return;
    throw new IssuerFileFaults([...sentences, `Stopped reading after ${faultsMax} faults.`]);
  }
}

type Header = readonly string[];
type Complain = (line: number, column: string | undefined, words: string) => void;

type CsvRecord = {
  /** Where it starts; a quoted cell may hold line ends. */
  readonly line: number;
  /** Undefined when its quotes do not match: it is then the last record, the rest is unread. */
  readonly cells: readonly string[] | undefined;
};

async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const parser = parse({
    ...{ info: true, raw: true, record_delimiter: "\n", max_record_size: recordBytesMax },
    ...{ relax_column_count: true, skip_empty_lines: true },
  });
  // The loop below meets the error as well: the pipeline destroys the parser with it.
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

/** `lines` counts to the line on which the record ends, `raw` may start with empty lines. */
function firstLineOf(lines: number, raw: string): number {
  return lines - raw.slice(0, -1).trimStart().split("\n").length + 1;
}

/** Without byte order mark, with one kind of line end; bytes that are not UTF-8 become U+FFFD. */
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

/** A problem is the end of a sentence that names the line and the column. */
type ReadCell = (cell: string) => string | Problem;

const prefixColumns = ["bin", "first", "last"] as const;

// biome-ignore format: a table
const issuerColumns: readonly (readonly [column: string, fact: keyof Issuer, read: ReadCell])[] = [
  ["bank",         "bankName",    readText],
  ["country",      "country",     readCountry],
  ["product_code", "productCode", readText],
  ["product_name", "productName", readText],
  ["type_code",    "typeCode",    readText],
  ["type_name",    "typeName",    readText],
];

function readHeader(line: number, cells: readonly string[], complain: Complain): Header {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const known = [...prefixColumns, ...issuerColumns.map(([column]) => column)];
  for (const [index, name] of names.entries()) {
    // An unknown name is not repeated: without a header row it is a cell of the first row.
    if (!known.some((column) => column === name)) {
      complain(line, String(index + 1), `an unknown name; the columns are ${known.join(", ")}`);
    }
    if (names.indexOf(name) < index) complain(line, String(index + 1), "the same name again");
  }
  const prefixes = prefixColumns.filter((column) => names.includes(column)).join();
  if (prefixes !== "bin" && prefixes !== "first,last") {
    complain(line, undefined, "there must be the columns first and last, or the column bin");
  }
  return names;
}

function makeReadRow(complain: Complain) {
  const lines = new Map<string, number>();
  return (line: number, cells: readonly string[], header: Header): IssuerRange | undefined => {
    const refuse = (column: string | undefined, words: string) => {
      complain(line, column, words);
      return undefined;
    };
    if (cells.length !== header.length) {
      return refuse(undefined, `${cells.length} cells instead of ${header.length}`);
    }
    // All cells are read before any is refused, so that a row's faults are reported together.
    const cellOf = (column: string) => cells[header.indexOf(column)] ?? "";
    const read = (column: string, readCell: ReadCell) => {
      const value = readCell(cellOf(column));
      return value instanceof Problem ? refuse(column, value.sentence) : value;
    };
    const ends = (header.includes("bin") ? ["bin"] : ["first", "last"]).map((column) =>
      read(column, readPrefix),
    );
    const facts = issuerColumns.map(([column, fact, readCell]) => [fact, read(column, readCell)]);
    const [first, last] = [ends[0], ends.at(-1)];
    if (first === undefined || last === undefined || facts.some(([, value]) => value === undefined))
      return undefined;

    const issuer: Issuer = Object.fromEntries(facts.filter(([, value]) => value !== ""));
    const range = makeRange(first, last, issuer);
    if (range.first > range.last) return refuse("last", "lower than first");
    const key = `${range.first}-${range.last}`;
    const earlier = lines.get(key);
    if (earlier !== undefined) return refuse(undefined, `the same range as line ${earlier}`);
    lines.set(key, line);
    return range;
  };
}

function readPrefix(cell: string): string | Problem {
  const text = cell.trim();
  if (isPrefix(text)) return text;
  if (/^\d{12,}$/.test(text)) {
    return new Problem("more than 11 digits; card numbers have no place here");
  }
  return new Problem("not a prefix of 6 to 11 digits");
}

function readText(cell: string): string | Problem {
  const text = cell.replace(/\s+/g, " ").trim();
  if (text.includes("\ufffd")) return new Problem("not UTF-8");
  if (/\p{Cc}/u.test(text)) return new Problem("control characters");
  if (/\d(?:[ -]?\d){11}/.test(text)) {
    return new Problem("more than 11 digits in a row; card numbers have no place here");
  }
  if (text.length > textCharactersMax) {
    return new Problem(`longer than ${textCharactersMax} characters`);
  }
  return text;
}

// The package's columns are alpha-2, alpha-3, numeric and the name of a further standard.
const alpha3ByCode: ReadonlyMap<string, string> = new Map(
  countries.flatMap(([alpha2 = "", alpha3 = ""]) => [
    [alpha2, alpha3],
    [alpha3, alpha3],
  ]),
);

function readCountry(cell: string): string | Problem {
  const code = cell.trim().toUpperCase();
  if (code === "") return "";
  return alpha3ByCode.get(code) ?? new Problem("not a country code of ISO 3166-1");
}
