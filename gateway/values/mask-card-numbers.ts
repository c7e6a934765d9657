/**
 * Masks card numbers in free text: runs of digits of any script that pass the Luhn check and could
 * belong to a network, even if they are split by a few characters or percent-encoded. All digits
 * but the last four become stars. The duration only grows with the length of the text.
 */
import { networkOf } from "./card-number.ts";

/** At least twelve digits, with at most four characters between two of them, none a letter. */
const digitRuns = /\p{Nd}(?:[^\p{L}\p{Nd}]{0,4}\p{Nd}){11,}/gu;

const [digitsMin, digitsMax] = [12, 19];
/** A number of this length is masked even if its network is unknown, unless it is split. */
const unknownMin = 15;

export const networkLengths: Readonly<Record<string, readonly number[]>> = {
  VISA: [13, 16, 18, 19],
  MASTERCARD: [16],
  AMEX: [15],
  DISCOVER: [16, 17, 18, 19],
  JCB: [16, 17, 18, 19],
  UNIONPAY: [16, 17, 18, 19],
  DINERS: [14, 15, 16, 17, 18, 19],
  MAESTRO: [12, 13, 14, 15, 16, 17, 18, 19],
  MIR: [16, 17, 18, 19],
};

export function maskCardNumbers(text: string): string {
  if (text.length < digitsMin) return text;
  const masked = text.replace(digitRuns, maskRun);
  return text.includes("%") ? maskEncoded(text, masked) : masked;
}

/** A character of UTF-8 in percent-encoding, encoded again (`%2534`) or not, or any other one. */
const encodedCharacters =
  /%(?:25)*(?:[0-7][\da-f]|[c-f][\da-f](?:%(?:25)*[89ab][\da-f]){1,3})|./gisu;

/** `plain` is masked without decoding, because `100%4111…` is not percent-encoding. */
function maskEncoded(text: string, plain: string): string {
  const parts = text.match(encodedCharacters) ?? [];
  const decoded = parts.map(decodePart);
  const masked = [...decoded.join("").replace(digitRuns, maskRun)];
  const characters = [...plain];
  let end = 0;
  const shown = parts.map((part, at) => {
    const start = end;
    end += isEncoded(part) ? part.length : 1;
    return masked[at] === decoded[at] ? characters.slice(start, end).join("") : "*";
  });
  return shown.join("");
}

/** A character has at most two units, so a longer part is percent-encoded. */
function isEncoded(part: string): boolean {
  return part.length > 2;
}

function decodePart(part: string): string {
  if (!isEncoded(part)) return part;
  try {
    return decodeURIComponent(part.replace(/%(?:25)+(?=[\da-f]{2})/gi, "%"));
  } catch {
    return "\ufffd";
  }
}

/**
 * Only numbers with a network's prefix and length count: one id or URL in ten would pass for a card
 * number of an unknown network by chance, and cannot be masked.
 */
export function hasCardNumber(text: string): boolean {
  if (text.length < digitsMin) return false;
  const decoded = text.includes("%") ? (text.match(encodedCharacters) ?? []).map(decodePart) : [];
  return [text, decoded.join("")].some((each) =>
    (each.match(digitRuns) ?? []).some((found) => {
      const { run } = readRun(found);
      return run.digits.some((_, start) => findCardEnd(run, start, "network") > 0);
    }),
  );
}

type Run = {
  readonly digits: readonly number[];
  /** The bounds of the digit's group, as indexes of `digits`. The end is excluded. */
  readonly groups: readonly { readonly start: number; readonly end: number }[];
  /** The sums before each digit, with every other digit doubled, for the Luhn check of any part. */
  readonly sums: readonly [evenDoubled: readonly number[], oddDoubled: readonly number[]];
};

function maskRun(found: string): string {
  const { characters, places, run } = readRun(found);
  let isMasked = false;
  // The end of the masked part, so that overlapping windows mask each digit once.
  let until = 0;
  for (let start = 0; start + digitsMin <= run.digits.length; start += 1) {
    const end = findCardEnd(run, start, "any");
    for (let at = Math.max(start, until); at < end - 4; at += 1) characters[places[at] ?? 0] = "*";
    isMasked ||= end > 0;
    until = Math.max(until, end - 4);
  }
  return isMasked ? characters.join("") : found;
}

/** Returns the end of the longest card number that begins at this digit; zero if there is none. */
function findCardEnd(run: Run, start: number, issuedBy: "network" | "any"): number {
  if (!isEdge(run, start, 0)) return 0;
  const group = run.groups[start] ?? noGroup;
  const known = lengthsByPrefix[prefixAt(run.digits, start)] ?? [];
  const mayBeUnknown =
    issuedBy === "any" && group.start === start && group.end - start <= digitsMax;
  for (
    let end = Math.min(start + digitsMax, run.digits.length);
    end >= start + digitsMin;
    end -= 1
  ) {
    const count = end - start;
    const isUnknown = mayBeUnknown && end === group.end && count >= unknownMin;
    const isCard = known.includes(count) || isUnknown;
    if (isCard && isEdge(run, end - 1, 1) && isLuhnPart(run, start, end)) return end;
  }
  return 0;
}

const noGroup = { start: 0, end: 0 };

/** A number begins and ends with a group, unless the group is too long to be one number. */
function isEdge({ groups }: Run, at: number, side: 0 | 1): boolean {
  const { start, end } = groups[at] ?? noGroup;
  return end - start > digitsMax || (side === 0 ? start === at : end === at + 1);
}

function isLuhnPart({ sums }: Run, start: number, end: number): boolean {
  // The last digit is not doubled, so those at the other parity are.
  const doubled = sums[end % 2 === 0 ? 0 : 1];
  return ((doubled[end] ?? 0) - (doubled[start] ?? 0)) % 10 === 0;
}

function readRun(found: string) {
  const characters = [...found];
  const places = characters.flatMap((each, at) => (isDigit(each) ? [at] : []));
  const digits = places.map((place) => digitOf(characters[place] ?? ""));
  const groups: (typeof noGroup)[] = [];
  let start = 0;
  for (let at = 1; at <= digits.length; at += 1) {
    if (at < digits.length && places[at] === (places[at - 1] ?? 0) + 1) continue;
    const group = { start, end: at };
    while (groups.length < at) groups.push(group);
    start = at;
  }
  const sums: [number[], number[]] = [[0], [0]];
  for (const [at, digit] of digits.entries()) {
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    sums[0].push((sums[0][at] ?? 0) + (at % 2 === 0 ? doubled : digit));
    sums[1].push((sums[1][at] ?? 0) + (at % 2 === 1 ? doubled : digit));
  }
  const run: Run = { digits, groups, sums };
  return { characters, places, run };
}

function prefixAt(digits: readonly number[], start: number): number {
  const at = (index: number) => digits[start + index] ?? 0;
  return at(0) * 1000 + at(1) * 100 + at(2) * 10 + at(3);
}

const lengthsByPrefix: readonly (readonly number[])[] = Array.from(
  { length: 10_000 },
  (_, prefix) => {
    return networkLengths[networkOf(String(prefix).padStart(4, "0")) ?? ""] ?? [];
  },
);

function isDigit(character: string): boolean {
  return character < "\u0080" ? character >= "0" && character <= "9" : anyDigit.test(character);
}

const anyDigit = /^\p{Nd}$/u;
const values = new Map<string, number>();

/** Each script has its ten digits in a row; some have several sets after one another. */
function digitOf(character: string): number {
  const known = values.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  let first = code;
  while (isDigit(String.fromCodePoint(first - 1))) first -= 1;
  values.set(character, (code - first) % 10);
  return (code - first) % 10;
}
