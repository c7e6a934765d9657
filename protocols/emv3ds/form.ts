/** Messages as the value of a form field, the way `creq`, `cres` and `threeDSMethodData` travel. */
import { MessageFault } from "./message-fault.ts";

const lengthMax = 1024 * 1024;

/** JSON in base64url without padding. A text is taken for JSON that is already written. */
export function packForm(content: string | object): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return Buffer.from(text, "utf8").toString("base64url");
}

/**
 * The JSON text. Both alphabets, padded or not, because senders differ; a `+` that a form turned
 * into a space is restored, and breaks between lines are dropped.
 */
export function unpackForm(text: string): string | MessageFault {
  if (text.length > lengthMax) return new MessageFault("101", [], "form value is too long");
  const packed = text
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(" ", "+")
    .replace(/={1,2}$/, "");
  const isPacked = /^[A-Za-z0-9+/_-]+$/.test(packed) && packed.length % 4 !== 1;
  if (!isPacked) return new MessageFault("101", [], "form value is not base64url");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(packed, "base64url"));
  } catch {
    return new MessageFault("101", [], "form value is not UTF-8");
  }
}
