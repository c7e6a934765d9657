/**
 * Bytes to a message of ISO 8583:1987. Nothing is repaired: a byte short, a byte over, a field that
 * is not in the table or a character outside its content, and the whole payload is refused.
 */
import { Buffer } from "node:buffer";
import { bytesOf, type Compiled, compile, type FieldCodec } from "./compile.ts";
import { DecodeFault } from "./decode-fault.ts";
import type { Message } from "./message.ts";
import { hasSecondBitmap, isEmptyBitmap, listFields } from "./parts/bitmap.ts";
import { isWrittenIn } from "./parts/content.ts";
import { removePadding } from "./parts/padding.ts";
import { readCount } from "./parts/prefix.ts";
import { packed, text, type Wire } from "./parts/wire.ts";
import type { Specification } from "./specification.ts";

export function decode(specification: Specification, payload: Uint8Array): Message | DecodeFault {
  const compiled = compile(specification);
  const cursor = new Cursor(compiled, payload);
  const mti = cursor.read(compiled.mti);
  if (mti instanceof DecodeFault) return mti;
  const bitmaps = readBitmaps(compiled, cursor);
  if (bitmaps instanceof DecodeFault) return bitmaps;

  const fields: { [field: number]: string } = {};
  for (const field of listFields(bitmaps)) {
    const codec = compiled.fields[field];
    if (codec === undefined) return new DecodeFault(field, "unknown_field");
    const value = cursor.read(codec);
    if (value instanceof DecodeFault) return value;
    fields[field] = value;
  }
  return cursor.isAtEnd() ? { mti, fields } : new DecodeFault("end", "left_over");
}

function readBitmaps(compiled: Compiled, cursor: Cursor): string | DecodeFault {
  const first = cursor.read(compiled.bitmap);
  if (first instanceof DecodeFault || !hasSecondBitmap(first)) return first;
  const second = cursor.read(compiled.bitmap);
  if (second instanceof DecodeFault) return second;
  if (isEmptyBitmap(second)) return new DecodeFault("bitmap", "needless_bitmap");
  return first + second;
}

/** Walks a payload from field to field. */
class Cursor {
  readonly #text: string;
  readonly #packed: string;
  readonly #bytes: number;
  #at = 0;

  constructor(compiled: Compiled, payload: Uint8Array) {
    const buffer = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    this.#text = text.read(buffer);
    this.#packed = compiled.isPacked ? packed.read(buffer) : "";
    this.#bytes = payload.byteLength;
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes;
  }

  read(codec: FieldCodec): string | DecodeFault {
    const length = codec.isFixed ? codec.charactersMax : this.#readLength(codec);
    if (length instanceof DecodeFault) return length;
    const start = this.#at;
    const end = start + bytesOf(codec, length);
    if (end > this.#bytes) return new DecodeFault(codec.field, "cut_short");
    this.#at = end;

    const padded = this.#characters(codec.wire, start, end);
    const value = padded.length === length ? padded : removePadding(codec.padding, padded);
    if (value === undefined) return new DecodeFault(codec.field, "wrong_padding");
    if (!isWrittenIn(codec.alphabet, value)) return new DecodeFault(codec.field, "wrong_content");
    return value;
  }

  #characters({ charactersPerByte }: Wire, start: number, end: number): string {
    const characters = charactersPerByte === 1 ? this.#text : this.#packed;
    return characters.slice(start * charactersPerByte, end * charactersPerByte);
  }

  #readLength(codec: FieldCodec): number | DecodeFault {
    const { field, prefix } = codec;
    const start = this.#at;
    this.#at += prefix.bytes;
    if (this.#at > this.#bytes) return new DecodeFault(field, "cut_short");
    const count = readCount(prefix, this.#characters(prefix.wire, start, this.#at));
    const length = count * codec.charactersPerCount;
    if (count < 0 || length % codec.charactersPerUnit !== 0) {
      return new DecodeFault(field, "malformed_length");
    }
    return length > codec.charactersMax ? new DecodeFault(field, "too_long") : length;
  }
}
