/** Writes ASN.1: the few types that a signature and its certificates are made of. */
import { Buffer } from "node:buffer";
import { tags } from "./ber.ts";

export function write(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), writeLength(content.length), content]);
}

/** BER's other way to say how long something is: not at all, and a mark at the end. */
export function writeIndefinite(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.of(tag, 0x80), ...contents, Buffer.of(0, 0)]);
}

export function sequence(...contents: readonly Uint8Array[]): Buffer {
  return write(tags.sequence, ...contents);
}

/** In the order of the encoded members, which DER asks for and signatures depend on. */
export function setOf(...members: readonly Buffer[]): Buffer {
  return write(tags.set, ...[...members].sort(Buffer.compare));
}

export function identifier(dotted: string): Buffer {
  const [top = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return write(tags.identifier, ...[top * 40 + second, ...others].map(writeArc));
}

/** An algorithm, with the empty parameters that older ones are written with. */
export function algorithm(dotted: string, parameters: "absent" | "empty" = "absent"): Buffer {
  const empty = parameters === "empty" ? [write(tags.nothing)] : [];
  return sequence(identifier(dotted), ...empty);
}

/** UTCTime until 2049, GeneralizedTime from then on, as X.509 and CMS both want it. */
export function moment(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/\D/g, "").slice(0, 14);
  const isShort = digits < "2050";
  const text = `${isShort ? digits.slice(2) : digits}Z`;
  return write(isShort ? tags.utcTime : tags.generalizedTime, Buffer.from(text, "ascii"));
}

function writeArc(arc: number): Buffer {
  const bytes = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift((rest % 128) | 0x80);
  }
  return Buffer.from(bytes);
}

function writeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  if (length < 0x100) return Buffer.of(0x81, length);
  if (length < 0x1_0000) return Buffer.of(0x82, length >> 8, length & 0xff);
  return Buffer.of(0x83, length >> 16, (length >> 8) & 0xff, length & 0xff);
}
