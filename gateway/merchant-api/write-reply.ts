/**
 * Replies as the wire wants them: name=value pairs, or the same keys as a JSON object of strings.
 * Absent values are left out, never sent empty.
 */
import { writeForm } from "@tollgate/protocols/form";
import { Failure, failures } from "../values/failure.ts";
import type { SerialNumber } from "../values/ids.ts";
import type { Reply } from "./operation.ts";

export type ReplyFormat = "form" | "json";
export type WireOptions = { readonly fieldWord: string; readonly lineFeeds: boolean };

const contentTypes: Readonly<Record<ReplyFormat, string>> = {
  form: "text/html;charset=utf-8",
  json: "application/json;charset=utf-8",
};

export function contentTypeOf(format: ReplyFormat): string {
  return contentTypes[format];
}

/** The request's `Accept` header decides; anything but a wish for JSON gets the form. */
export function formatFor(accept: string | undefined): ReplyFormat {
  if (accept === undefined) return "form";
  return /application\/(vnd\.pay\+)?json/i.test(accept) ? "json" : "form";
}

export function writeReply(
  answer: Reply | Failure,
  serialNumber: SerialNumber,
  format: ReplyFormat,
  wire: WireOptions,
): string {
  const pairs = pairsOf(answer, serialNumber, wire.fieldWord);
  if (format === "json") return JSON.stringify(Object.fromEntries(pairs));
  return writeForm(pairs, { lineFeeds: wire.lineFeeds });
}

/** The fixed order: type, serial number, the two order ids, then the operation's own fields. */
function pairsOf(
  answer: Reply | Failure,
  serialNumber: SerialNumber,
  fieldWord: string,
): readonly (readonly [string, string])[] {
  if (answer instanceof Failure) {
    return [
      ["type", failures[answer.code].type],
      ["serial-number", serialNumber],
      ["error-message", answer.message],
      ["error-code", String(answer.number)],
    ];
  }
  const pairs: [string, string][] = [
    ["type", answer.type],
    ["serial-number", serialNumber],
  ];
  if (answer.clientOrderId !== undefined) pairs.push(["merchant-order-id", answer.clientOrderId]);
  if (answer.orderId !== undefined) pairs.push([`${fieldWord}-order-id`, answer.orderId]);
  for (const [name, value] of answer.fields) {
    if (value === undefined || value === "") continue;
    pairs.push([name.startsWith("gw-") ? fieldWord + name.slice(2) : name, value]);
  }
  return pairs;
}
