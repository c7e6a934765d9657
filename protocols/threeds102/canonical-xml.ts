/**
 * Canonical XML 1.0 without comments, inclusive and exclusive, of one element with its content. The
 * reader of `xml.ts` refuses everything that would need more rules: entities, comments, CDATA and
 * processing instructions.
 */
import { escapeText, isDeclaration, type Namespaces, type XmlElement } from "./xml.ts";

/**
 * The exclusive form may list prefixes that are declared as in the inclusive one. An empty prefix
 * means the default namespace.
 */
export type CanonicalForm =
  | { readonly kind: "inclusive" }
  | { readonly kind: "exclusive"; readonly prefixes: readonly string[] };

/**
 * Canonicalises an element of a document without a namespace fault. The path leads from the root to
 * the element.
 */
export function canonicalize(path: readonly XmlElement[], form: CanonicalForm): string {
  const element = path.at(-1);
  if (element === undefined) return "";
  if (form.kind === "exclusive") return write(element, none, form);
  // The first element takes over what is in force around it, including attributes such as
  // `xml:lang`.
  const outer = path.flatMap(({ attributes }) => [...attributes].filter(isOfXml));
  const declared = [...element.namespaces].map(([prefix, uri]) => [nameOf(prefix), uri] as const);
  const attributes = new Map([...outer, ...declared, ...element.attributes]);
  return write({ ...element, attributes }, none, form);
}

const none: Namespaces = new Map();

function write(element: XmlElement, outer: Namespaces, form: CanonicalForm): string {
  const { name, attributes, content } = element;
  const own = attributes.size === 0 ? [] : sortAttributes(element);
  const declared = findDeclarations(element, own, outer, form);
  const inner = declared.size === 0 ? outer : new Map([...outer, ...declared]);
  let text = `<${name}`;
  for (const [prefix, uri] of declared) text += writeAttribute(nameOf(prefix), uri);
  for (const key of own) text += writeAttribute(key, attributes.get(key) ?? "");
  text += ">";
  for (const part of content) {
    text += typeof part === "string" ? escapeText(part) : write(part, inner, form);
  }
  return `${text}</${name}>`;
}

/** Returns the namespaces that the element must declare because they are not in force around it. */
function findDeclarations(
  { name, attributes, namespaces }: XmlElement,
  own: readonly string[],
  outer: Namespaces,
  form: CanonicalForm,
): Namespaces {
  const isNew = (prefix: string) => (namespaces.get(prefix) ?? "") !== (outer.get(prefix) ?? "");
  // This applies to nearly all elements, and a message may have ten thousand.
  const isPlain = attributes.size === 0 && !isNew(prefixOf(name));
  if (isPlain && !(form.kind === "exclusive" && form.prefixes.some(isNew))) return none;
  const wanted =
    form.kind === "inclusive"
      ? [...attributes.keys()].filter(isDeclaration).map((key) => key.slice(6))
      : [prefixOf(name), ...own.map(prefixOf).filter(Boolean), ...form.prefixes];
  const declared = wanted.filter(isNew).sort();
  return new Map(declared.map((prefix) => [prefix, namespaces.get(prefix) ?? ""]));
}

function writeAttribute(key: string, value: string): string {
  return ` ${key}="${escapeAttribute(value)}"`;
}

/** Returns the name of the attribute that declares the prefix. */
function nameOf(prefix: string): string {
  return prefix === "" ? "xmlns" : `xmlns:${prefix}`;
}

/** Returns whether a prefix is not declared, or an attribute occurs twice under two prefixes. */
export function hasNamespaceFault({ name, attributes, namespaces }: XmlElement): boolean {
  const isKnown = (key: string) => !key.includes(":") || namespaceOf(key, namespaces) !== "";
  if (!isKnown(name)) return true;
  if (attributes.size === 0) return false;
  const keys = [...attributes.keys()];
  const isReserved = (key: string) => key === "xmlns:xml" || key === "xmlns:xmlns";
  const isUndone = (key: string) => key.startsWith("xmlns:") && attributes.get(key) === "";
  if (keys.some((key) => isReserved(key) || isUndone(key))) return true;
  const prefixed = keys.filter((key) => key.includes(":") && !isDeclaration(key));
  const full = prefixed.map((key) => `${namespaceOf(key, namespaces)} ${localNameOf(key)}`);
  return !prefixed.every(isKnown) || new Set(full).size < full.length;
}

export function namespaceOf(name: string, namespaces: Namespaces): string {
  const prefix = prefixOf(name);
  return prefix === "xml" ? xmlNamespace : (namespaces.get(prefix) ?? "");
}

export function localNameOf(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

const xmlNamespace = "http://www.w3.org/XML/1998/namespace";

function prefixOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(":")));
}

function isOfXml([key]: readonly [key: string, value: string]): boolean {
  return key.startsWith("xml:");
}

/** Sorts the attributes without declarations. An attribute without a prefix has no namespace. */
function sortAttributes({ attributes, namespaces }: XmlElement): readonly string[] {
  const orderOf = (key: string) => (key.includes(":") ? namespaceOf(key, namespaces) : "");
  return [...attributes.keys()]
    .filter((key) => !isDeclaration(key))
    .sort(
      (left, right) =>
        compare(orderOf(left), orderOf(right)) || compare(localNameOf(left), localNameOf(right)),
    );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

const escapes = new Map(
  Object.entries({
    "&": "&amp;",
    "<": "&lt;",
    '"': "&quot;",
    "\t": "&#x9;",
    "\n": "&#xA;",
    "\r": "&#xD;",
  }),
);

function escapeAttribute(value: string): string {
  return value.replace(/[&<"\t\n\r]/g, (character) => escapes.get(character) ?? "");
}
