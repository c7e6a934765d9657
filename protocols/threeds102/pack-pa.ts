/**
 * PAReq and PARes as form fields: XML, zlib stream, base64. The reader is tolerant, because the
 * value has passed a browser, two form codecs and often a mail-style line breaker.
 */
import { Buffer } from "node:buffer";
import { deflateSync, inflateRawSync, inflateSync } from "node:zlib";
import { ThreeDsFault } from "./threeds-fault.ts";

const maxBytesDefault = 64 * 1024;

export function packPa(xml: string): string {
  return deflateSync(Buffer.from(xml, "utf8")).toString("base64");
}

/** `maxBytes` is of the XML; nothing beyond it is ever inflated. */
export function unpackPa(
  text: string,
  { maxBytes = maxBytesDefault }: { readonly maxBytes?: number } = {},
): string | ThreeDsFault {
  // Base64 of the XML itself would be shorter, so this is no compression of it.
  if (text.length > 2 * maxBytes + 64) return new ThreeDsFault("too_large");
  // Form decoding turns a bare plus into a space; base64 has no other spaces.
  const base64 = text.replace(/[\r\n\t]/g, "").replaceAll(" ", "+");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) {
    return new ThreeDsFault("malformed_encoding");
  }
  const bytes = Buffer.from(base64, "base64");
  const inflate = startsZlib(bytes) ? inflateSync : inflateRawSync;
  try {
    const inflated = inflate(bytes, { maxOutputLength: maxBytes });
    return new TextDecoder("utf-8", { fatal: true }).decode(inflated);
  } catch (error) {
    return new ThreeDsFault(error instanceof RangeError ? "too_large" : "malformed_encoding");
  }
}

/** Some ACSs wrote raw deflate; its first byte never looks like the header of a zlib stream. */
function startsZlib(bytes: Buffer): boolean {
  const [method = 0, flags = 0] = bytes;
  return (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0;
}
