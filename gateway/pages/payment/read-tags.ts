/**
 * Reads the tags of an HTML document as browsers do: attributes in any quotes or in none, behind
 * blanks or slashes, the first of a name. It does not know that the content of some elements is
 * text, as that of a title: a `<` begins a tag everywhere, so that no tag of a browser is missed.
 */
export type Tag = {
  readonly source: string;
  /** In lower case, with a slash before it in an end tag; empty for all that is no whole tag. */
  readonly name: string;
  /** In lower case, with values as they are written: character references are not replaced. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Up to the next tag. */
  readonly text: string;
};

export function readTags(document: string): readonly Tag[] {
  const tags: Tag[] = [];
  let at = document.indexOf("<");
  while (at !== -1) {
    const { name, attributes, end } = readTag(document, at);
    const next = document.indexOf("<", end);
    const text = document.slice(end, next === -1 ? undefined : next);
    tags.push({ source: document.slice(at, end), name, attributes, text });
    at = next;
  }
  return tags;
}

const tagStart = /<(\/?[a-z][^\t\n\f\r />]*)/iy;
/** Without a name where the tag or the document ends. */
const attributeName = /[\t\n\f\r /]*(=?[^\t\n\f\r />=]*)[\t\n\f\r ]*/y;
const attributeValue = /=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >]*))/y;

function readTag(document: string, start: number) {
  const attributes = new Map<string, string>();
  const [opening, name = ""] = execAt(tagStart, document, start);
  // A comment, a declaration, or a stray character.
  if (opening === undefined) return { name: "", attributes, end: endAfter(document, start) };
  let at = start + opening.length;
  for (;;) {
    const [named = "", attribute = ""] = execAt(attributeName, document, at);
    at += named.length;
    if (attribute === "") break;
    const [valued = "", ...values] = execAt(attributeValue, document, at);
    at += valued.length;
    const key = attribute.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, values.find(Boolean) ?? "");
  }
  const isWhole = document[at] === ">";
  return { name: isWhole ? name.toLowerCase() : "", attributes, end: isWhole ? at + 1 : at };
}

function execAt(form: RegExp, document: string, at: number): readonly string[] {
  form.lastIndex = at;
  return form.exec(document) ?? [];
}

function endAfter(document: string, start: number): number {
  const end = document.indexOf(">", start);
  return end === -1 ? document.length : end + 1;
}
