/**
 * A message of ISO 8583:1987 and its type. Field 1, the second bitmap, is never listed: it follows
 * from the fields above 64.
 */
import assert from "node:assert/strict";

export type Message = { readonly mti: string; readonly fields: Fields };

/** Values are as wide as on the wire, spaces and zeros included; bytes are upper-case hex. */
export type Fields = { readonly [field: number]: string };

/** Digit three is the function: even numbers ask or advise, the next odd number answers. */
export function isRequest(mti: string): boolean {
  return /^\d\d[02468]\d$/.test(mti);
}

/** Digit four is the origin, with an odd number for a repeat: 0420 and 0421 are answered alike. */
export function responseMti(mti: string): string {
  assert.ok(isRequest(mti), `${mti} is not a request`);
  const answer = Number(mti[2]) + 1;
  const origin = Number(mti[3]) & ~1;
  return `${mti.slice(0, 2)}${answer}${origin}`;
}
