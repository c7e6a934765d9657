/**
 * Replies as they come off the wire: name=value pairs, with or without a line feed after each
 * value, and with the operator's own word in two names, which are read as `gw-…`.
 */
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { ReplyFields } from "./call.ts";
import { Refused } from "./errors.ts";
import { wordNames } from "./operations.generated.ts";

export type RawReply = { readonly httpStatus: number; readonly bytes: Uint8Array };

/** Nothing when the bytes are no reply of the gateway. */
export function readReply(reply: RawReply, fieldWord: string): ReplyFields | Refused | undefined {
  const fields = readFields(reply.bytes, fieldWord);
  const type = fields?.["type"];
  if (fields === undefined || type === undefined) return undefined;
  if (type !== "validation-error" && type !== "error") return fields;
  const code = fields["error-code"] ?? "";
  if (!/^\d{1,9}$/.test(code)) return undefined;
  return new Refused({
    type,
    code: Number(code),
    message: fields["error-message"] ?? "",
    serialNumber: fields["serial-number"],
    httpStatus: reply.httpStatus,
  });
}

function readFields(bytes: Uint8Array, fieldWord: string): ReplyFields | undefined {
  // Line feeds inside a value are escaped; a bare one only ends a value.
  const form = parseForm(bytes.filter((byte) => byte !== lineFeed && byte !== carriageReturn));
  if (form instanceof FormFault) return undefined;
  const neutral = new Map(wordNames.map((name) => [name.replace("gw", fieldWord), name]));
  return Object.fromEntries(form.pairs.map(([name, value]) => [neutral.get(name) ?? name, value]));
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
