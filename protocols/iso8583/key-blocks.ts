/**
 * Keys that are encrypted by a key, which is how a host delivers a working key under the zone key
 * that both sides have. One form is a cryptogram (ANSI X9.17): a triple-DES key encrypted block by
 * block, with a check value next to it. The other is a key block (TR-31, now X9.143: version B for
 * triple-DES and D for AES zone keys), which states the use of the key and authenticates itself.
 * Keys are bytes in hex.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, timingSafeEqual } from "node:crypto";
import { checkValueOf, makeCmac } from "./mac.ts";

export type ZoneCipher = "tdes" | "aes";
export type ZoneKey = { readonly cipher: ZoneCipher; readonly key: string };

export const zoneKeyBytes = { tdes: [16, 24], aes: [16, 24, 32] } as const;

type WrappedKey = {
  readonly key: string;
  readonly cipher: ZoneCipher;
  /**
   * The use of the key in two characters, such as `M3`. Undefined for a cryptogram, which does not
   * state it.
   */
  readonly usage: string | undefined;
  /** The text after the key in its field: its check value, unless the key authenticates itself. */
  readonly rest: string;
};

/** The reason why a text is no key of this zone. It never quotes the text. */
export class KeyFault {
  readonly reason: "malformed" | "not_authentic" | "unsupported";

  constructor(reason: KeyFault["reason"]) {
    this.reason = reason;
  }
}

export function unwrapKey(text: string, zone: ZoneKey): WrappedKey | KeyFault {
  // The header of a block for codes has letters that no cryptogram has, because its usage begins
  // with M.
  const isBlock = /^[A-Z]\d{4}/.test(text) && !/^[0-9A-F]+$/i.test(text.slice(0, headerLength));
  return isBlock ? openBlock(text, zone) : openCryptogram(text, zone);
}

/** Opens a cryptogram of a key with two halves, which all hosts that send cryptograms use. */
function openCryptogram(text: string, { cipher, key }: ZoneKey): WrappedKey | KeyFault {
  if (cipher !== "tdes") return new KeyFault("unsupported");
  if (!/^[0-9A-Fa-f]{32}/.test(text)) return new KeyFault("malformed");
  const wrapped = Buffer.from(text.slice(0, 32), "hex");
  const clear = apply(createDecipheriv("des-ede3-ecb", tripled(key), null), wrapped);
  return { key: hexOf(clear), cipher: "tdes", usage: undefined, rest: text.slice(32) };
}

export function wrapCryptogram(key: string, zone: string): string {
  return hexOf(apply(createCipheriv("des-ede3-ecb", tripled(zone), null), Buffer.from(key, "hex")));
}

/**
 * The versions of key blocks. `cipher` is that of the zone key, and `mac` is the number of bytes of
 * the code at the end of the block.
 */
const versions = {
  B: { cipher: "tdes", mac: 8, mode: "des-ede3-cbc" },
  D: { cipher: "aes", mac: 16, mode: "aes" },
} as const;

type Version = keyof typeof versions;

const headerLength = 16;

function openBlock(text: string, zone: ZoneKey): WrappedKey | KeyFault {
  const version = text[0] as Version;
  const row = versions[version];
  if (row === undefined || row.cipher !== zone.cipher) return new KeyFault("unsupported");
  const length = Number(text.slice(1, 5));
  const block = text.slice(0, length);
  const headerEnd = headerEndOf(block);
  const bodyEnd = length - row.mac * 2;
  const isHex = /^[0-9A-Fa-f]+$/.test(block.slice(headerEnd));
  if (block.length !== length || headerEnd === undefined || bodyEnd <= headerEnd || !isHex) {
    return new KeyFault("malformed");
  }
  const header = block.slice(0, headerEnd);
  const body = Buffer.from(block.slice(headerEnd, bodyEnd), "hex");
  const code = Buffer.from(block.slice(bodyEnd), "hex");
  if (body.length % row.mac !== 0) return new KeyFault("malformed");
  const { encryption, authentication } = deriveKeys(zone);
  const mode = modeOf(version, encryption);
  const clear = apply(createDecipheriv(mode, encryption, code), body);
  const own = authentication(Buffer.concat([Buffer.from(header), clear]));
  if (!timingSafeEqual(own, code)) return new KeyFault("not_authentic");
  const bytes = clear.readUInt16BE() / 8;
  if (!Number.isInteger(bytes) || bytes + 2 > clear.length) return new KeyFault("malformed");
  const cipher = ({ T: "tdes", A: "aes" } as const)[header[7] ?? ""];
  if (cipher === undefined) return new KeyFault("unsupported");
  const key = hexOf(clear.subarray(2, 2 + bytes));
  return { key, cipher, usage: header.slice(5, 7), rest: text.slice(length) };
}

/**
 * Returns the position after the optional blocks, each of which has an id and a length of two
 * characters.
 */
function headerEndOf(block: string): number | undefined {
  const count = Number(block.slice(12, 14));
  let at = headerLength;
  for (let each = 0; each < count; each += 1) {
    const length = Number.parseInt(block.slice(at + 2, at + 4), 16);
    // A length of 00 announces a longer one, which no key of the gateway has.
    if (!(length >= 4)) return undefined;
    at += length;
  }
  return at <= block.length ? at : undefined;
}

type BlockOptions = {
  /** The use in two characters: M3 for a retail code, M6 for a CMAC. */
  readonly usage: string;
  readonly cipher: ZoneCipher;
  readonly random: (bytes: number) => Uint8Array;
};

export function wrapBlock(key: string, zone: ZoneKey, options: BlockOptions): string {
  const version: Version = zone.cipher === "aes" ? "D" : "B";
  const { mac } = versions[version];
  const bytes = Buffer.from(key, "hex");
  const used = 2 + bytes.length;
  const clear = Buffer.alloc(Math.ceil(used / mac) * mac);
  clear.writeUInt16BE(bytes.length * 8);
  clear.set(bytes, 2);
  clear.set(options.random(clear.length - used), used);
  const length = String(headerLength + (clear.length + mac) * 2).padStart(4, "0");
  const algorithm = options.cipher === "aes" ? "A" : "T";
  const header = `${version}${length}${options.usage}${algorithm}C00N0000`;
  const { encryption, authentication } = deriveKeys(zone);
  const code = authentication(Buffer.concat([Buffer.from(header), clear]));
  const body = apply(createCipheriv(modeOf(version, encryption), encryption, code), clear);
  return header + hexOf(body) + hexOf(code);
}

/** Returns six digits, as for the keys that it delivers. */
export function checkValueOfZoneKey(cipher: ZoneCipher, key: string): string {
  if (cipher === "aes") return checkValueOf("cmac", key);
  const zeros = Buffer.alloc(8);
  return hexOf(apply(createCipheriv("des-ede3-ecb", tripled(key), null), zeros)).slice(0, 6);
}

/**
 * Derives one key to encrypt and one to authenticate, by CMAC over a counter and the use of the
 * key.
 */
function deriveKeys({ cipher, key }: ZoneKey) {
  const own = Buffer.from(key, "hex");
  const derive = makeCmac(cipher, own);
  const blockBytes = cipher === "aes" ? 16 : 8;
  const algorithm = (cipher === "aes" ? 2 : 0) + (own.length - 16) / 8;
  const [encryption, authenticating] = [0, 1].map((usage) => {
    const parts: Buffer[] = [];
    for (let counter = 1; (counter - 1) * blockBytes < own.length; counter += 1) {
      const length = own.length * 8;
      parts.push(derive(Buffer.from([counter, 0, usage, 0, 0, algorithm, length >> 8, length])));
    }
    return Buffer.concat(parts).subarray(0, own.length);
  }) as [Buffer, Buffer];
  return {
    encryption: cipher === "aes" ? encryption : tripled(hexOf(encryption)),
    authentication: makeCmac(cipher, authenticating),
  };
}

function modeOf(version: Version, key: Buffer): string {
  return version === "D" ? `aes-${key.length * 8}-cbc` : versions[version].mode;
}

/** Returns a key of three parts. If there are two, the first is also the third. */
function tripled(key: string): Buffer {
  const bytes = Buffer.from(key, "hex");
  return bytes.length === 24 ? bytes : Buffer.concat([bytes, bytes.subarray(0, 8)]);
}

type Cipher = ReturnType<typeof createCipheriv> | ReturnType<typeof createDecipheriv>;

function apply(cipher: Cipher, data: Uint8Array): Buffer {
  cipher.setAutoPadding(false);
  return Buffer.concat([cipher.update(data), cipher.final()]);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex").toUpperCase();
}
