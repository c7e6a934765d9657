/**
 * Reads BER and writes DER, as far as CMS and X.509 need them. The reader is stricter than a
 * general one: tags of one byte, lengths in their shortest form or indefinite, no byte left over.
 */
import { Buffer } from "node:buffer";

export type Element = {
  readonly tag: number;
  /** The element with its tag and length. */
  readonly encoded: Buffer;
  /** The bytes without tag, length and, for an indefinite length, the end-of-contents mark. */
  readonly content: Buffer;
  /** The elements inside. Empty for a primitive element. */
  readonly children: readonly Element[];
  readonly isIndefinite: boolean;
};

export const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
  context3: 0xa3,
} as const;

const constructed = 0x20;
const longTag = 0x1f;
const indefiniteLength = 0x80;
const depthMax = 24;

/** Returns undefined unless the bytes are exactly one element. */
export function readBer(bytes: Buffer): Element | undefined {
  const element = readElement(bytes, depthMax);
  return element?.encoded.length === bytes.length ? element : undefined;
}

/**
 * Returns the children of an element with this tag and, if given, this count. Otherwise returns
 * none.
 */
export function childrenOf(element: Element | undefined, tag: number, count?: number) {
  const children = element?.tag === tag ? element.children : [];
  return count === undefined || children.length === count ? children : [];
}

/** Returns the identifier in dotted notation. */
export function readObjectIdentifier(element: Element | undefined): string | undefined {
  if (element?.tag !== tags.objectIdentifier || element.content.length === 0) return undefined;
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

/** Reads UTCTime or GeneralizedTime to the second, in UTC, as milliseconds since 1970. */
export function readTime(element: Element | undefined): number | undefined {
  if (element?.tag !== tags.utcTime && element?.tag !== tags.generalizedTime) return undefined;
  const text = element.content.toString("latin1");
  const century = Number(text.slice(0, 2)) < 50 ? "20" : "19";
  const full = element.tag === tags.utcTime ? century + text : text;
  const digits = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
  const iso = full.replace(digits, "$1-$2-$3T$4:$5:$6.000Z");
  const time = digits.test(full) ? Date.parse(iso) : Number.NaN;
  // Date.parse reads 30 February as a day in March.
  return !Number.isNaN(time) && new Date(time).toISOString() === iso ? time : undefined;
}

export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), writeLength(content.length), content]);
}

/** Writes an element with an end-of-contents mark, which is BER's alternative to a length. */
export function writeIndefinite(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.of(tag, indefiniteLength), ...contents, Buffer.of(0, 0)]);
}

export function writeSequence(...contents: readonly Uint8Array[]): Buffer {
  return writeDer(tags.sequence, ...contents);
}

/** Writes a SET OF, whose members DER sorts by their encoding. */
export function writeSetOf(...members: readonly Buffer[]): Buffer {
  return writeDer(tags.set, ...[...members].sort(Buffer.compare));
}

export function writeObjectIdentifier(dotted: string): Buffer {
  const [top = 0, second = 0, ...others] = dotted.split(".").map(Number);
  const arcs = [top * 40 + second, ...others].map((arc) => {
    const bytes = [arc % 128];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
      bytes.unshift((rest % 128) | 0x80);
    }
    return Buffer.from(bytes);
  });
  return writeDer(tags.objectIdentifier, ...arcs);
}

export function writeAlgorithm(dotted: string, ...parameters: readonly Buffer[]): Buffer {
  return writeSequence(writeObjectIdentifier(dotted), ...parameters);
}

/** Writes UTCTime until 2049 and GeneralizedTime after it, as X.509 and CMS require. */
export function writeTime(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/\D/g, "").slice(0, 14);
  const isShort = digits < "2050";
  const text = `${isShort ? digits.slice(2) : digits}Z`;
  return writeDer(isShort ? tags.utcTime : tags.generalizedTime, Buffer.from(text, "ascii"));
}

/** Reads the first element of the bytes. */
function readElement(bytes: Buffer, depth: number): Element | undefined {
  const [tag] = bytes;
  if (tag === undefined || depth === 0 || (tag & longTag) === longTag) return undefined;
  const length = readLength(bytes);
  if (length === undefined) return undefined;
  const { start, value } = length;
  const isIndefinite = value === undefined;
  const rest = bytes.subarray(start, isIndefinite ? undefined : start + value);
  if (!isIndefinite && rest.length < value) return undefined;
  const isConstructed = (tag & constructed) !== 0;
  if (isIndefinite && !isConstructed) return undefined;

  const children = isConstructed ? readChildren(rest, isIndefinite, depth - 1) : [];
  if (children === undefined) return undefined;
  const size = isIndefinite ? sizeOf(children) : value;
  if (isIndefinite && rest[size + 1] !== 0) return undefined;
  const encoded = bytes.subarray(0, start + size + (isIndefinite ? 2 : 0));
  return { tag, encoded, content: rest.subarray(0, size), children, isIndefinite };
}

/** Reads up to the end of the bytes, or up to the end-of-contents mark of an indefinite length. */
function readChildren(bytes: Buffer, isIndefinite: boolean, depth: number) {
  const children: Element[] = [];
  for (let at = 0; isIndefinite ? bytes[at] !== 0 : at < bytes.length; ) {
    const child = readElement(bytes.subarray(at), depth);
    if (child === undefined) return undefined;
    children.push(child);
    at += child.encoded.length;
  }
  return children;
}

function sizeOf(elements: readonly Element[]): number {
  return elements.reduce((sum, { encoded }) => sum + encoded.length, 0);
}

/** Reads a length. `value` is undefined for an indefinite one. */
function readLength(bytes: Buffer) {
  const [, first] = bytes;
  if (first === undefined) return undefined;
  if (first === indefiniteLength) return { start: 2, value: undefined };
  if (first < 0x80) return { start: 2, value: first };
  const size = first & 0x7f;
  if (size > 3 || bytes.length < 2 + size) return undefined;
  const value = bytes.readUIntBE(2, size);
  const isShortest = value >= (size === 1 ? 0x80 : 2 ** (8 * (size - 1)));
  return isShortest ? { start: 2 + size, value } : undefined;
}

function writeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes = Buffer.of(length >> 16, length >> 8, length);
  const digits = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.of(0x80 | digits.length, ...digits);
}
