/**
 * A message for logs and for people. A field of ISO 8583:1987 is hidden unless it stands on the
 * list of those known to be harmless, and there is no way to ask for more.
 */
import { readComposite } from "./composite.ts";
import { DecodeFault, type Subfield } from "./decode-fault.ts";
import type { Message } from "./message.ts";
import type { Composite, Specification } from "./specification.ts";
import { readSubelements } from "./subelements.ts";

/** With the specification, fields of sub-fields are told apart: those too only where harmless. */
export function describe(
  message: Message,
  { composites = [] }: Pick<Specification, "composites"> = {},
): Record<string, string> {
  const description: Record<string, string> = { mti: message.mti };
  for (const [name, value] of Object.entries(message.fields)) {
    const field = Number(name);
    const composite = composites.find((candidate) => candidate.field === field);
    description[name] =
      composite === undefined ? describeField(field, value) : describeComposite(composite, value);
  }
  return description;
}

function describeField(field: number, value: string): string {
  if (field === 2) return describeCardNumber(value);
  if (field === 48) return describeSubelements(value);
  return harmlessFields.has(field) ? value : hidden;
}

function describeCardNumber(pan: string): string {
  return pan.length < 13 ? hidden : pan.slice(0, 6) + hidden + pan.slice(-4);
}

function describeSubelements(text: string): string {
  const subelements = readSubelements(text);
  if (subelements instanceof DecodeFault) return hidden;
  const parts = [subelements.category];
  for (const [tag, value] of subelements.elements) {
    parts.push(`${tag}=${harmlessSubelements.has(tag) ? value : hidden}`);
  }
  return parts.join(" ");
}

function describeComposite(composite: Composite, hex: string): string {
  const subfields = readComposite(composite, hex);
  if (subfields instanceof DecodeFault) return hidden;
  const parts = Object.entries(subfields).map(([subfield, value]) => {
    const name: Subfield = `${composite.field}.${Number(subfield)}`;
    return `${subfield}=${harmlessSubfields.has(name) ? value : hidden}`;
  });
  return parts.join(" ");
}

const hidden = "****";

// biome-ignore format: a table
const harmlessFields: ReadonlySet<number> = new Set([
  3, 4, 7, 11, 12, 13, 15, 17, 18, 19, 22, 23, 25,
  32, 33, 37, 38, 39, 41, 42, 43, 44, 49, 54,
  60, 61, 62, 63, 64, 70, 90, 95, 128,
]);

/** 22 initiator, 32 assigned id, 42 e-commerce indicators, 63 trace id, 84 merchant advice. */
const harmlessSubelements: ReadonlySet<string> = new Set(["22", "32", "42", "63", "84"]);

/** 62.2 network transaction id, 126.13 point of service environment. */
const harmlessSubfields: ReadonlySet<Subfield> = new Set<Subfield>(["62.2", "126.13"]);
