/** A message of 1.0.2 for people: see `describeElements`. */
import { describeElements } from "../shared/masked.ts";
import { type MessageKind, type Rows, tables } from "./messages.ts";

export function describeXml(message: object): Record<string, string> {
  return describeElements(message, harmless);
}

/** The message encoded anew from its description, for people: no reader would take it. */
export function writeDescribed(
  type: string,
  fields: Readonly<Record<string, string>>,
): string | undefined {
  if (!Object.hasOwn(tables, type)) return undefined;
  const lines = linesOf(tables[type as MessageKind], "", 1);
  return [`<${type}>`, ...lines, `</${type}>`].join("\n");

  function linesOf(rows: Rows, path: string, depth: number): readonly string[] {
    const indent = "  ".repeat(depth);
    return rows.flatMap(([element, field, , content]) => {
      if (Array.isArray(content)) {
        const inner = linesOf(content, `${path}${field}.`, depth + 1);
        return inner.length === 0
          ? []
          : [`${indent}<${element}>`, ...inner, `${indent}</${element}>`];
      }
      const value = fields[path + field];
      return value === undefined ? [] : [`${indent}<${element}>${escapeText(value)}</${element}>`];
    });
  }
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const harmless = {
  shown: new Set(
    `messageId merchant.acqBin merchant.merId merchant.name merchant.country purchase.xid
    purchase.date purchase.amount purchase.purchAmount purchase.currency purchase.exponent
    ch.enrolled protocols tx.time tx.status tx.eci tx.cavvAlgorithm iReq.iReqCode
    errorCode`.split(/\s+/),
  ),
  addresses: new Set(["merchant.url", "url"]),
  cardNumbers: new Set(["pan"]),
};
