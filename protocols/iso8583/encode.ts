/**
 * ISO 8583 messages to bytes: message type, bitmaps, then the fields in ascending order. Errors
 * name the field and the rule, never the value, which may be a card number.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Form } from "./characters.ts";
import type { IsoFields, IsoMessage } from "./message.ts";
import {
  bytesOf,
  type Compiled,
  type Composite,
  compile,
  compileComposite,
  type FieldCodec,
  isWrittenIn,
  readHexDigit,
  type Specification,
} from "./specification.ts";

/** A value that breaks the table is a programming error and throws. */
export function encode(specification: Specification, message: IsoMessage): Buffer {
  const compiled = compile(specification);
  return write(addEntries([{ codec: compiled.mti, value: message.mti }], compiled, message.fields));
}

/** A private field of sub-fields behind a bitmap of 8 bytes, as card networks fill 62 and 126. */
export function writeComposite(composite: Composite, subfields: IsoFields): string {
  const bytes = write(addEntries([], compileComposite(composite), subfields));
  return bytes.toString("hex").toUpperCase();
}

type Entry = { readonly codec: FieldCodec; readonly value: string };

function addEntries(entries: Entry[], compiled: Compiled, fields: IsoFields): readonly Entry[] {
  // JavaScript lists whole-number keys in ascending order.
  const numbers = Object.keys(fields).map(Number);
  for (const value of writeBitmaps(numbers)) entries.push({ codec: compiled.bitmap, value });
  for (const number of numbers) {
    const codec = compiled.fields[number];
    const value = fields[number];
    if (codec === undefined) assert.fail(`field ${compiled.nameOf(number)} has no row`);
    if (value === undefined) assert.fail(`field ${compiled.nameOf(number)} has no value`);
    entries.push({ codec, value });
  }
  return entries;
}

function write(entries: readonly Entry[]): Buffer {
  let bytes = 0;
  for (const { codec, value } of entries) {
    const fault = findFault(codec, value);
    if (fault !== undefined) assert.fail(`field ${codec.field} ${fault}`);
    bytes += codec.prefix.bytes + bytesOf(codec, value.length);
  }
  const payload = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const { codec, value } of entries) at = writeField(codec, value, payload, at);
  if (at !== bytes) assert.fail("a value was measured and written differently");
  return payload;
}

function findFault(codec: FieldCodec, value: string): string | undefined {
  if (value.length > codec.charactersMax) return "is too long";
  if (codec.isFixed && value.length < codec.charactersMax) return "is too short";
  if (value.length % codec.charactersPerUnit !== 0) return "ends in half a byte";
  return undefined;
}

function writeField(codec: FieldCodec, value: string, payload: Buffer, start: number): number {
  const { prefix, form } = codec;
  if (!codec.isFixed) {
    const count = Math.ceil(value.length / codec.charactersPerCount);
    const width = prefix.form.isPacked ? 2 * prefix.bytes : prefix.bytes;
    const digits = count.toString(prefix.radix).toUpperCase().padStart(width, "0");
    writeCharacters(digits, prefix.form, payload, start);
  }
  const at = start + prefix.bytes;
  if (!form.isPacked && form.codePage === undefined) return writeText(codec, value, payload, at);
  if (!isWrittenIn(codec.alphabet, value)) refuseContent(codec);
  let text = value;
  if (form.isPacked && value.length % 2 !== 0) {
    text = codec.isPaddedLeft ? codec.paddingDigit + value : value + codec.paddingDigit;
  }
  writeCharacters(text, form, payload, at);
  return at + bytesOf(codec, value.length);
}

/** The usual form by itself, because it is checked and written in one pass. */
function writeText(codec: FieldCodec, value: string, payload: Buffer, start: number): number {
  const { alphabet } = codec;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (alphabet[code] !== 1) refuseContent(codec);
    payload[start + at] = code;
  }
  return start + value.length;
}

function refuseContent({ field }: FieldCodec): never {
  assert.fail(`field ${field} has a character outside its content`);
}

function writeCharacters(text: string, form: Form, target: Buffer, start: number): void {
  const { isPacked, codePage } = form;
  if (isPacked) {
    for (let at = 0; at < text.length; at += 2) {
      const high = readHexDigit(text.charCodeAt(at));
      target[start + at / 2] = (high << 4) | readHexDigit(text.charCodeAt(at + 1));
    }
  } else if (codePage === undefined) {
    for (let at = 0; at < text.length; at++) target[start + at] = text.charCodeAt(at);
  } else {
    const { byteOf } = codePage;
    for (let at = 0; at < text.length; at++) target[start + at] = byteOf[text.charCodeAt(at)] ?? 0;
  }
}

/** Hex digits of one or two bitmaps for ascending fields; bit 1 announces the second bitmap. */
function writeBitmaps(fields: readonly number[]): readonly string[] {
  const bits = new Uint8Array((fields.at(-1) ?? 0) > 64 ? 16 : 8);
  if (bits.length > 8) bits[0] = 0x80;
  for (const field of fields) {
    const at = (field - 1) >> 3;
    bits[at] = (bits[at] ?? 0) | (0x80 >> ((field - 1) & 7));
  }
  const digits = bits.toHex().toUpperCase();
  return digits.length > 16 ? [digits.slice(0, 16), digits.slice(16)] : [digits];
}
