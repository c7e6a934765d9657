/**
 * ISO 8583 messages to bytes and back: message type, bitmaps, then the fields in ascending order.
 * Decode accepts what encode can write and, beyond that, what `tolerated` lists. Errors and faults
 * name the field and the rule, never the value, which may be a card number.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Form } from "./characters.ts";
import {
  alphabets,
  type Compiled,
  type Composite,
  compile,
  compileComposite,
  type FieldCodec,
  type FieldName,
  isWrittenIn,
  type Specification,
} from "./specification.ts";

export type IsoMessage = { readonly mti: string; readonly fields: IsoFields };

/**
 * Values are as wide as on the wire, spaces and zeros included; bytes are upper-case hex. Field 1,
 * the second bitmap, is never listed: it follows from the fields above 64.
 */
export type IsoFields = { readonly [field: number]: string };

export type DecodeReason =
  | "truncated"
  | "malformed_length"
  | "too_long"
  | "invalid_content"
  | "invalid_padding"
  | "unknown_field"
  | "duplicate"
  | "trailing_bytes";

export class DecodeFault {
  readonly field: FieldName;
  readonly reason: DecodeReason;

  constructor(field: FieldName, reason: DecodeReason) {
    this.field = field;
    this.reason = reason;
  }
}

/**
 * Digit three is the function: even numbers ask or advise, the next odd number answers. Digit four
 * is the origin, with an odd number for a repeat: 0420 and 0421 are answered alike.
 */
export function responseMti(mti: string): string {
  assert.match(mti, /^\d\d[02468]\d$/, `${mti} is not a request`);
  return `${mti.slice(0, 2)}${Number(mti[2]) + 1}${Number(mti[3]) & ~1}`;
}

/** A value that breaks the table is a programming error and throws. */
export function encode(specification: Specification, message: IsoMessage): Buffer {
  const compiled = compile(specification);
  return write(addEntries([{ codec: compiled.mti, value: message.mti }], compiled, message.fields));
}

/**
 * What decode accepts though encode never writes it: habits of hosts that change neither where a
 * field ends nor what a checked field says. Any other byte that breaks the table refuses the whole
 * payload. Messages of real hosts have each of these, and an approval must not be lost for one.
 */
// biome-ignore format: a table
export const tolerated = [
  ["any field",         "hexadecimal digits in lower case, also in bitmaps",     "read as upper case"],
  ["any field",         "the track separator D where the layout writes =",       "read as ="],
  ["second bitmap",     "announced, and no bit in it",                           "ignored"],
  ["end",               "spaces after the last field",                           "ignored"],
  ["not checked",       "characters outside the content, such as a masked card", "kept as they are"],
  ["not checked",       "another padding digit",                                 "ignored"],
  ["not checked, text", "longer than its maximum, as its length prefix says",    "kept"],
  ["sub-fields",        "one without a row: its length is not known",            "it and the rest are kept as bytes"],
] as const;

export function decode(
  specification: Specification,
  payload: Uint8Array,
): IsoMessage | DecodeFault {
  const compiled = compile(specification);
  const cursor = new Cursor(payload);
  const mti = cursor.read(compiled.mti);
  if (mti instanceof DecodeFault) return mti;
  let bitmaps = cursor.read(compiled.bitmap);
  if (bitmaps instanceof DecodeFault) return bitmaps;
  // The first bit of the first bitmap announces the second one.
  if (bitmaps >= "8") {
    const second = cursor.read(compiled.bitmap);
    if (second instanceof DecodeFault) return second;
    bitmaps += second;
  }
  const fields = readFields(cursor, bitmaps, compiled);
  if (fields instanceof DecodeFault) return fields;
  return cursor.isAtEnd() || cursor.hasOnlySpaces(compiled.mti.form)
    ? { mti, fields }
    : new DecodeFault("end", "trailing_bytes");
}

/** A private field of sub-fields behind a bitmap of 8 bytes, as card networks fill 62 and 126. */
export function writeComposite(composite: Composite, subfields: IsoFields): string {
  const bytes = write(addEntries([], compileComposite(composite), subfields));
  return bytes.toString("hex").toUpperCase();
}

/** `rest`: the bytes from the first sub-field on that has no row, as its length is not known. */
export type Subfields = IsoFields & { readonly rest?: string };

export function readComposite(composite: Composite, hex: string): Subfields | DecodeFault {
  if (!/^(?:[0-9A-F]{2})*$/.test(hex)) return new DecodeFault(composite.field, "invalid_content");
  const compiled = compileComposite(composite);
  const cursor = new Cursor(Buffer.from(hex, "hex"));
  const bitmap = cursor.read(compiled.bitmap);
  if (bitmap instanceof DecodeFault) return bitmap;
  const subfields = readFields(cursor, bitmap, compiled);
  if (subfields instanceof DecodeFault || cursor.isAtEnd()) return subfields;
  return new DecodeFault(composite.field, "trailing_bytes");
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
  if (!isWrittenIn(codec.alphabet, value)) return "has a character outside its content";
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
  let text = value;
  if (form.isPacked && value.length % 2 !== 0) {
    text = codec.isPaddedLeft ? codec.paddingDigit + value : value + codec.paddingDigit;
  }
  writeCharacters(text, form, payload, at);
  return at + bytesOf(codec, value.length);
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

/** The bytes of a value without its prefix; an odd number of packed digits fills its last byte. */
function bytesOf({ form }: FieldCodec, characters: number): number {
  return form.isPacked ? (characters + 1) >> 1 : characters;
}

/** Upper case only; the content is already checked. A track's separator = is D. */
function readHexDigit(code: number): number {
  return code < 0x41 ? code - 0x30 : code - 0x37;
}

/** Hex digits of one or two bitmaps for ascending fields; bit 1 announces the second bitmap. */
function writeBitmaps(fields: readonly number[]): readonly string[] {
  const needsSecond = (fields.at(-1) ?? 0) > 64;
  const digits: number[] = new Array(needsSecond ? 32 : 16).fill(0);
  if (needsSecond) digits[0] = 8;
  for (const field of fields) {
    const at = (field - 1) >> 2;
    digits[at] = (digits[at] ?? 0) | (8 >> ((field - 1) & 3));
  }
  let bitmaps = "";
  for (const digit of digits) bitmaps += hexDigits[digit];
  return needsSecond ? [bitmaps.slice(0, 16), bitmaps.slice(16)] : [bitmaps];
}

const hexDigits = "0123456789ABCDEF";

/** The fields that the bitmaps announce. */
function readFields(cursor: Cursor, bitmaps: string, compiled: Compiled): Subfields | DecodeFault {
  const fields: { [field: number]: string; rest?: string } = {};
  for (let at = 0; at < bitmaps.length; at++) {
    let digit = readHexDigit(bitmaps.charCodeAt(at));
    for (let number = at * 4 + 1; digit !== 0; number++) {
      if ((digit & 8) !== 0 && number >= compiled.lowest) {
        const codec = compiled.fields[number];
        if (codec === undefined) {
          if (!compiled.keepsRest) return new DecodeFault(compiled.nameOf(number), "unknown_field");
          return { ...fields, rest: cursor.takeRest() };
        }
        const value = cursor.read(codec);
        if (value instanceof DecodeFault) return value;
        fields[number] = value;
      }
      digit = (digit << 1) & 15;
    }
  }
  return fields;
}

/** Walks a payload from one value to the next. Values are slices of the payload as text. */
class Cursor {
  readonly #payload: Buffer;
  readonly #text: string;
  /** As hex digits, made only for a layout that packs a value. */
  #packed: string | undefined;
  #at = 0;

  constructor(payload: Uint8Array) {
    this.#payload = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    this.#text = this.#payload.toString("latin1");
  }

  isAtEnd(): boolean {
    return this.#at === this.#payload.length;
  }

  /** Of a layout whose message type is text. */
  hasOnlySpaces({ isPacked, codePage }: Form): boolean {
    const space = codePage === undefined ? 0x20 : codePage.byteOf[0x20];
    return !isPacked && this.#payload.subarray(this.#at).every((byte) => byte === space);
  }

  /** In hex. */
  takeRest(): string {
    const rest = this.#payload.toString("hex", this.#at).toUpperCase();
    this.#at = this.#payload.length;
    return rest;
  }

  read(codec: FieldCodec): string | DecodeFault {
    const length = codec.isFixed ? codec.charactersMax : this.#readLength(codec);
    if (length instanceof DecodeFault) return length;
    let value = this.#take(bytesOf(codec, length), codec.form);
    if (value === undefined) return new DecodeFault(codec.field, "truncated");
    if (value.length !== length || codec.mayBeFilled) {
      const unpadded = removePadding(codec, value, length);
      if (unpadded instanceof DecodeFault) return unpadded;
      value = unpadded;
    }
    return isWrittenIn(codec.alphabet, value) ? value : tolerate(codec, value);
  }

  #readLength(codec: FieldCodec): number | DecodeFault {
    const { field, prefix } = codec;
    const digits = this.#take(prefix.bytes, prefix.form);
    if (digits === undefined) return new DecodeFault(field, "truncated");
    let count = 0;
    for (let at = 0; at < digits.length; at++) {
      const code = digits.charCodeAt(at);
      const digit = alphabets.b[code] === 1 ? readHexDigit(code) : 16;
      if (digit >= prefix.radix) return new DecodeFault(field, "malformed_length");
      count = count * prefix.radix + digit;
    }
    const length = count * codec.charactersPerCount;
    if (length % codec.charactersPerUnit !== 0) return new DecodeFault(field, "malformed_length");
    const max = codec.charactersMax + (codec.mayBeFilled ? 1 : 0);
    const isTooLong = count > prefix.countMax || (length > max && !codec.mayBeLonger);
    return isTooLong ? new DecodeFault(field, "too_long") : length;
  }

  #take(bytes: number, { isPacked, codePage }: Form): string | undefined {
    const start = this.#at;
    const end = start + bytes;
    if (end > this.#payload.length) return undefined;
    this.#at = end;
    if (isPacked) {
      this.#packed ??= this.#payload.toString("hex").toUpperCase();
      return this.#packed.slice(start * 2, end * 2);
    }
    if (codePage === undefined) return this.#text.slice(start, end);
    let text = "";
    for (let at = start; at < end; at++) text += codePage.characterOf[this.#payload[at] ?? 0];
    return text;
  }
}

/** A half byte that no digit fills: always there for an odd length, and F where bytes are counted. */
function removePadding(codec: FieldCodec, value: string, length: number): string | DecodeFault {
  const { isPaddedLeft, paddingDigit, mayBeFilled } = codec;
  const isPadded = (isPaddedLeft ? value.at(0) : value.at(-1)) === paddingDigit;
  if (mayBeFilled && !isPadded) {
    return length > codec.charactersMax ? new DecodeFault(codec.field, "too_long") : value;
  }
  if (!isPadded && codec.isChecked) return new DecodeFault(codec.field, "invalid_padding");
  return isPaddedLeft ? value.slice(1) : value.slice(0, -1);
}

/** A value outside its content: see `tolerated`. */
function tolerate(codec: FieldCodec, value: string): string | DecodeFault {
  const { content, alphabet, isChecked, field } = codec;
  let usual = value;
  if (content === "b") usual = value.toUpperCase();
  if (content === "z") usual = value.replaceAll("D", "=");
  if (isWrittenIn(alphabet, usual)) return usual;
  return isChecked ? new DecodeFault(field, "invalid_content") : value;
}
