/**
 * Message authentication codes (fields 64 and 128). The code covers every byte before its own
 * field, which is the last one, with its bit set in the bitmap. Keys are bytes in hex.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createCipheriv, timingSafeEqual } from "node:crypto";
import { decodeToEnd, encode } from "./codec.ts";
import { DecodeFault, type IsoMessage, type Specification } from "./specification.ts";

export type MacAlgorithm = keyof typeof macAlgorithms;

/**
 * The algorithms. `retail` is ISO 9797-1 algorithm 3 with DES, padded with zeros (ANSI X9.19).
 * `retail_80` is the same with one bit before the zeros (padding method 2). `cmac` is RFC 4493 with
 * AES.
 */
export const macAlgorithms = {
  retail: { keyBytes: [16], make: (key: Buffer) => makeRetailMac(key, false), check: desCheck },
  retail_80: { keyBytes: [16], make: (key: Buffer) => makeRetailMac(key, true), check: desCheck },
  cmac: { keyBytes: [16, 24, 32], make: (key: Buffer) => makeCmac("aes", key), check: aesCheck },
} as const;

export type MacKey = {
  readonly algorithm: MacAlgorithm;
  /** How many bytes of the code are sent and compared. Zeros fill the field. */
  readonly bytes: 4 | 8;
  readonly key: string;
  /**
   * The time from which a delivered key is used for signing, unless the host has used it earlier.
   * Until then the next older key is used.
   */
  readonly writesAt?: number | undefined;
  /** The time until which a key that has a successor verifies messages. */
  readonly verifiesUntil?: number | undefined;
};

type Mac = (data: Uint8Array) => Buffer;

export function makeMac(algorithm: MacAlgorithm, key: string): Mac {
  const row = macAlgorithms[algorithm];
  const bytes = Buffer.from(key, "hex");
  const isWhole = bytes.length * 2 === key.length && row.keyBytes.some((n) => n === bytes.length);
  // The message must not contain the key, because it may reach a log.
  assert.ok(isWhole, `a key for ${algorithm} has another length`);
  return row.make(bytes);
}

/** Returns six hexadecimal digits that distinguish two keys and reveal neither. */
export function checkValueOf(algorithm: MacAlgorithm, key: string): string {
  const bytes = macAlgorithms[algorithm].check(Buffer.from(key, "hex"));
  return bytes.subarray(0, 3).toString("hex").toUpperCase();
}

const desBlock = 8;
const aesBlock = 16;

/**
 * Makes the retail code. Single DES is triple DES with three equal keys, because OpenSSL offers
 * nothing smaller by default.
 */
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

/** Makes a CMAC by NIST SP 800-38B. With AES it is that of RFC 4493. */
export function makeCmac(cipher: "aes" | "tdes", given: Buffer): Mac {
  const isAes = cipher === "aes";
  const block = isAes ? aesBlock : desBlock;
  const mode = isAes ? `aes-${given.length * 8}-cbc` : "des-ede3-cbc";
  const isDouble = !isAes && given.length === 2 * desBlock;
  const key = isDouble ? Buffer.concat([given, given.subarray(0, desBlock)]) : given;
  const zero = Buffer.alloc(block);
  const whole = double(cbc(mode, key, zero, zero));
  const partial = double(whole);
  return (data) => {
    const isWhole = data.length > 0 && data.length % block === 0;
    const padded = isWhole ? Buffer.from(data) : pad(data, block, true);
    const mask = isWhole ? whole : partial;
    const end = padded.length - block;
    for (let at = 0; at < block; at++) {
      padded[end + at] = (padded[end + at] ?? 0) ^ (mask[at] ?? 0);
    }
    return cbc(mode, key, padded, zero).subarray(-block);
  };
}

/** Doubles a block in the field of 2^128 or 2^64 elements. */
function double(block: Buffer): Buffer {
  const last = block.length - 1;
  const doubled = Buffer.alloc(block.length);
  let carry = 0;
  for (let at = last; at >= 0; at--) {
    const byte = ((block[at] ?? 0) << 1) | carry;
    doubled[at] = byte & 0xff;
    carry = byte >> 8;
  }
  if (carry === 1) doubled[last] = (doubled[last] ?? 0) ^ (block.length === aesBlock ? 0x87 : 0x1b);
  return doubled;
}

/** Pads to whole blocks, at least one. A mark always needs room. */
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

/** Returns an encrypted block of zeros, of which the first bytes are the check value. */
function desCheck(key: Buffer): Buffer {
  const zero = Buffer.alloc(desBlock);
  return cbc("des-ede3-cbc", Buffer.concat([key, key.subarray(0, desBlock)]), zero, zero);
}

/** Returns the CMAC of a block of zeros, of which the first bytes are the check value. */
function aesCheck(key: Buffer): Buffer {
  return makeCmac("aes", key)(Buffer.alloc(aesBlock));
}

/**
 * Writes and reads messages with their codes. The first key signs, and any key may have made the
 * code of a message that is read. Without keys, and for exempt types, there are no codes.
 */
export function makeAuthenticator(
  specification: Specification,
  isExempt: (mti: string) => boolean = () => false,
  now: () => number = () => 0,
) {
  const width =
    encodedCode(zeros).length - encode(specification, { mti: "0800", fields: {} }).length;
  let keys: readonly UsedKey[] = [];
  return {
    use(given: readonly MacKey[]): void {
      keys = given.map(({ algorithm, key, bytes, ...times }) => {
        const { writesAt = 0, verifiesUntil = Number.POSITIVE_INFINITY } = times;
        return { mac: makeMac(algorithm, key), bytes, writesAt, verifiesUntil };
      });
    },

    write({ mti, fields }: IsoMessage): Buffer {
      const key = keys.find(({ writesAt }) => writesAt <= now()) ?? keys[0];
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
      const decoded = decodeToEnd(specification, payload);
      if (decoded instanceof DecodeFault) return decoded;
      const { message, end } = decoded;
      if (keys.length === 0) return message;
      if (isExempt(message.mti)) return message;
      const field = message.fields[128] === undefined ? 64 : 128;
      const text = message.fields[field];
      if (text === undefined) return new DecodeFault(field, "mac_missing");
      const given = Buffer.from(text, "hex");
      const covered = payload.subarray(0, end - width);
      const used = keys.findIndex(({ mac, bytes, verifiesUntil }) => {
        if (verifiesUntil <= now()) return false;
        const own = mac(covered).subarray(0, bytes);
        return given.length >= bytes && timingSafeEqual(own, given.subarray(0, bytes));
      });
      if (used === -1) return new DecodeFault(field, "mac_wrong");
      if (used === 0) followHost();
      return message;
    },
  };

  /**
   * Uses the newest key because the host does. The older keys verify messages that are still on
   * their way.
   */
  function followHost(): void {
    const [newest, ...older] = keys;
    if (newest !== undefined) newest.writesAt = 0;
    for (const key of older) {
      if (key.verifiesUntil === Number.POSITIVE_INFINITY) continue;
      key.verifiesUntil = Math.min(key.verifiesUntil, now() + underWayMs);
    }
  }

  function encodedCode(text: string): Buffer {
    return encode(specification, { mti: "0800", fields: { 64: text } });
  }
}

type UsedKey = {
  readonly mac: Mac;
  readonly bytes: number;
  writesAt: number;
  verifiesUntil: number;
};

/** How long a message that was signed with the older key may be on its way. */
const underWayMs = 60_000;

const zeros = "0".repeat(16);
