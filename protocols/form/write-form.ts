/**
 * Writes application/x-www-form-urlencoded (WHATWG URL Standard, section 5.2), except that `~` is
 * left as it is. Half a surrogate pair, which UTF-8 cannot carry, is written as U+FFFD.
 */
import { Buffer } from "node:buffer";
import type { FormPair } from "./parse-form.ts";

/** `lineFeeds` ends every value, the last one too, with a line feed that is not escaped. */
export function writeForm(
  pairs: Iterable<FormPair>,
  options: { readonly lineFeeds?: boolean } = {},
): string {
  const valueEnd = options.lineFeeds === true ? "\n" : "";
  let form = "";
  let separator = "";
  for (const [name, value] of pairs) {
    form += `${separator}${escapeText(name)}=${escapeText(value)}${valueEnd}`;
    separator = "&";
  }
  return form;
}

function escapeText(text: string): string {
  if (unreserved.test(text)) return text;
  let escaped = "";
  for (const byte of Buffer.from(text)) escaped += escapes[byte];
  return escaped;
}

const unreserved = /^[A-Za-z0-9\-_.~*]*$/;

const escapes = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (character === " ") return "+";
  if (unreserved.test(character)) return character;
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
});
