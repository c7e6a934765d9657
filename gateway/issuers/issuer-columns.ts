/**
 * The columns of an issuer file and what may stand in their cells. No complaint repeats a cell: it
 * may be a card number that has strayed into the file.
 */
import countries from "i18n-iso-countries/codes.json" with { type: "json" };
import type { Issuer } from "../orders/order.ts";
import { isPrefix } from "./issuer-range.ts";

/** What is wrong with a cell, as the end of a sentence. */
export class CellFault {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

type Read = (cell: string) => string | CellFault;

const textCharactersMax = 128;

export const prefixColumns = ["bin", "first", "last"] as const;

// biome-ignore format: a table
export const issuerColumns: readonly (readonly [column: string, fact: keyof Issuer, read: Read])[] = [
  ["bank",         "bankName",    readText],
  ["country",      "country",     readCountry],
  ["product_code", "productCode", readText],
  ["product_name", "productName", readText],
  ["type_code",    "typeCode",    readText],
  ["type_name",    "typeName",    readText],
];

export function readPrefix(cell: string): string | CellFault {
  const text = cell.trim();
  if (isPrefix(text)) return text;
  if (/^\d{12,}$/.test(text)) {
    return new CellFault("more than 11 digits; card numbers have no place here");
  }
  return new CellFault("not a prefix of 6 to 11 digits");
}

function readText(cell: string): string | CellFault {
  const text = cell.replace(/\s+/g, " ").trim();
  if (text.includes("\ufffd")) return new CellFault("not UTF-8");
  if (/\p{Cc}/u.test(text)) return new CellFault("control characters");
  if (/\d(?:[ -]?\d){11}/.test(text)) {
    return new CellFault("more than 11 digits in a row; card numbers have no place here");
  }
  if (text.length > textCharactersMax) {
    return new CellFault(`longer than ${textCharactersMax} characters`);
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

function readCountry(cell: string): string | CellFault {
  const code = cell.trim().toUpperCase();
  if (code === "") return "";
  return alpha3ByCode.get(code) ?? new CellFault("not a country code of ISO 3166-1");
}
