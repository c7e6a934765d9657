/**
 * Reads ASN.1 in BER as far as CMS and certificates need it: tags of one byte, and lengths that
 * are either as short as they can be or indefinite. Every byte must belong to something.
 */
import type { Buffer } from "node:buffer";

export type Element = {
  readonly tag: number;
  /** The element with its tag and length. */
  readonly encoded: Buffer;
  /** What is between length and end; of an indefinite one, without its end mark. */
  readonly content: Buffer;
  /** Empty unless the tag says that there are some. */
  readonly children: readonly Element[];
  readonly isIndefinite: boolean;
};

// biome-ignore format: a table
export const tags = {
  integer:         0x02,
  bitString:       0x03,
  octetString:     0x04,
  nothing:         0x05,
  identifier:      0x06,
  utf8String:      0x0c,
  utcTime:         0x17,
  generalizedTime: 0x18,
  sequence:        0x30,
  set:             0x31,
  context0:        0xa0,
  context3:        0xa3,
} as const;

const constructed = 0x20;
const longTag = 0x1f;
const indefiniteLength = 0x80;
const depthMax = 24;

/** Nothing when the bytes are anything but one element. */
export function readBer(bytes: Buffer): Element | undefined {
  const found = readElement(bytes, depthMax);
  return found?.encoded.length === bytes.length ? found : undefined;
}

/** Dotted, as people write them. */
export function readIdentifier(element: Element | undefined): string | undefined {
  if (element?.tag !== tags.identifier || element.content.length === 0) return undefined;
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of element.content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  const [first = 0, ...others] = arcs;
  const top = Math.min(Math.floor(first / 40), 2);
  return [top, first - top * 40, ...others].join(".");
}

/** The first element of the bytes. */
function readElement(bytes: Buffer, depth: number): Element | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || depth === 0) return undefined;
  if ((tag & longTag) === longTag) return undefined;
  const isConstructed = (tag & constructed) !== 0;
  if (first === indefiniteLength) {
    return isConstructed ? readIndefinite(tag, bytes, depth) : undefined;
  }
  const length = readLength(bytes);
  if (length === undefined) return undefined;
  const end = length.start + length.value;
  if (end > bytes.length) return undefined;
  const content = bytes.subarray(length.start, end);
  const children = isConstructed ? readChildren(content, depth) : [];
  if (children === undefined) return undefined;
  return { tag, encoded: bytes.subarray(0, end), content, children, isIndefinite: false };
}

function readIndefinite(tag: number, bytes: Buffer, depth: number): Element | undefined {
  const children: Element[] = [];
  let at = 2;
  while (bytes[at] !== 0) {
    const child = readElement(bytes.subarray(at), depth - 1);
    if (child === undefined) return undefined;
    children.push(child);
    at += child.encoded.length;
  }
  if (bytes[at + 1] !== 0) return undefined;
  const content = bytes.subarray(2, at);
  return { tag, encoded: bytes.subarray(0, at + 2), content, children, isIndefinite: true };
}

function readChildren(content: Buffer, depth: number): readonly Element[] | undefined {
  const children: Element[] = [];
  for (let at = 0; at < content.length; ) {
    const child = readElement(content.subarray(at), depth - 1);
    if (child === undefined) return undefined;
    children.push(child);
    at += child.encoded.length;
  }
  return children;
}

function readLength(bytes: Buffer): { readonly value: number; readonly start: number } | undefined {
  const first = bytes[1] ?? 0;
  if (first < 0x80) return { value: first, start: 2 };
  const size = first & 0x7f;
  if (size > 3 || bytes.length < 2 + size) return undefined;
  const value = bytes.readUIntBE(2, size);
  const isShortest = value >= (size === 1 ? 0x80 : 2 ** (8 * (size - 1)));
  return isShortest ? { value, start: 2 + size } : undefined;
}
