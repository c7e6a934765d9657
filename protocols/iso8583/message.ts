/** A message of ISO 8583 as values, and what can be wrong with the bytes of one. */
import assert from "node:assert/strict";
import type { FieldName } from "./specification.ts";

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
  | "trailing_bytes"
  | "mac_missing"
  | "mac_wrong";

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
