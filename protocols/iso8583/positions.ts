/**
 * Private fields of ISO 8583:1987 whose sub-fields are known by their place, as card networks fill
 * 60. Such a field may end after any of them; one before the end that has nothing to say is filled.
 */
import assert from "node:assert/strict";
import { DecodeFault } from "./decode-fault.ts";
import type { Fields } from "./message.ts";
import { alphabets, type Content, isWrittenIn } from "./parts/content.ts";

export type Positions = {
  readonly field: number;
  readonly content: Content;
  readonly fill: "0" | " ";
  /** In their order, numbered from 1 without a gap. */
  readonly rows: readonly PositionRow[];
};

export type PositionRow = readonly [subfield: number, name: string, width: number];

/** Every sub-field up to the last one given; each value must be as wide as its place. */
export function writePositions(layout: Positions, subfields: Fields): string {
  const { field, fill, rows } = layout;
  const numbers = Object.keys(subfields).map(Number);
  const last = numbers.at(-1) ?? 0;
  if (numbers[0] === 0 || last > rows.length) assert.fail(`field ${field} has no such place`);
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

/** Every sub-field that the text reaches, those that are only filled too. */
export function readPositions(layout: Positions, text: string): Fields | DecodeFault {
  const { field, content, rows } = layout;
  if (!isWrittenIn(alphabets[content], text)) return new DecodeFault(field, "wrong_content");
  const subfields: { [subfield: number]: string } = {};
  let at = 0;
  for (const [subfield, , width] of rows) {
    if (at === text.length) return subfields;
    if (at + width > text.length) return new DecodeFault(`${field}.${subfield}`, "cut_short");
    subfields[subfield] = text.slice(at, at + width);
    at += width;
  }
  return at === text.length ? subfields : new DecodeFault(field, "left_over");
}
