/**
 * A message of ISO 8583:1987 to bytes: message type, bitmaps, then the fields in ascending order.
 * A value that breaks the table is a programming error; the error names the field and the rule but
 * never the value, which may be a card number.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { bytesOf, type Compiled, compile, type FieldCodec } from "./compile.ts";
import type { Message } from "./message.ts";
import { writeBitmaps } from "./parts/bitmap.ts";
import { isWrittenIn } from "./parts/content.ts";
import { addPadding } from "./parts/padding.ts";
import { writeCount } from "./parts/prefix.ts";
import { packed } from "./parts/wire.ts";
import type { Specification } from "./specification.ts";

export function encode(specification: Specification, message: Message): Buffer {
  return writeEntries(listEntries(compile(specification), message));
}

export type Entry = { readonly codec: FieldCodec; readonly value: string };

/** One after the other, each as its row says. */
export function writeEntries(entries: readonly Entry[]): Buffer {
  let bytes = 0;
  for (const { codec, value } of entries) bytes += measure(codec, value);

  const payload = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const { codec, value } of entries) at = write(codec, value, payload, at);
  if (at !== bytes) assert.fail("a value was measured and written differently");
  return payload;
}

function listEntries({ mti, bitmap, fields: codecs }: Compiled, message: Message): Entry[] {
  // Keys that are whole numbers come in ascending order, whatever order they were written in.
  const fields = Object.keys(message.fields).map(Number);
  const [first, second] = writeBitmaps(fields);
  const entries: Entry[] = [{ codec: mti, value: message.mti }];
  entries.push({ codec: bitmap, value: first });
  if (second !== undefined) entries.push({ codec: bitmap, value: second });
  for (const field of fields) {
    const codec = codecs[field];
    const value = message.fields[field];
    if (codec === undefined) assert.fail(`field ${field} has no row`);
    if (value === undefined) assert.fail(`field ${field} has no value`);
    entries.push({ codec, value });
  }
  return entries;
}

/** Checks a value against its row and says how many bytes it takes, prefix included. */
function measure(codec: FieldCodec, value: string): number {
  const fault = findFault(codec, value);
  if (fault !== undefined) assert.fail(`field ${codec.field} ${fault}`);
  return codec.prefix.bytes + bytesOf(codec, value.length);
}

function findFault(codec: FieldCodec, value: string): string | undefined {
  if (value.length > codec.charactersMax) return "is too long";
  if (codec.isFixed && value.length < codec.charactersMax) return "is too short";
  if (value.length % codec.charactersPerUnit !== 0) return "ends in half a byte";
  if (!isWrittenIn(codec.alphabet, value)) return "has a character outside its content";
  return undefined;
}

function write(codec: FieldCodec, value: string, payload: Buffer, start: number): number {
  const { prefix, padding, wire } = codec;
  let at = start;
  if (!codec.isFixed) {
    const count = writeCount(prefix, value.length / codec.charactersPerCount);
    prefix.wire.write(count, payload, at);
    at += prefix.bytes;
  }
  const isOdd = wire === packed && value.length % 2 !== 0;
  wire.write(isOdd ? addPadding(padding, value) : value, payload, at);
  return at + bytesOf(codec, value.length);
}
