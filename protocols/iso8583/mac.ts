/**
 * Message authentication codes (fields 64 and 128). The code covers every byte before its own
 * field, which is the last one, with its bit set in the bitmap. Keys are bytes in hex.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createCipheriv, timingSafeEqual } from "node:crypto";
import { decode } from "./decode.ts";
import { encode } from "./encode.ts";
import { DecodeFault, type IsoMessage } from "./message.ts";
import type { Specification } from "./specification.ts";

export type MacAlgorithm = keyof typeof macAlgorithms;

/**
 * `retail`: ISO 9797-1 algorithm 3 with DES, filled up with zeros (ANSI X9.19); `retail_80`: the
 * same with one bit before the zeros (padding method 2). `cmac`: RFC 4493 with AES.
 */
export const macAlgorithms = {
  retail: { keyBytes: [16], make: (key: Buffer) => makeRetailMac(key, false), check: desCheck },
  retail_80: { keyBytes: [16], make: (key: Buffer) => makeRetailMac(key, true), check: desCheck },
  cmac: { keyBytes: [16, 24, 32], make: makeCmac, check: aesCheck },
} as const;

export type MacKey = {
  readonly algorithm: MacAlgorithm;
  /** How many bytes of the code are sent and compared; zeros fill the field. */
  readonly bytes: 4 | 8;
  readonly key: string;
};

type Mac = (data: Uint8Array) => Buffer;

export function makeMac(algorithm: MacAlgorithm, key: string): Mac {
  const row = macAlgorithms[algorithm];
  const bytes = Buffer.from(key, "hex");
  const isWhole = bytes.length * 2 === key.length && row.keyBytes.some((n) => n === bytes.length);
  // The key itself must not reach a log.
  assert.ok(isWhole, `a key for ${algorithm} has another length`);
  return row.make(bytes);
}

/** Six hexadecimal digits that tell two keys apart and say nothing about either. */
export function checkValueOf(algorithm: MacAlgorithm, key: string): string {
  const bytes = macAlgorithms[algorithm].check(Buffer.from(key, "hex"));
  return bytes.subarray(0, 3).toString("hex").toUpperCase();
}

const desBlock = 8;
const aesBlock = 16;

/** Single DES is triple DES with three equal keys: OpenSSL offers nothing less by default. */
function makeRetailMac(key: Buffer, isMarked: boolean): Mac {
  const [first, second] = [key.subarray(0, desBlock), key.subarray(desBlock)];
  const single = Buffer.concat([first, first, first]);
  const triple = Buffer.concat([first, second, first]);
  return (data) => {
    const padded = pad(data, desBlock, isMarked);
    const end = padded.length - desBlock;
    const chained = cbc("des-ede3-cbc", single, padded.subarray(0, end), Buffer.alloc(desBlock));
    const last = end === 0 ? Buffer.alloc(desBlock) : chained.subarray(-desBlock);
    return cbc("des-ede3-cbc", triple, padded.subarray(end), last);
  };
}

function makeCmac(key: Buffer): Mac {
  const cipher = `aes-${key.length * 8}-cbc`;
  const zero = Buffer.alloc(aesBlock);
  const whole = double(cbc(cipher, key, zero, zero));
  const partial = double(whole);
  return (data) => {
    const isWhole = data.length > 0 && data.length % aesBlock === 0;
    const padded = isWhole ? Buffer.from(data) : pad(data, aesBlock, true);
    const mask = isWhole ? whole : partial;
    const end = padded.length - aesBlock;
    for (let at = 0; at < aesBlock; at++) {
      padded[end + at] = (padded[end + at] ?? 0) ^ (mask[at] ?? 0);
    }
    return cbc(cipher, key, padded, zero).subarray(-aesBlock);
  };
}

/** Twice a block, in the field of 2^128 elements. */
function double(block: Buffer): Buffer {
  const doubled = Buffer.alloc(aesBlock);
  let carry = 0;
  for (let at = aesBlock - 1; at >= 0; at--) {
    const byte = ((block[at] ?? 0) << 1) | carry;
    doubled[at] = byte & 0xff;
    carry = byte >> 8;
  }
  if (carry === 1) doubled[aesBlock - 1] = (doubled[aesBlock - 1] ?? 0) ^ 0x87;
  return doubled;
}

/** To whole blocks, at least one; a mark always needs room. */
function pad(data: Uint8Array, block: number, isMarked: boolean): Buffer {
  const wanted = data.length + (isMarked ? 1 : 0);
  const padded = Buffer.alloc(Math.max(block, Math.ceil(wanted / block) * block));
  padded.set(data);
  if (isMarked) padded[data.length] = 0x80;
  return padded;
}

function cbc(cipher: string, key: Buffer, data: Uint8Array, start: Buffer): Buffer {
  const encryption = createCipheriv(cipher, key, start).setAutoPadding(false);
  return Buffer.concat([encryption.update(data), encryption.final()]);
}

/** The first bytes of an encrypted block of zeros. */
function desCheck(key: Buffer): Buffer {
  const zero = Buffer.alloc(desBlock);
  return cbc("des-ede3-cbc", Buffer.concat([key, key.subarray(0, desBlock)]), zero, zero);
}

/** The first bytes of the CMAC of a block of zeros. */
function aesCheck(key: Buffer): Buffer {
  return makeCmac(key)(Buffer.alloc(aesBlock));
}

export type Authenticator = ReturnType<typeof makeAuthenticator>;

/**
 * Writes and reads messages with their codes. The first key writes, and any of them may have made
 * the code of a message that is read. Without keys, and for exempt types, there are no codes.
 */
export function makeAuthenticator(
  specification: Specification,
  isExempt: (mti: string) => boolean = () => false,
) {
  const width =
    encodedCode(zeros).length - encode(specification, { mti: "0800", fields: {} }).length;
  let keys: readonly { readonly mac: Mac; readonly bytes: number }[] = [];
  return {
    use(given: readonly MacKey[]): void {
      keys = given.map(({ algorithm, bytes, key }) => ({ mac: makeMac(algorithm, key), bytes }));
    },

    write({ mti, fields }: IsoMessage): Buffer {
      const [key] = keys;
      if (key === undefined || isExempt(mti)) return encode(specification, { mti, fields });
      const field = Object.keys(fields).some((number) => Number(number) > 64) ? 128 : 64;
      const payload = encode(specification, { mti, fields: { ...fields, [field]: zeros } });
      const end = payload.length - width;
      const code = key.mac(payload.subarray(0, end)).subarray(0, key.bytes);
      const text = code.toString("hex").toUpperCase().padEnd(zeros.length, "0");
      payload.set(encodedCode(text).subarray(-width), end);
      return payload;
    },

    read(payload: Uint8Array): IsoMessage | DecodeFault {
      const message = decode(specification, payload);
      if (message instanceof DecodeFault || keys.length === 0) return message;
      if (isExempt(message.mti)) return message;
      const field = message.fields[128] === undefined ? 64 : 128;
      const text = message.fields[field];
      if (text === undefined) return new DecodeFault(field, "mac_missing");
      const given = Buffer.from(text, "hex");
      const covered = payload.subarray(0, payload.length - width);
      const isGenuine = keys.some(({ mac, bytes }) => {
        const own = mac(covered).subarray(0, bytes);
        return given.length >= bytes && timingSafeEqual(own, given.subarray(0, bytes));
      });
      return isGenuine ? message : new DecodeFault(field, "mac_wrong");
    },
  };

  function encodedCode(text: string): Buffer {
    return encode(specification, { mti: "0800", fields: { 64: text } });
  }
}

const zeros = "0".repeat(16);
