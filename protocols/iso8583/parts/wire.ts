/**
 * The two ways that characters lie in bytes: one a byte, or two hexadecimal digits a byte. Every
 * encoding and length prefix of ISO 8583:1987 is one of the two, with a different count.
 */
import type { Buffer } from "node:buffer";

export type Wire = {
  readonly charactersPerByte: number;
  /** A payload as characters, so that its fields are slices. */
  readonly read: (payload: Buffer) => string;
  readonly write: (characters: string, target: Buffer, at: number) => void;
};

export const text: Wire = {
  charactersPerByte: 1,
  read: (payload) => payload.toString("latin1"),
  write: writeText,
};

export const packed: Wire = {
  charactersPerByte: 2,
  read: (payload) => payload.toString("hex").toUpperCase(),
  write: writePacked,
};

function writeText(characters: string, target: Buffer, start: number): void {
  for (let at = 0; at < characters.length; at++) target[start + at] = characters.charCodeAt(at);
}

function writePacked(digits: string, target: Buffer, start: number): void {
  for (let at = 0; at < digits.length; at += 2) {
    const high = readHexDigit(digits.charCodeAt(at));
    target[start + at / 2] = (high << 4) | readHexDigit(digits.charCodeAt(at + 1));
  }
}

/** Upper case only: the caller has checked the content. */
export function readHexDigit(code: number): number {
  return code < 0x41 ? code - 0x30 : code - 0x37;
}
