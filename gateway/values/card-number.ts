/**
 * A card number, which prints as a mask, with its BIN, last four digits, network and expiry. The
 * networks are a table of prefix ranges, of which the longest matching prefix decides.
 */
import { Secret } from "./secret.ts";
import { calendar, hours, type Instant, later } from "./time.ts";

/** The longest prefix in BIN tables. */
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

  /** Only for the BIN table, and never stored: with the last four digits, it is almost whole. */
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

export type Card = {
  readonly number: CardNumber;
  /** Month and year have two digits each, as acquirers want them. */
  readonly expiryYear: string;
  readonly expiryMonth: string;
};

export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Reads `12/31`, `12 / 2031`, `1231` and `2031-12`. The payment page runs this in browsers too. */
export function splitExpiry(text: string): readonly [month: string, year: string] | undefined {
  const [, first = "", second = ""] =
    /^\D*(\d{1,2}|20\d\d)\D+(\d{1,2}|20\d\d)\D*$/.exec(text) ??
    /^\D*(\d\d)(\d\d|20\d\d)\D*$/.exec(text) ??
    [];
  const [month, year] = first.length === 4 ? [second, first] : [first, second];
  return month.length <= 2 && year.length >= 2 ? [month.padStart(2, "0"), year] : undefined;
}

const ranges = [
  ["4", "4", "VISA"],
  ["51", "55", "MASTERCARD"],
  ["2221", "2720", "MASTERCARD"],
  ["34", "34", "AMEX"],
  ["37", "37", "AMEX"],
  ["6011", "6011", "DISCOVER"],
  ["644", "649", "DISCOVER"],
  ["65", "65", "DISCOVER"],
  ["3528", "3589", "JCB"],
  ["62", "62", "UNIONPAY"],
  ["81", "81", "UNIONPAY"],
  ["300", "305", "DINERS"],
  ["3095", "3095", "DINERS"],
  ["36", "36", "DINERS"],
  ["38", "39", "DINERS"],
  ["50", "50", "MAESTRO"],
  ["56", "58", "MAESTRO"],
  ["6304", "6304", "MAESTRO"],
  ["6390", "6390", "MAESTRO"],
  ["67", "67", "MAESTRO"],
  ["2200", "2204", "MIR"],
] as const;

export type Network = (typeof ranges)[number][2];
export const networks: readonly Network[] = [...new Set(ranges.map(([, , network]) => network))];

/** `networkOf` uses this number and the table below. The payment page runs them in browsers. */
export const prefixDigits = 4;

// The network comes first, so that these objects have a shape of their own. Other objects begin
// with `first` and `last`, and their numbers are so large that V8 gives up the shape that they
// would share: it would compile this loop and its callers again every fifty sales.
export const longestFirst = ranges
  .toSorted((left, right) => right[0].length - left[0].length)
  .map(([first, last, network]) => ({
    network,
    first: Number(first.padEnd(prefixDigits, "0")),
    last: Number(last.padEnd(prefixDigits, "9")),
  }));

export function networkOf(digits: string): Network | undefined {
  const prefix = Number(digits.slice(0, prefixDigits).padEnd(prefixDigits, "0"));
  return longestFirst.find(({ first, last }) => prefix >= first && prefix <= last)?.network;
}

/** The time zone in which a month ends last is twelve hours behind UTC. */
const lastZoneMs = hours(12);

/**
 * A card is valid until its month has ended everywhere, and for `graceMs` longer. Month and year
 * are as merchants write them, with one or two digits, or two or four.
 */
export function isExpired(month: string, year: string, now: Instant, graceMs = 0): boolean {
  const today = calendar(later(now, -lastZoneMs - graceMs));
  return `20${year.slice(-2)}${month.padStart(2, "0")}` < `${today.year}${today.month}`;
}
