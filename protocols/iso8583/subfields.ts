/**
 * Fields of ISO 8583:1987 whose text has a structure of its own: sub-fields by position (60, 63),
 * tagged sub-elements (48), and the original data elements (90).
 */
import assert from "node:assert/strict";
import {
  alphabets,
  type Content,
  DecodeFault,
  type IsoFields,
  isWrittenIn,
} from "./specification.ts";

/**
 * A field of sub-fields by position. It may end after any sub-field, and an absent one before the
 * end is filled.
 */
export type Positions = {
  readonly field: number;
  readonly content: Content;
  readonly fill: "0" | " ";
  /** The sub-fields in order, numbered from 1 without a gap. */
  readonly rows: readonly (readonly [subfield: number, name: string, width: number])[];
};

/** Writes every sub-field up to the last one given. Each value must have the width of its row. */
export function writePositions(layout: Positions, subfields: IsoFields): string {
  const { field, fill, rows } = layout;
  const numbers = Object.keys(subfields).map(Number);
  const last = numbers.at(-1) ?? 0;
  if (numbers[0] === 0 || last > rows.length) assert.fail(`field ${field} has no such position`);
  let text = "";
  for (const [subfield, , width] of rows.slice(0, last)) {
    const value = subfields[subfield] ?? fill.repeat(width);
    if (value.length !== width) assert.fail(`field ${field}.${subfield} has the wrong width`);
    if (!isWrittenIn(alphabets[layout.content], value)) {
      assert.fail(`field ${field}.${subfield} has a character outside its content`);
    }
    text += value;
  }
  return text;
}

/** Reads every sub-field that the text reaches, including filled ones. */
export function readPositions(layout: Positions, text: string): IsoFields | DecodeFault {
  const { field, content, rows } = layout;
  if (!isWrittenIn(alphabets[content], text)) return new DecodeFault(field, "invalid_content");
  const subfields: { [subfield: number]: string } = {};
  let at = 0;
  for (const [subfield, , width] of rows) {
    if (at === text.length) return subfields;
    if (at + width > text.length) return new DecodeFault(`${field}.${subfield}`, "truncated");
    subfields[subfield] = text.slice(at, at + width);
    at += width;
  }
  return at === text.length ? subfields : new DecodeFault(field, "trailing_bytes");
}

/**
 * Field 48 as card networks use it: one letter for the category, then any number of elements, each
 * with a tag of two digits, a length of two digits and a value.
 */
type Subelements = {
  readonly category: string;
  readonly elements: ReadonlyMap<string, string>;
};

export function readSubelements(text: string): Subelements | DecodeFault {
  const category = text.slice(0, 1);
  if (category === "") return new DecodeFault(48, "truncated");
  if (!isCategory.test(category)) return new DecodeFault(48, "invalid_content");
  const elements = new Map<string, string>();
  for (let at = 1; at < text.length; ) {
    const tag = text.slice(at, at + 2);
    const length = text.slice(at + 2, at + 4);
    if (length.length < 2) return new DecodeFault(48, "truncated");
    if (!isTwoDigits.test(tag)) return new DecodeFault(48, "invalid_content");
    if (!isTwoDigits.test(length)) return new DecodeFault(48, "malformed_length");
    const end = at + 4 + Number(length);
    if (end > text.length) return new DecodeFault(48, "truncated");
    if (elements.has(tag)) return new DecodeFault(48, "duplicate");
    elements.set(tag, text.slice(at + 4, end));
    at = end;
  }
  return { category, elements };
}

export function writeSubelements(
  category: string,
  elements: Iterable<readonly [tag: string, value: string]>,
): string {
  if (!isCategory.test(category)) assert.fail("the category is not one capital letter");
  let text = category;
  const written = new Set<string>();
  for (const [tag, value] of elements) {
    if (!isTwoDigits.test(tag)) assert.fail("a tag is not two digits");
    if (written.has(tag)) assert.fail(`sub-element ${tag} is given twice`);
    if (value.length > 99) assert.fail(`sub-element ${tag} is too long`);
    written.add(tag);
    text += `${tag}${String(value.length).padStart(2, "0")}${value}`;
  }
  return text;
}

const isCategory = /^[A-Z]$/;
const isTwoDigits = /^[0-9]{2}$/;

/**
 * Field 90, which names the message that is reversed by fields 7, 11, 32 and 33 of the original
 * request, never of its answer. Zeros pad the ids on the left, and an id may itself start with a
 * zero, so a host that searches for the original compares whole fields.
 */
type OriginalData = {
  readonly mti: string;
  readonly stan: string;
  /** The time as MMDDhhmmss in GMT. */
  readonly transmittedAt: string;
  readonly acquirerId: string;
  readonly forwarderId?: string;
};

export function writeOriginalData(original: OriginalData): string {
  const { mti, stan, transmittedAt, acquirerId, forwarderId = "" } = original;
  const text =
    mti + stan + transmittedAt + acquirerId.padStart(11, "0") + forwarderId.padStart(11, "0");
  const widths = [mti.length, stan.length, transmittedAt.length];
  assert.deepEqual(widths, [4, 6, 10], "a part of the original data has the wrong width");
  assert.match(text, /^[0-9]{42}$/, "the original data are not 42 digits");
  return text;
}
