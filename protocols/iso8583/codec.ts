/**
 * Converts ISO 8583 messages to bytes (message type, bitmaps, then the fields in ascending order)
 * and back. Decode accepts what encode can write and, in addition, what `tolerated` lists. Errors
 * and faults name the field and the rule, never the value, which may be a card number.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  alphabets,
  bytesOf,
  type Compiled,
  type Composite,
  compile,
  compileComposite,
  DecodeFault,
  type FieldCodec,
  type Form,
  type IsoFields,
  type IsoMessage,
  isWrittenIn,
  readHexDigit,
  type Specification,
} from "./specification.ts";

/** Encodes a message. A value that breaks the table is a programming error and throws. */
export function encode(specification: Specification, message: IsoMessage): Buffer {
  const compiled = compile(specification);
  return write(addEntries([{ codec: compiled.mti, value: message.mti }], compiled, message.fields));
}

/**
 * Writes a private field of sub-fields with a bitmap of 8 bytes, as card networks use 62 and 126.
 */
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

/**
 * Writes the usual form in a function of its own, because it is checked and written in one pass.
 */
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

/**
 * Returns the hex digits of one or two bitmaps for ascending fields. Bit 1 announces the second
 * bitmap.
 */
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

/**
 * Deviations that decode accepts although encode never writes them: habits of hosts that change
 * neither where a field ends nor what a checked field says. Any other byte that breaks the table
 * refuses the whole payload. Messages of real hosts contain each of these, and an approval must not
 * be lost because of one.
 */
// biome-ignore format: a table
export const tolerated = {
  lower_case_hex:      "hexadecimal digits in lower case, also in bitmaps: read as upper case",
  track_separator:     "the separator D of a track where the layout writes =: read as =",
  empty_second_bitmap: "a second bitmap that announces nothing: ignored",
  trailing_spaces:     "spaces after the last field of a text layout: ignored",
  unused_content:      "in a field that is not checked, characters outside its content, such as a masked card number: kept",
  unused_padding:      "in a field that is not checked, padding F where the layout writes 0: ignored",
  unused_length:       "in a text field that is not checked, more than its maximum, as its length prefix says: kept",
  unknown_subfield:    "a sub-field without a row, whose length is not known: it and the rest are kept as bytes",
} as const;

export function decode(
  specification: Specification,
  payload: Uint8Array,
): IsoMessage | DecodeFault {
  const decoded = decodeToEnd(specification, payload);
  return decoded instanceof DecodeFault ? decoded : decoded.message;
}

/** Decodes a message. `end` is where the last field ends, because spaces may follow it. */
export function decodeToEnd(
  specification: Specification,
  payload: Uint8Array,
): { readonly message: IsoMessage; readonly end: number } | DecodeFault {
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
    ? { message: { mti, fields }, end: cursor.at }
    : new DecodeFault("end", "trailing_bytes");
}

/**
 * Sub-fields. `rest` has the bytes from the first sub-field without a row, because its length is
 * unknown.
 */
type Subfields = IsoFields & { readonly rest?: string };

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

/** Reads the fields that the bitmaps announce. */
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

/** Reads a payload from one value to the next. Values are slices of the payload as text. */
class Cursor {
  readonly #payload: Buffer;
  readonly #text: string;
  /** The payload as hex digits, which is made only for a layout that packs a value. */
  #packed: string | undefined;
  #at = 0;

  constructor(payload: Uint8Array) {
    this.#payload = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    this.#text = this.#payload.toString("latin1");
  }

  get at(): number {
    return this.#at;
  }

  isAtEnd(): boolean {
    return this.#at === this.#payload.length;
  }

  /** Returns whether only spaces are left, for a layout whose message type is text. */
  hasOnlySpaces({ isPacked, codePage }: Form): boolean {
    const space = codePage === undefined ? 0x20 : codePage.byteOf[0x20];
    return !isPacked && this.#payload.subarray(this.#at).every((byte) => byte === space);
  }

  /** Returns the rest in hex. */
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
    if (codec.mayBeAnything || isWrittenIn(codec.alphabet, value)) return value;
    return tolerate(codec, value);
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

/**
 * Removes the half byte that no digit fills. If bytes are counted, F distinguishes it from a digit.
 * A digit in its place, or an F at the other end of a fixed length, means that the host pads the
 * other end.
 */
function removePadding(codec: FieldCodec, value: string, length: number): string | DecodeFault {
  const { isPaddedLeft, paddingDigit, mayBeFilled } = codec;
  const padding = isPaddedLeft ? value.at(0) : value.at(-1);
  const otherEnd = isPaddedLeft ? value.at(-1) : value.at(0);
  if (mayBeFilled && padding !== paddingDigit) {
    return length > codec.charactersMax ? new DecodeFault(codec.field, "too_long") : value;
  }
  const isPadded = padding === paddingDigit || (padding === "F" && !codec.isChecked);
  if (!isPadded || (otherEnd === "F" && codec.isFixed)) {
    return new DecodeFault(codec.field, "invalid_padding");
  }
  return isPaddedLeft ? value.slice(1) : value.slice(0, -1);
}

/** Accepts a value outside its content if `tolerated` permits it. */
function tolerate(codec: FieldCodec, value: string): string | DecodeFault {
  const { content, alphabet, isChecked, field } = codec;
  let usual = value;
  if (content === "b") usual = value.toUpperCase();
  if (content === "z") usual = value.replaceAll("D", "=");
  if (isWrittenIn(alphabet, usual)) return usual;
  return isChecked ? new DecodeFault(field, "invalid_content") : value;
}
