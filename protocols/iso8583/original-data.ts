/**
 * Field 90 of ISO 8583:1987, which names the message being reversed. Its ids are filled with zeros
 * on the left, so an id that itself begins with a zero does not come back: to find the original,
 * compare whole fields.
 */
import assert from "node:assert/strict";
import { DecodeFault } from "./decode-fault.ts";

/** Fields 7, 11, 32 and 33 as they were in the original request, never in its answer. */
export type OriginalData = {
  readonly mti: string;
  readonly stan: string;
  /** MMDDhhmmss in GMT. */
  readonly transmittedAt: string;
  readonly acquirerId: string;
  readonly forwarderId?: string;
};

export function originalData(parts: OriginalData): string {
  const { mti, stan, transmittedAt, acquirerId, forwarderId = "" } = parts;
  const text =
    mti + stan + transmittedAt + acquirerId.padStart(11, "0") + forwarderId.padStart(11, "0");
  const widths = [mti.length, stan.length, transmittedAt.length];
  assert.deepEqual(widths, [4, 6, 10], "a part of the original data has the wrong width");
  assert.ok(isOriginalData.test(text), "the original data are not 42 digits");
  return text;
}

export function parseOriginalData(text: string): OriginalData | DecodeFault {
  if (!isOriginalData.test(text)) return new DecodeFault(90, "wrong_content");
  const forwarderId = withoutZeros(text.slice(31, 42));
  return {
    mti: text.slice(0, 4),
    stan: text.slice(4, 10),
    transmittedAt: text.slice(10, 20),
    acquirerId: withoutZeros(text.slice(20, 31)),
    ...(forwarderId === "" ? {} : { forwarderId }),
  };
}

function withoutZeros(id: string): string {
  return id.replace(/^0+/, "");
}

const isOriginalData = /^[0-9]{42}$/;
