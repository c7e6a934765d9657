/**
 * A card number that can tell its BIN, its last four digits and its network, and prints as a mask.
 * The networks are a table of prefix ranges; the longest prefix that holds the number decides.
 */
import { Secret } from "./secret.ts";

export type Network =
  | "VISA"
  | "MASTERCARD"
  | "AMEX"
  | "DISCOVER"
  | "JCB"
  | "UNIONPAY"
  | "DINERS"
  | "MAESTRO"
  | "MIR";

/** No BIN table tells issuers apart by more digits than these. */
const issuerDigitsMax = 11;

export class CardNumber extends Secret<string> {
  readonly bin: string;
  readonly lastFour: string;
  readonly network: Network | undefined;
  readonly #prefix: string;

  constructor(digits: string) {
    super(digits);
    this.bin = digits.slice(0, 6);
    this.lastFour = digits.slice(-4);
    this.network = networkOf(digits);
    this.#prefix = digits.slice(0, issuerDigitsMax);
  }

  /** For the BIN table only, never to be kept: with the last four it is almost the whole number. */
  get issuerPrefix(): string {
    return this.#prefix;
  }

  get mask(): string {
    return `${this.bin}****${this.lastFour}`;
  }

  override toString(): string {
    return this.mask;
  }

  override toJSON(): string {
    return this.mask;
  }
}

export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

type Range = readonly [first: string, last: string, network: Network];

// biome-ignore format: a table
const ranges: readonly Range[] = [
  ["4",    "4",    "VISA"],
  ["51",   "55",   "MASTERCARD"],
  ["2221", "2720", "MASTERCARD"],
  ["34",   "34",   "AMEX"],
  ["37",   "37",   "AMEX"],
  ["6011", "6011", "DISCOVER"],
  ["644",  "649",  "DISCOVER"],
  ["65",   "65",   "DISCOVER"],
  ["3528", "3589", "JCB"],
  ["62",   "62",   "UNIONPAY"],
  ["81",   "81",   "UNIONPAY"],
  ["300",  "305",  "DINERS"],
  ["3095", "3095", "DINERS"],
  ["36",   "36",   "DINERS"],
  ["38",   "39",   "DINERS"],
  ["50",   "50",   "MAESTRO"],
  ["56",   "58",   "MAESTRO"],
  ["6304", "6304", "MAESTRO"],
  ["6390", "6390", "MAESTRO"],
  ["67",   "67",   "MAESTRO"],
  ["2200", "2204", "MIR"],
];

const longestFirst = ranges.toSorted((left, right) => right[0].length - left[0].length);

function networkOf(digits: string): Network | undefined {
  const found = longestFirst.find(([first, last]) => {
    const prefix = digits.slice(0, first.length);
    return prefix >= first && prefix <= last;
  });
  return found?.[2];
}
