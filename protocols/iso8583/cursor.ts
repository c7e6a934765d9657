/** Walks the bytes of a message, or of a field with sub-fields, from one value to the next. */
import { Buffer } from "node:buffer";
import { bytesOf, type FieldCodec } from "./compile.ts";
import { DecodeFault } from "./decode-fault.ts";
import { isWrittenIn } from "./parts/content.ts";
import { removePadding } from "./parts/padding.ts";
import { readCount } from "./parts/prefix.ts";
import { packed, text, type Wire } from "./parts/wire.ts";

export class Cursor {
  readonly #text: string;
  readonly #packed: string;
  readonly #bytes: number;
  #at = 0;

  /** Only a layout that packs something needs the payload as digits too. */
  constructor(payload: Uint8Array, { isPacked }: { readonly isPacked: boolean }) {
    const buffer = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    this.#text = text.read(buffer);
    this.#packed = isPacked ? packed.read(buffer) : "";
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
