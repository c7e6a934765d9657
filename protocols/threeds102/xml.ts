/**
 * XML as far as these messages need it: elements, attributes and text. Document types, entities,
 * comments, CDATA and processing instructions are refused, because with each of them two readers
 * can see two messages in the same bytes.
 */
import { ThreeDsFault } from "./messages.ts";

export type XmlElement = {
  /** The name with its prefix, if it has one. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text, which is blank if there are children, because text and elements are never mixed. */
  readonly text: string;
  /** The children and the text around them, in order. */
  readonly content: readonly (XmlElement | string)[];
  /**
   * The namespaces in force inside the element, by prefix. The default namespace has an empty one.
   */
  readonly namespaces: Namespaces;
};

export type Namespaces = ReadonlyMap<string, string>;

type OpenElement = Pick<XmlElement, "name" | "attributes" | "namespaces"> & {
  readonly children: XmlElement[];
  readonly content: (XmlElement | string)[];
  text: string;
};

const depthMax = 16;
/**
 * The highest number of namespaces in force at one place. Every element with a declaration has its
 * own list.
 */
const namespacesMax = 32;

const space = "[ \\t\\r\\n]";
const name = "[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?";
const value = `"[^"<]*"|'[^'<]*'`;
const attributes = `(?:${space}+${name}${space}*=${space}*(?:${value}))*`;

const declaration = /^\uFEFF?<\?xml[ \t\r\n]+version[ \t\r\n]*=[^<>?]*\?>/;
/** A tag or text. */
export const token = new RegExp(`<(/?)(${name})(${attributes})${space}*(/?)>|[^<]+`, "y");

/** Matches what XML 1.0 excludes, including character references. */
const notXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const malformed = new ThreeDsFault("malformed_xml");
const forbidden = new ThreeDsFault("forbidden_xml");

export function parseXml(source: string): XmlElement | ThreeDsFault {
  if (notXml.test(source)) return malformed;
  const xml = source.replace(/\r\n?/g, "\n");
  const document = openElement("", new Map(), new Map());
  // The open elements, from the document to the one whose content comes next.
  const open = [document];
  token.lastIndex = declaration.exec(xml)?.[0].length ?? 0;
  while (token.lastIndex < xml.length) {
    const start = token.lastIndex;
    const match = token.exec(xml);
    if (match === null) return "!?".includes(xml[start + 1] ?? "none") ? forbidden : malformed;
    const fault = match[2] === undefined ? addText(open, match[0]) : addTag(open, match);
    if (fault !== undefined) return fault;
  }
  const [root, second] = document.children;
  return root === undefined || second !== undefined || open.length > 1 ? malformed : root;
}

function addText(open: readonly OpenElement[], raw: string): ThreeDsFault | undefined {
  const parent = open.at(-1);
  const isOutside = open.length === 1;
  if (parent === undefined || raw.includes("]]>")) return malformed;
  if (isOutside) return isBlank(raw) ? undefined : malformed;
  const text = resolveReferences(raw);
  if (text === undefined) return forbidden;
  parent.text += text;
  parent.content.push(text);
  return undefined;
}

function addTag(
  open: OpenElement[],
  { 1: isClosing, 2: name = "", 3: list = "", 4: isEmpty }: RegExpExecArray,
): ThreeDsFault | undefined {
  if (isClosing) {
    if (list !== "" || isEmpty || open.at(-1)?.name !== name) return malformed;
  } else {
    const attributes = readAttributes(list);
    if (attributes instanceof ThreeDsFault) return attributes;
    if (open.length > depthMax) return malformed;
    const namespaces = declare(attributes, open.at(-1)?.namespaces ?? noAttributes);
    if (namespaces.size > namespacesMax) return forbidden;
    open.push(openElement(name, attributes, namespaces));
    if (!isEmpty) return undefined;
  }
  const finished = open.pop();
  const parent = open.at(-1);
  if (finished === undefined || parent === undefined) return malformed;
  if (finished.children.length > 0 && !isBlank(finished.text)) return malformed;
  parent.children.push(finished);
  parent.content.push(finished);
  return undefined;
}

function openElement(
  name: string,
  attributes: XmlElement["attributes"],
  namespaces: Namespaces,
): OpenElement {
  return { name, attributes, namespaces, children: [], content: [], text: "" };
}

function declare(attributes: XmlElement["attributes"], outer: Namespaces): Namespaces {
  if (attributes.size === 0) return outer;
  const declared = [...attributes].filter(([key]) => isDeclaration(key));
  if (declared.length === 0) return outer;
  return new Map([...outer, ...declared.map(([key, uri]) => [key.slice(6), uri] as const)]);
}

/** Returns whether the attribute is `xmlns` or `xmlns:prefix`. */
export function isDeclaration(key: string): boolean {
  return key === "xmlns" || key.startsWith("xmlns:");
}

const noAttributes: ReadonlyMap<string, string> = new Map();

/** Reads a list of attributes that `token` has matched. */
function readAttributes(list: string): ReadonlyMap<string, string> | ThreeDsFault {
  if (list === "") return noAttributes;
  const attributes = new Map<string, string>();
  for (const [, key = "", quoted = ""] of list.matchAll(
    /[ \t\r\n]+([^ \t\r\n=]+)[ \t\r\n]*=[ \t\r\n]*("[^"]*"|'[^']*')/gy,
  )) {
    const value = resolveReferences(quoted.slice(1, -1).replace(/[\t\n]/g, " "));
    if (value === undefined) return forbidden;
    if (attributes.has(key)) return malformed;
    attributes.set(key, value);
  }
  return attributes;
}

/** Resolves references. Returns undefined for a reference to anything other than a character. */
function resolveReferences(text: string): string | undefined {
  let known = true;
  const resolved = text.replace(/&([^&;]{0,10});?/g, (reference, name: string) => {
    const character = reference.endsWith(";") ? characterOf(name) : undefined;
    if (character === undefined) known = false;
    return character ?? "";
  });
  return known && !notXml.test(resolved) ? resolved : undefined;
}

const predefined = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

function characterOf(name: string): string | undefined {
  const [, hexadecimal, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name) ?? [];
  const digits = hexadecimal === undefined ? decimal : `0x${hexadecimal}`;
  if (digits === undefined) return predefined.get(name);
  return Number(digits) <= 0x10ffff ? String.fromCodePoint(Number(digits)) : undefined;
}

export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

const escapes = new Map(Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;" }));

/**
 * Escapes text as canonical XML demands, so that everything we write already has the form that is
 * signed.
 */
export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => escapes.get(character) ?? "");
}
