/**
 * Forms, digests and base64 with Web Crypto and the text codecs, which every runtime has. No file
 * of the client needs Node, so the client also runs in edge handlers.
 */

export type Pair = readonly [name: string, value: string];

const encoder = new TextEncoder();
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/**
 * Encodes every character except the unreserved ones of RFC 3986. `encodeURIComponent` leaves five
 * more.
 */
export function encodePercent(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function writeForm(pairs: readonly Pair[]): string {
  const written = pairs.map((pair) => pair.map(encodePercent).join("="));
  return written.join("&").replaceAll("%20", "+");
}

/** Returns undefined if an escape is broken, or if the text is not UTF-8. */
export function readForm(bytes: Uint8Array): readonly Pair[] | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const parts = text.split("&").filter((part) => part !== "");
    return parts.map((part) => {
      const [name = "", ...value] = part.replaceAll("+", " ").split("=");
      return [decodeURIComponent(name), decodeURIComponent(value.join("="))];
    });
  } catch {
    return undefined;
  }
}

export async function sha1Hex(text: string): Promise<string> {
  return hexOf(await crypto.subtle.digest("SHA-1", utf8(text)));
}

export async function hmacSha256(secret: Uint8Array<ArrayBuffer>, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return toBase64(await crypto.subtle.sign("HMAC", key, utf8(text)));
}

/** Compares the whole text, so that the time does not show where the texts differ. */
export function isSame(right: string, given: string): boolean {
  if (right.length !== given.length) return false;
  let difference = 0;
  for (let at = 0; at < right.length; at += 1) {
    difference |= right.charCodeAt(at) ^ given.charCodeAt(at);
  }
  return difference === 0;
}

export function hexOf(bytes: ArrayBuffer | Uint8Array): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function toBase64(bytes: ArrayBuffer | Uint8Array): string {
  return btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(""));
}

/** Returns undefined if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
