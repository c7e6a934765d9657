/**
 * A message for logs. Every field is masked unless it is on the list of those known to be harmless,
 * and there is no option to show more.
 */
import { DecodeFault, type IsoMessage, readComposite } from "./codec.ts";
import type { Composite, Specification } from "./specification.ts";
import { readSubelements } from "./subfields.ts";

/** With the specification, composite fields are split and their sub-fields masked one by one. */
export function describe(
  message: IsoMessage,
  { composites = [] }: Pick<Specification, "composites"> = {},
): Record<string, string> {
  const description: Record<string, string> = { mti: message.mti };
  for (const [field, value] of Object.entries(message.fields)) {
    const composite = composites.find((candidate) => String(candidate.field) === field);
    if (field === "2") description[field] = describeCardNumber(value);
    else if (field === "48") description[field] = describeSubelements(value);
    else if (composite !== undefined) description[field] = describeComposite(composite, value);
    else description[field] = show(field, value);
  }
  return description;
}

function describeCardNumber(pan: string): string {
  return pan.length < 13 ? masked : pan.slice(0, 6) + masked + pan.slice(-4);
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
  return harmless.has(field) ? value : masked;
}

const masked = "****";

/**
 * 48.22 initiator, 48.32 assigned id, 48.42 e-commerce indicators, 48.63 trace id, 48.84 merchant
 * advice, 62.2 network transaction id, 126.13 point of service environment.
 */
const harmless: ReadonlySet<string> = new Set(
  `3 4 7 11 12 13 15 17 18 19 22 23 25 32 33 37 38 39 41 42 43 44 49 54 60 61 62 63 64 70 90
  95 128 48.22 48.32 48.42 48.63 48.84 62.2 126.13`.split(/\s+/),
);
