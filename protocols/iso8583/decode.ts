/**
 * Bytes to a message of ISO 8583:1987. Nothing is repaired: a byte short, a byte over, a field that
 * is not in the table or a character outside its content, and the whole payload is refused.
 */
import { type Compiled, compile } from "./compile.ts";
import { Cursor } from "./cursor.ts";
import { DecodeFault } from "./decode-fault.ts";
import type { Message } from "./message.ts";
import { hasSecondBitmap, isEmptyBitmap, listFields } from "./parts/bitmap.ts";
import type { Specification } from "./specification.ts";

export function decode(specification: Specification, payload: Uint8Array): Message | DecodeFault {
  const compiled = compile(specification);
  const cursor = new Cursor(payload, compiled);
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
