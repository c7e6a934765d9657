/**
 * The percent encoding of RFC 5849, section 3.6: everything but the unreserved characters, in upper
 * case. `encodeURIComponent` leaves five more characters as they are.
 */
import { Buffer } from "node:buffer";

/** Byte by byte into one buffer: strangers may send a million characters that need an escape. */
export function encodePercent(text: string): string {
  if (unreserved.test(text)) return text;
  const bytes = Buffer.from(text);
  const encoded = Buffer.allocUnsafe(bytes.length * 3);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isUnreserved[byte] === 1) {
      encoded[length++] = byte;
    } else {
      encoded[length++] = percentSign;
      encoded[length++] = hexDigits[byte >> 4] ?? 0;
      encoded[length++] = hexDigits[byte & 15] ?? 0;
    }
  }
  return encoded.toString("latin1", 0, length);
}

const unreserved = /^[A-Za-z0-9\-._~]*$/;
const percentSign = 0x25;
const hexDigits = Buffer.from("0123456789ABCDEF");
const isUnreserved = Uint8Array.from({ length: 256 }, (_, byte) =>
  unreserved.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Nothing when the text holds other characters than it may, or is not UTF-8. */
export function decodePercent(text: string): string | undefined {
  return /^(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})*$/.test(text) ? decodeText(text) : undefined;
}

/** As in a query, where `+` is a space and most characters may stand for themselves. */
export function decodeQueryPart(text: string): string | undefined {
  return decodeText(text.replaceAll("+", " "));
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
