/**
 * XML as far as these messages need it: elements, attributes and text. Document types, entities,
 * comments, CDATA and processing instructions are refused, because each of them lets two readers
 * see two messages in the same bytes.
 */
import { ThreeDsFault } from "./threeds-fault.ts";

export type XmlElement = {
  /** With its prefix, if it has one. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Blank if there are children: text and elements are never mixed. */
  readonly text: string;
  /** The element exactly as it is in the source. */
  readonly source: string;
};

const depthMax = 16;
const name = "[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?";

const declaration = /\uFEFF?<\?xml[ \t\r\n]+version[ \t\r\n]*=[^<>?]*\?>/y;
const tagStart = new RegExp(`<(${name})`, "y");
const attribute = new RegExp(
  `[ \\t\\r\\n]+(${name})[ \\t\\r\\n]*=[ \\t\\r\\n]*(?:"([^"<]*)"|'([^'<]*)')`,
  "y",
);
const tagEnd = /[ \t\r\n]*(\/?)>/y;
const closingTag = new RegExp(`</(${name})[ \\t\\r\\n]*>`, "y");
const characters = /[^<]+/y;

/** What XML 1.0 excludes, also as a character reference. */
const notXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

export function parseXml(xml: string): XmlElement | ThreeDsFault {
  if (notXml.test(xml)) return malformed;
  const scanner: Scanner = { xml, at: 0, open: [], root: undefined };
  take(scanner, declaration);
  while (scanner.at < xml.length) {
    const fault = step(scanner);
    if (fault !== undefined) return fault;
  }
  return scanner.open.length > 0 || scanner.root === undefined ? malformed : scanner.root;
}

export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

/** As canonical XML wants it, so that all we write already has the form that gets signed. */
export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => escapes[character] ?? character);
}

const malformed = new ThreeDsFault("malformed_xml");

type Scanner = {
  readonly xml: string;
  at: number;
  /** From the root down to the element whose content comes next. */
  readonly open: OpenElement[];
  root: XmlElement | undefined;
};

type OpenElement = Pick<XmlElement, "name" | "attributes"> & {
  readonly children: XmlElement[];
  readonly start: number;
  text: string;
};

function step(scanner: Scanner): ThreeDsFault | undefined {
  const { xml, at } = scanner;
  if (xml[at] !== "<") return addText(scanner);
  if (xml[at + 1] === "!" || xml[at + 1] === "?") return new ThreeDsFault("forbidden_xml");
  return xml[at + 1] === "/" ? closeElement(scanner) : openElement(scanner);
}

function addText(scanner: Scanner): ThreeDsFault | undefined {
  const raw = take(scanner, characters)?.[0] ?? "";
  const parent = scanner.open.at(-1);
  if (parent === undefined) return isBlank(raw) ? undefined : malformed;
  if (raw.includes("]]>")) return malformed;
  const text = resolveReferences(raw);
  if (text === undefined) return new ThreeDsFault("forbidden_xml");
  parent.text += text;
  return undefined;
}

function openElement(scanner: Scanner): ThreeDsFault | undefined {
  const start = scanner.at;
  const opening = take(scanner, tagStart);
  if (opening === undefined || scanner.root !== undefined) return malformed;
  if (scanner.open.length >= depthMax) return malformed;

  const attributes = takeAttributes(scanner);
  if (attributes instanceof ThreeDsFault) return attributes;
  const ending = take(scanner, tagEnd);
  if (ending === undefined) return malformed;

  scanner.open.push({ name: opening[1] ?? "", attributes, children: [], start, text: "" });
  return ending[1] === "/" ? finishElement(scanner) : undefined;
}

function takeAttributes(scanner: Scanner): ReadonlyMap<string, string> | ThreeDsFault {
  const attributes = new Map<string, string>();
  for (;;) {
    const match = take(scanner, attribute);
    if (match === undefined) return attributes;
    const [, key = "", quoted, single = ""] = match;
    const value = resolveReferences(quoted ?? single);
    if (value === undefined) return new ThreeDsFault("forbidden_xml");
    if (attributes.has(key)) return malformed;
    attributes.set(key, value);
  }
}

function closeElement(scanner: Scanner): ThreeDsFault | undefined {
  const closing = take(scanner, closingTag);
  if (closing === undefined || closing[1] !== scanner.open.at(-1)?.name) return malformed;
  return finishElement(scanner);
}

function finishElement(scanner: Scanner): ThreeDsFault | undefined {
  const finished = scanner.open.pop();
  if (finished === undefined) return malformed;
  const { start, ...rest } = finished;
  if (rest.children.length > 0 && !isBlank(rest.text)) return malformed;
  const element: XmlElement = { ...rest, source: scanner.xml.slice(start, scanner.at) };
  const parent = scanner.open.at(-1);
  if (parent === undefined) scanner.root = element;
  else parent.children.push(element);
  return undefined;
}

function take(scanner: Scanner, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = scanner.at;
  const match = pattern.exec(scanner.xml);
  if (match === null) return undefined;
  scanner.at = pattern.lastIndex;
  return match;
}

// biome-ignore format: a table
const escapes: Readonly<Record<string, string>> = {
  "&":  "&amp;",
  "<":  "&lt;",
  ">":  "&gt;",
  "\r": "&#xD;",
};

const predefined = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** Undefined for a reference to anything but a character. */
function resolveReferences(text: string): string | undefined {
  let known = true;
  const resolved = text.replace(/&([^&;]{0,10});?/g, (reference, name: string) => {
    const character = reference.endsWith(";") ? characterOf(name) : undefined;
    if (character === undefined) known = false;
    return character ?? "";
  });
  return known && !notXml.test(resolved) ? resolved : undefined;
}

function characterOf(name: string): string | undefined {
  const numeric = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (numeric === null) return predefined.get(name);
  const [, hexadecimal, decimal = ""] = numeric;
  const point = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
