/**
 * Describes a message for people, in logs and as bytes. Every field is masked unless it is on the
 * list of harmless ones, and there is no option to show more.
 */
import { maskCardNumber, masked } from "../shared/masked.ts";
import { encode, readComposite } from "./codec.ts";
import {
  type Composite,
  DecodeFault,
  encodings,
  type FieldRow,
  type IsoFields,
  type IsoMessage,
  type Specification,
} from "./specification.ts";
import { readSubelements } from "./subfields.ts";

type Structure = Partial<Pick<Specification, "composites" | "shown">>;

/**
 * Describes a message. With the specification, composite fields are split and their sub-fields
 * masked one by one.
 */
export function describe(
  message: IsoMessage,
  { composites = [], shown = [] }: Structure = {},
): Record<string, string> {
  const description: Record<string, string> = { mti: message.mti };
  for (const [field, value] of Object.entries(message.fields)) {
    const composite = composites.find((candidate) => String(candidate.field) === field);
    if (field === "2") description[field] = maskCardNumber(value);
    else if (field === "48") description[field] = describeSubelements(value);
    else if (composite !== undefined) description[field] = describeComposite(composite, value);
    else if (shown.includes(Number(field))) description[field] = showText(value);
    else description[field] = show(field, value);
  }
  return description;
}

function describeSubelements(text: string): string {
  const read = readSubelements(text);
  if (read instanceof DecodeFault) return masked;
  const parts = [...read.elements].map(([tag, value]) => `${tag}=${show(`48.${tag}`, value)}`);
  return [read.category, ...parts].join(" ");
}

function describeComposite(composite: Composite, hex: string): string {
  const subfields = readComposite(composite, hex);
  if (subfields instanceof DecodeFault) return masked;
  return Object.entries(subfields)
    .map(([subfield, value]) => `${subfield}=${show(`${composite.field}.${subfield}`, value)}`)
    .join(" ");
}

function show(field: string, value: string): string {
  if (freeText.has(field)) return showText(value);
  if (!harmless.has(field)) return masked;
  // Another host may use the number of a sub-field for something else.
  if (field.includes(".")) return showText(value);
  return isPrintable.test(value) ? value : masked;
}

/** Masks a text of the host that may quote a card number. */
function showText(value: string): string {
  return hasCardNumber.test(value) || !isPrintable.test(value) ? masked : value;
}

const isPrintable = /^[ -~]*$/;
/**
 * Matches the digits of a card in any grouping: 16 or more; 15 that begin like those of American
 * Express, because other fifteen are a network's transaction id; 13 or 14.
 */
const hasCardNumber =
  /(?:\d[ .-]?){16}|(?<!\d)(?:3[ .-]?[47][ .-]?(?:\d[ .-]?){13}|(?:\d[ .-]?){13,14})(?!\d)/;
const freeText: ReadonlySet<string> = new Set(["43", "44", "54"]);

/**
 * The harmless fields: amounts, dates, counts, codes and ids of institutions. 48.22 is the
 * initiator, 48.32 the assigned id, 48.42 the e-commerce indicators, 48.63 the trace id, 48.82
 * the request to verify an address, 48.83 and 48.87 the results for address and CVV, 48.84 the
 * merchant advice, 62.2 the network transaction id, 62.1 and 62.23 the kinds of approval and card,
 * 126.13 the point of service environment, and 126.15 the UCAF collection indicator.
 */
const harmless: ReadonlySet<string> = new Set(
  `3 4 5 6 7 8 9 10 11 12 13 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 37 38 39 40
  41 42 49 50 51 64 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91
  92 93 94 95 97 99 100 128 48.22 48.32 48.42 48.63 48.82 48.83 48.84 48.87 62.1 62.2 62.23 126.13
  126.15`.split(/\s+/),
);

type Described = { readonly mti: string; readonly fields: Readonly<Record<string, string>> };

/**
 * Returns the bytes of a message that is only known in the masked form of `describe`: it is encoded
 * again, with stars for the bytes that are hidden. A hidden value has the length of its field, or
 * that of the stars if the field has no fixed length. A line has sixteen bytes: the offset, the
 * bytes in hexadecimal, and as text.
 */
export function dumpMasked(
  specification: Specification,
  { mti, fields }: Described,
): string | undefined {
  const encodeWith = (filler: string) =>
    encode(specification, { mti, fields: fill(specification, fields, filler) });
  try {
    const [zeros, ones] = [encodeWith("0"), encodeWith("1")];
    // A byte that depends on the fill characters belongs to a hidden value.
    const bytes = [...zeros].map((byte, at) => (byte === ones[at] ? byte : undefined));
    return dump(bytes);
  } catch {
    // The value was shortened, or the gate does not use its layout any more.
    return undefined;
  }
}

function fill(
  { rows, composites = [] }: Specification,
  fields: Described["fields"],
  filler: string,
): IsoFields {
  const filled = Object.entries(fields).map(([name, value]) => {
    const field = Number(name);
    const row = rows.find(([number]) => number === field);
    const isSplit = field === 48 || composites.some((composite) => composite.field === field);
    if (row === undefined || (!value.includes(masked) && !isSplit)) return [field, value];
    if (field === 2 && value !== masked) return [field, value.replace(masked, filler.repeat(6))];
    return [field, filler.repeat(lengthOf(row))];
  });
  return Object.fromEntries(filled);
}

function lengthOf([, , , prefix, lengthMax, encoding]: FieldRow): number {
  const { perUnit } = encodings[encoding];
  return perUnit * (prefix === "fixed" ? lengthMax : Math.min(masked.length, lengthMax));
}

const perLine = 16;

function dump(bytes: readonly (number | undefined)[]): string {
  const lines = Array.from({ length: Math.ceil(bytes.length / perLine) }, (_, line) => {
    const part = bytes.slice(line * perLine, (line + 1) * perLine);
    const hex = part.map((byte) => byte?.toString(16).padStart(2, "0") ?? "**").join(" ");
    const text = part.map((byte) => (byte === undefined ? "*" : printable(byte))).join("");
    const at = (line * perLine).toString(16).padStart(4, "0");
    return `${at}  ${hex.padEnd(perLine * 3 - 1)}  ${text}`;
  });
  return lines.join("\n");
}

function printable(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
}
