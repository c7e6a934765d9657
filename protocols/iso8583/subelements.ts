/**
 * Sub-elements of field 48, private in ISO 8583:1987, in the shape card networks gave them: one
 * letter for the category, then tag of two digits, length of two digits, value, as often as needed.
 */
import assert from "node:assert/strict";
import { DecodeFault } from "./decode-fault.ts";

export type Subelements = {
  readonly category: string;
  readonly elements: ReadonlyMap<string, string>;
};

export function readSubelements(text: string): Subelements | DecodeFault {
  const category = text.slice(0, 1);
  if (category === "") return new DecodeFault(48, "cut_short");
  if (!isCategory.test(category)) return new DecodeFault(48, "wrong_content");
  const elements = new Map<string, string>();
  for (let at = 1; at < text.length; ) {
    const tag = text.slice(at, at + 2);
    const length = text.slice(at + 2, at + 4);
    if (length.length < 2) return new DecodeFault(48, "cut_short");
    if (!areTwoDigits.test(tag)) return new DecodeFault(48, "wrong_content");
    if (!areTwoDigits.test(length)) return new DecodeFault(48, "malformed_length");
    const end = at + 4 + Number(length);
    if (end > text.length) return new DecodeFault(48, "cut_short");
    if (elements.has(tag)) return new DecodeFault(48, "repeated");
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
    if (!areTwoDigits.test(tag)) assert.fail("a tag is not two digits");
    if (written.has(tag)) assert.fail(`sub-element ${tag} is given twice`);
    if (value.length > 99) assert.fail(`sub-element ${tag} is too long`);
    written.add(tag);
    text += `${tag}${String(value.length).padStart(2, "0")}${value}`;
  }
  return text;
}

const isCategory = /^[A-Z]$/;
const areTwoDigits = /^[0-9]{2}$/;
