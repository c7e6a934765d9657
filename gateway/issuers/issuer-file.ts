/**
 * An operator's CSV file of issuers, read as a stream and handed on in portions. Faults are
 * collected and thrown together at the end, so the consumer must be able to undo earlier portions.
 * No fault repeats a cell: it may be a card number that has strayed into the file.
 */
import countries from "i18n-iso-countries/codes.json" with { type: "json" };
import type { Issuer } from "../orders/order.ts";
import { type Complain, CsvFaults, makeFaults, readRecords } from "../values/csv-records.ts";
import { Problem } from "../values/problem.ts";
import { type IssuerRange, isPrefix, makeRange } from "./issuers.ts";

const portionRows = 5000;
const textCharactersMax = 128;

export async function* readIssuerFile(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly IssuerRange[]> {
  const { sentences, complain } = makeFaults();
  const readRow = makeReadRow(complain);
  let header: Header | undefined;
  let portion: IssuerRange[] = [];

  for await (const { line, cells } of readRecords(chunks)) {
    if (cells === undefined) {
      complain(line, undefined, "the quotes do not match");
    } else if (header === undefined) {
      header = readHeader(line, cells, complain);
      // A wrong header would make every row wrong too.
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
  if (sentences.length > 0) throw new CsvFaults(sentences);
  yield portion;
}

type Header = readonly string[];

/** A problem is the end of a sentence that names the line and the column. */
type ReadCell = (cell: string) => string | Problem;

const prefixColumns = ["bin", "first", "last"] as const;

const issuerColumns: readonly (readonly [column: string, fact: keyof Issuer, read: ReadCell])[] = [
  ["bank", "bankName", readText],
  ["country", "country", readCountry],
  ["product_code", "productCode", readText],
  ["product_name", "productName", readText],
  ["type_code", "typeCode", readText],
  ["type_name", "typeName", readText],
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
