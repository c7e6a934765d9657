/**
 * Private fields of ISO 8583:1987 that hold sub-fields behind a bitmap of 8 bytes, as card networks
 * fill 62 and 126. A message carries such a field as upper-case hex, like all bytes.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { compileComposite } from "./compile.ts";
import { Cursor } from "./cursor.ts";
import { DecodeFault } from "./decode-fault.ts";
import { type Entry, writeEntries } from "./encode.ts";
import type { Fields } from "./message.ts";
import { listFields, writeBitmaps } from "./parts/bitmap.ts";
import type { Composite } from "./specification.ts";

/** A value that breaks the table is a programming error, which never names the value. */
export function writeComposite(composite: Composite, subfields: Fields): string {
  const { bitmap, fields: codecs } = compileComposite(composite);
  const numbers = Object.keys(subfields).map(Number);
  const entries: Entry[] = numbers.map((number) => {
    const codec = codecs[number];
    const value = subfields[number];
    if (codec === undefined) assert.fail(`field ${composite.field}.${number} has no row`);
    if (value === undefined) assert.fail(`field ${composite.field}.${number} has no value`);
    return { codec, value };
  });
  const [bits] = writeBitmaps(numbers);
  const bytes = writeEntries([{ codec: bitmap, value: bits }, ...entries]);
  return bytes.toString("hex").toUpperCase();
}

export function readComposite(composite: Composite, hex: string): Fields | DecodeFault {
  const { field } = composite;
  if (!areBytes.test(hex)) return new DecodeFault(field, "wrong_content");
  const { bitmap, fields: codecs } = compileComposite(composite);
  const cursor = new Cursor(Buffer.from(hex, "hex"), { isPacked: true });
  const bits = cursor.read(bitmap);
  if (bits instanceof DecodeFault) return bits;

  const subfields: { [subfield: number]: string } = {};
  for (const number of listFields(bits, 1)) {
    const codec = codecs[number];
    if (codec === undefined) return new DecodeFault(`${field}.${number}`, "unknown_field");
    const value = cursor.read(codec);
    if (value instanceof DecodeFault) return value;
    subfields[number] = value;
  }
  return cursor.isAtEnd() ? subfields : new DecodeFault(field, "left_over");
}

const areBytes = /^(?:[0-9A-F]{2})*$/;
