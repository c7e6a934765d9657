/**
 * A message for logs. Every field is masked unless it is on the list of those known to be harmless,
 * and there is no option to show more.
 */
import { maskCardNumber, masked } from "../shared/masked.ts";
import { readComposite } from "./decode.ts";
import { DecodeFault, type IsoMessage } from "./message.ts";
import type { Composite, Specification } from "./specification.ts";
import { readSubelements } from "./subfields.ts";

type Structure = Partial<Pick<Specification, "composites" | "shown">>;

/** With the specification, composite fields are split and their sub-fields masked one by one. */
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

/** Words of a host may quote a card number. */
function showText(value: string): string {
  return hasCardNumber.test(value) || !isPrintable.test(value) ? masked : value;
}

const isPrintable = /^[ -~]*$/;
/**
 * The digits of a card, however grouped: 16 or more; 15 that begin like those of American Express,
 * as other fifteen are a network's transaction id; 13 or 14.
 */
const hasCardNumber =
  /(?:\d[ .-]?){16}|(?<!\d)(?:3[ .-]?[47][ .-]?(?:\d[ .-]?){13}|(?:\d[ .-]?){13,14})(?!\d)/;
const freeText: ReadonlySet<string> = new Set(["43", "44", "54"]);

/**
 * Amounts, dates, counts, codes and ids of institutions. 48.22 initiator, 48.32 assigned id, 48.42
 * e-commerce indicators, 48.63 trace id, 48.84 merchant advice, 62.2 network transaction id, 62.1
 * and 62.23 what kind of approval and card, 126.13 point of service environment, 126.15 UCAF
 * collection indicator.
 */
const harmless: ReadonlySet<string> = new Set(
  `3 4 5 6 7 8 9 10 11 12 13 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 37 38 39 40
  41 42 49 50 51 64 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91
  92 93 94 95 97 99 100 128 48.22 48.32 48.42 48.63 48.84 62.1 62.2 62.23 126.13 126.15`.split(
    /\s+/,
  ),
);
