/**
 * Reads and writes every message: the root, `Message` with its id, then the elements of the
 * message's table. Readers accept elements in any order; writers keep the order of the table, and
 * throw for a value that does not fit it, without the value in the error.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { deflateSync, inflateRawSync, inflateSync } from "node:zlib";
import { describeElements } from "../shared/masked.ts";
import {
  identifier,
  type MessageKind,
  type MessageOf,
  type PaRes,
  type PaResMessage,
  type Row,
  type Rows,
  ThreeDsFault,
  tables,
  type VeRes,
} from "./messages.ts";
import { escapeText, isBlank, isDeclaration, parseXml, type XmlElement } from "./xml.ts";

const version = "1.0.2";

export function readXml<Kind extends MessageKind>(
  kind: Kind,
  xml: string,
): MessageOf<Kind> | ThreeDsFault {
  const envelope = openEnvelope(xml);
  if (envelope instanceof ThreeDsFault) return envelope;
  const { messageId, message } = envelope;
  if (envelope.kind !== kind) return new ThreeDsFault("other_message");
  if (message.attributes.size > 0) return new ThreeDsFault("malformed_element", kind);
  const tree = readContent(kind, message);
  // The table and the type are equal, so the type holds.
  return tree instanceof ThreeDsFault
    ? tree
    : ({ messageId, ...tree } as unknown as MessageOf<Kind>);
}

export function writeXml<Kind extends MessageKind>(kind: Kind, message: MessageOf<Kind>): string {
  return writeEnvelope(message.messageId, writeElement(kind, message));
}

/**
 * Returns the kind of a message, which selects the reader: an endpoint accepts several kinds, and
 * any answer may be an `Error`.
 */
export function findMessageKind(xml: string): MessageKind | ThreeDsFault {
  const envelope = openEnvelope(xml);
  return envelope instanceof ThreeDsFault ? envelope : envelope.kind;
}

export function readPaResElement(element: XmlElement): PaRes | ThreeDsFault {
  const id = readId(element, "PARes");
  if (id instanceof ThreeDsFault) return id;
  const tree = readContent("PARes", element);
  // The table and the type are equal, so the type holds.
  return tree instanceof ThreeDsFault ? tree : ({ id, ...tree } as unknown as PaRes);
}

export function writePaResElement(paRes: PaResMessage): string {
  if (paRes.id === paRes.messageId) assert.fail("PARes/id is the id of Message too");
  return writeElement("PARes", paRes, ` id="${checkIdentifier(paRes.id, "PARes")}"`);
}

export type Envelope = Exclude<ReturnType<typeof openEnvelope>, ThreeDsFault>;

/**
 * Opens the envelope. `followers` are the elements after the message inside `Message`, where a
 * PARes may have its signature.
 */
export function openEnvelope(xml: string) {
  const root = parseXml(xml);
  if (root instanceof ThreeDsFault) return root;
  if (root.name !== "ThreeDSecure") return new ThreeDsFault("other_root");

  const [wrapper, ...others] = root.children;
  if (wrapper === undefined) return new ThreeDsFault("missing_element", "Message");
  if (wrapper.name !== "Message") return new ThreeDsFault("other_message");
  if (others.length > 0) return new ThreeDsFault("repeated_element", "Message");
  const messageId = readId(wrapper, "Message");
  if (messageId instanceof ThreeDsFault) return messageId;

  const [message, ...followers] = wrapper.children;
  const kind = message?.name;
  if (message === undefined || !isKind(kind)) return new ThreeDsFault("other_message");
  if (kind !== "PARes" && followers.length > 0) return new ThreeDsFault("repeated_element", kind);
  return { messageId, kind, root, wrapper, message, followers };
}

/**
 * Reads the id of `Message` or `PARes`, which only have namespace declarations as other attributes.
 */
export function readId(element: XmlElement, place: string): string | ThreeDsFault {
  const id = element.attributes.get("id");
  if (id === undefined) return new ThreeDsFault("missing_element", `${place}/id`);
  if (!identifier.test(id)) return new ThreeDsFault("malformed_element", `${place}/id`);
  const isKnown = (key: string) => key === "id" || isDeclaration(key);
  const known = [...element.attributes.keys()].every(isKnown);
  return known ? id : new ThreeDsFault("malformed_element", place);
}

export function writeEnvelope(messageId: string, content: string): string {
  const id = checkIdentifier(messageId, "Message");
  const message = `<Message id="${id}">${content}</Message>`;
  return `<?xml version="1.0" encoding="UTF-8"?><ThreeDSecure>${message}</ThreeDSecure>`;
}

/** Finds a missing element: an enrolled card needs an account id and the URL of the ACS. */
function findMissingElement(kind: MessageKind, message: object): string | undefined {
  if (kind !== "VERes") return undefined;
  // The tables have been checked, so the type holds.
  const { ch, url } = message as VeRes;
  if (ch.enrolled !== "Y") return undefined;
  if (ch.acctId === undefined) return "VERes/CH/acctID";
  return url === undefined ? "VERes/url" : undefined;
}

function readContent(kind: MessageKind, message: XmlElement): Tree | ThreeDsFault {
  const named = (name: string) => message.children.filter((child) => child.name === name);
  if (named("Extension").some(({ attributes }) => attributes.get("critical") !== "false")) {
    return new ThreeDsFault("unknown_critical_extension", `${kind}/Extension`);
  }
  const place = `${kind}/version`;
  const [first, second] = named("version");
  if (first === undefined) return new ThreeDsFault("missing_element", place);
  if (second !== undefined) return new ThreeDsFault("repeated_element", place);
  if (first.text !== version) return new ThreeDsFault("other_version", place);
  const elements = message.children.filter(({ name }) => !/^(version|Extension)$/.test(name));
  const tree = readRows(tables[kind], elements, kind);
  if (tree instanceof ThreeDsFault) return tree;
  const missing = findMissingElement(kind, tree);
  return missing === undefined ? tree : new ThreeDsFault("missing_element", missing);
}

function writeElement(kind: MessageKind, message: object, attribute = ""): string {
  // Any message is a tree of texts, and only the members that the table names are read.
  const rows = writeRows(tables[kind], message as Tree, kind);
  const missing = findMissingElement(kind, message);
  if (missing !== undefined) assert.fail(`${missing} is missing`);
  return `<${kind}${attribute}><version>${version}</version>${rows}</${kind}>`;
}

type Value = string | Tree | readonly Value[];
type Tree = { readonly [field: string]: Value };

/** Reads rows. The places in faults consist of the table's own names. */
function readRows(rows: Rows, elements: readonly XmlElement[], path: string): Tree | ThreeDsFault {
  const names = new Set(rows.map(([element]) => element));
  if (elements.some(({ name }) => !names.has(name))) {
    return new ThreeDsFault("unknown_element", path);
  }
  const tree: Record<string, Value> = {};
  for (const [name, field, times, content] of rows) {
    const place = `${path}/${name}`;
    const values: Value[] = [];
    for (const element of elements.filter((each) => each.name === name)) {
      const value = readValue(content, element, place);
      if (value instanceof ThreeDsFault) return value;
      values.push(value);
    }
    const [value, second] = values;
    if (times === "many") tree[field] = values;
    else if (second !== undefined) return new ThreeDsFault("repeated_element", place);
    else if (value !== undefined) tree[field] = value;
    else if (times === "one") return new ThreeDsFault("missing_element", place);
  }
  return tree;
}

function readValue(
  content: Row[3],
  { attributes, children, text }: XmlElement,
  place: string,
): Value | ThreeDsFault {
  const isText = content instanceof RegExp;
  const fits = isText
    ? children.length === 0 && content.test(text)
    : children.length > 0 || isBlank(text);
  if (attributes.size > 0 || !fits) return new ThreeDsFault("malformed_element", place);
  return isText ? text : readRows(content, children, place);
}

function writeRows(rows: Rows, tree: Tree, path: string): string {
  return rows
    .map(([name, field, times, content]) => {
      const place = `${path}/${name}`;
      const value = tree[field];
      if (times === "many") {
        if (!Array.isArray(value)) assert.fail(`${place} is not a list`);
        return value.map((item: Value) => writeValue(name, content, item, place)).join("");
      }
      if (value === undefined && times === "one") assert.fail(`${place} is missing`);
      return value === undefined ? "" : writeValue(name, content, value, place);
    })
    .join("");
}

function writeValue(name: string, content: Row[3], value: Value, place: string): string {
  if (content instanceof RegExp) {
    if (typeof value !== "string" || !content.test(value)) assert.fail(`${place} does not fit`);
    return `<${name}>${escapeText(value)}</${name}>`;
  }
  if (typeof value !== "object" || Array.isArray(value)) assert.fail(`${place} has no elements`);
  return `<${name}>${writeRows(content, value as Tree, place)}</${name}>`;
}

function checkIdentifier(id: string, place: string): string {
  if (!identifier.test(id)) assert.fail(`${place}/id does not fit`);
  return id;
}

function isKind(name: string | undefined): name is MessageKind {
  return name !== undefined && Object.hasOwn(tables, name);
}

const maxBytesDefault = 64 * 1024;

/** Packs PAReq and PARes for form fields: XML, zlib stream, base64. */
export function packPa(xml: string): string {
  return deflateSync(Buffer.from(xml, "utf8")).toString("base64");
}

/**
 * Unpacks a form field. It is tolerant, because the value has passed a browser, two form codecs and
 * often a mail-style line breaker. `maxBytes` limits the XML, and nothing beyond it is ever
 * inflated.
 */
export function unpackPa(
  text: string,
  { maxBytes = maxBytesDefault }: { readonly maxBytes?: number } = {},
): string | ThreeDsFault {
  // Base64 of the XML itself would be shorter, so this text is not a compression of it.
  if (text.length > 2 * maxBytes + 64) return new ThreeDsFault("too_large");
  // Form decoding turns a bare plus into a space, and base64 has no other spaces. Spaces at the end
  // may be missing, because form readers trim.
  const read = text.replace(/[\r\n\t]/g, "").replaceAll(" ", "+");
  const base64 = read.padEnd(4 * Math.ceil(read.length / 4), "+");
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

/**
 * Returns whether the bytes are a zlib stream. Some ACSs wrote raw deflate, whose first byte never
 * looks like the header of a zlib stream.
 */
function startsZlib(bytes: Buffer): boolean {
  const [method = 0, flags = 0] = bytes;
  return (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0;
}

export function describeXml(message: object): Record<string, string> {
  return describeElements(message, harmless);
}

/** Encodes a message again from its description, for people only: no reader would accept it. */
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
      return value === undefined
        ? []
        : [`${indent}<${element}>${escapeMarkup(value)}</${element}>`];
    });
  }
}

function escapeMarkup(text: string): string {
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
