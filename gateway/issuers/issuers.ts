/**
 * The issuer of a card, found by the card's first digits in the operator's BIN table, which is read
 * as a whole at the start and after each replacement. In staging, the sandbox's ranges fill its
 * gaps.
 */
import countries from "i18n-iso-countries/codes.json" with { type: "json" };
import type { Issuer } from "../orders/order.ts";
import { type Complain, CsvFaults, makeFaults, readRecords } from "../values/csv-records.ts";
import { Problem } from "../values/problem.ts";
import { makeRangeTable, type RangeTable, startRangeTable } from "../values/range-table.ts";
import { openReloadable } from "../values/reloadable.ts";

/** The ends of a range have eleven digits. A shorter prefix is padded with zeros or nines. */
export type IssuerRange = {
  readonly first: number;
  readonly last: number;
  readonly issuer: Issuer;
};

/** Networks distinguish issuers by no more digits, and a longer text may be a card number. */
const prefixDigitsMax = 11;

export function isPrefix(text: string): boolean {
  return /^\d{6,11}$/.test(text);
}

export function makeRange(first: string, last: string, issuer: Issuer): IssuerRange {
  return { first: firstOf(first), last: lastOf(last), issuer };
}

export function firstOf(prefix: string): number {
  return Number(prefix.slice(0, prefixDigitsMax).padEnd(prefixDigitsMax, "0"));
}

export function lastOf(prefix: string): number {
  return Number(prefix.slice(0, prefixDigitsMax).padEnd(prefixDigitsMax, "9"));
}

export function formatPrefix(end: number): string {
  return String(end).padStart(prefixDigitsMax, "0");
}

export type IssuerStore = {
  findVersion(): Promise<string>;
  /** Calls `take` with all ranges, sorted by their first cards. Returns the version. */
  readRanges(take: (ranges: readonly IssuerRange[]) => void): Promise<string>;
};

type Dependencies = {
  readonly store: IssuerStore;
  /** Known without a BIN table: the sandbox's cards in staging, and none in production. */
  readonly builtIn: readonly IssuerRange[];
  readonly onError: (error: unknown) => void;
};

type LoadedTable = { readonly version: string; readonly table: RangeTable<Issuer> };

export async function openIssuers({ store, builtIn, onError }: Dependencies) {
  const sandbox = makeIssuerTable(builtIn);
  const loaded = await openReloadable<LoadedTable>({
    read: async (present) =>
      present !== undefined && (await store.findVersion()) === present.version ? present : load(),
    onError,
  });
  return {
    find: (prefix: string) => loaded.current().table.find(prefix) ?? sandbox.find(prefix),
    /** Reads the table again if it was replaced; one small query finds out. Never rejects. */
    reload: loaded.reload,
  };

  async function load(): Promise<LoadedTable> {
    const builder = startRangeTable<Issuer>(prefixDigitsMax);
    const version = await store.readRanges((ranges) => {
      for (const range of ranges) builder.add(numbersOf(range));
    });
    return { version, table: builder.finish() };
  }
}

export function makeIssuerTable(ranges: readonly IssuerRange[]): RangeTable<Issuer> {
  return makeRangeTable(prefixDigitsMax, ranges.map(numbersOf));
}

function numbersOf({ first, last, issuer }: IssuerRange) {
  return { first: BigInt(first), last: BigInt(last), value: issuer };
}

const portionRows = 5000;
const textCharactersMax = 128;

/**
 * Reads an operator's CSV file of issuers in portions. Faults are thrown together at the end, so
 * the consumer must be able to undo earlier portions. No fault quotes a cell, which may be a card
 * number by mistake.
 */
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
      // With a wrong header every row would be wrong too, so reading ends here.
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

/** The columns and how they are read. A problem completes a sentence that names line and column. */
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
    // An unknown name is not quoted, because without a header row it is a cell of the first row.
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
    // All cells are read before any is judged, so that a row's faults are reported together.
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

// The columns of the package: alpha-2, alpha-3, numeric, and the name of a further standard.
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
