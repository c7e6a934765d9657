/**
 * An operator's file of issuers, read as it comes and handed on in portions. Whoever takes them
 * must be able to undo it all: what is wrong is told at the end, many faults at once.
 */
import type { Issuer } from "../orders/order.ts";
import { CellFault, issuerColumns, prefixColumns, readPrefix } from "./issuer-columns.ts";
import { type IssuerRange, makeRange } from "./issuer-range.ts";
import { type CsvRecord, readCsv } from "./read-csv.ts";

const faultsMax = 20;
const portionRows = 5000;

/** Thrown, because only that ends whatever was begun with the ranges before. */
export class IssuerFileFaults extends Error {
  readonly sentences: readonly string[];

  constructor(sentences: readonly string[]) {
    super("the issuer file has faults");
    this.sentences = sentences;
  }
}

type Complain = (line: number, column: string | undefined, words: string) => void;
type Header = readonly string[];

export async function* readIssuerFile(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly IssuerRange[]> {
  const sentences: string[] = [];
  const readRow = makeReadRow(complain);
  let header: Header | undefined;
  let portion: IssuerRange[] = [];

  for await (const records of readCsv(chunks)) {
    for (const record of records) {
      if (header === undefined) {
        header = readHeader(record, complain);
        // Without its header every row would be wrong, and none of that be news.
        if (sentences.length > 0) throw new IssuerFileFaults(sentences);
      } else {
        const range = readRow(record, header);
        if (range !== undefined) portion.push(range);
      }
    }
    if (portion.length < portionRows || sentences.length > 0) continue;
    yield portion;
    portion = [];
  }
  if (header === undefined) complain(1, undefined, "no header row; the file is empty");
  if (sentences.length > 0) throw new IssuerFileFaults(sentences);
  yield portion;

  function complain(line: number, column: string | undefined, words: string): void {
    const place = column === undefined ? `Line ${line}` : `Line ${line}, column ${column}`;
    sentences.push(`${place}: ${words}.`);
    if (sentences.length < faultsMax) return;
    throw new IssuerFileFaults([...sentences, `Stopped reading after ${faultsMax} faults.`]);
  }
}

function readHeader({ line, cells = [] }: CsvRecord, complain: Complain): Header {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const known = [...prefixColumns, ...issuerColumns.map(([column]) => column)];
  for (const [index, name] of names.entries()) {
    // An unknown name is not repeated: without a header this is a row, with whatever stands there.
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
  return (record: CsvRecord, header: Header): IssuerRange | undefined => {
    const { line, cells } = record;
    if (cells === undefined) return refuse(line, undefined, "the quotes do not match");
    if (cells.length !== header.length) {
      const counts = `${cells.length} cells instead of ${header.length}`;
      return refuse(line, undefined, counts);
    }
    const row = new Map(header.map((column, index) => [column, cells[index] ?? ""]));
    const ends = readEnds(row, line);
    const issuer = readIssuer(row, line);
    if (ends === undefined || issuer === undefined) return undefined;

    const range = makeRange(...ends, issuer);
    if (range.first > range.last) return refuse(line, "last", "lower than first");
    const key = `${range.first}-${range.last}`;
    const earlier = lines.get(key);
    if (earlier !== undefined) return refuse(line, undefined, `the same range as line ${earlier}`);
    lines.set(key, line);
    return range;
  };

  /** Both ends are read before either is refused, so that a row's faults are told together. */
  function readEnds(row: ReadonlyMap<string, string>, line: number) {
    const columns = row.has("bin") ? ["bin"] : ["first", "last"];
    const prefixes = columns.flatMap((column) => {
      const prefix = readPrefix(row.get(column) ?? "");
      if (typeof prefix === "string") return [prefix];
      complain(line, column, prefix.words);
      return [];
    });
    const [first, last] = [prefixes[0], prefixes.at(-1)];
    if (prefixes.length < columns.length || first === undefined || last === undefined) return;
    return [first, last] as const;
  }

  function readIssuer(row: ReadonlyMap<string, string>, line: number): Issuer | undefined {
    const facts: { -readonly [Fact in keyof Issuer]: string } = {};
    let faulty = false;
    for (const [column, fact, read] of issuerColumns) {
      const value = read(row.get(column) ?? "");
      if (value instanceof CellFault) {
        complain(line, column, value.words);
        faulty = true;
      } else if (value !== "") facts[fact] = value;
    }
    return faulty ? undefined : facts;
  }

  function refuse(line: number, column: string | undefined, words: string): undefined {
    complain(line, column, words);
    return undefined;
  }
}
