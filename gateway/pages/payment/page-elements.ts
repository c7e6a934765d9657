/**
 * Every element and attribute of the payment page, and where each may lead: `gw page watch` reads
 * the tags of a page and reports all others. The gateway writes `<` only where a tag begins, and no
 * character reference in a value that leads anywhere; a page that has one was changed.
 */
import { escapeHtml } from "../../values/html.ts";
import type { Asset, Assets } from "./assets.ts";

export type PageFacts = {
  /** The page's own address, and the folder of its files, as its links have them. */
  readonly here: string;
  readonly folder: string;
  readonly assets: Assets;
  /** The sites that may embed the page. */
  readonly embedOrigins: readonly string[];
  /** The wallets that the page may offer, which the browser asks what opens them. */
  readonly walletMethods: readonly string[];
};

const everywhere =
  "aria-describedby aria-hidden aria-invalid aria-label aria-live class dir hidden id lang role";
const field = "autocomplete data-missing data-wrong name required";
const typing = "autocapitalize inputmode maxlength minlength pattern placeholder spellcheck";
const drawing = "fill fill-opacity stroke stroke-linecap stroke-width transform";

const drawn: Readonly<Record<string, string>> = {
  svg: "focusable height viewbox width",
  symbol: "data-name viewbox",
  use: "href",
  g: drawing,
  path: `${drawing} d`,
  rect: `${drawing} height rx width x y`,
  circle: `${drawing} cx cy r`,
  text: `${drawing} font-family font-size font-weight text-anchor x y`,
};

const elements: Readonly<Record<string, string>> = {
  ...drawn,
  html: "",
  head: "",
  title: "",
  noscript: "",
  body: "",
  main: "",
  section: "",
  footer: "",
  h1: "",
  h2: "",
  span: "",
  strong: "",
  fieldset: "",
  legend: "",
  details: "",
  summary: "",
  meta: "charset content http-equiv name",
  link: "href integrity rel",
  script: "defer integrity src",
  img: "alt src",
  div: "data-failed data-total",
  p: "autofocus data-seconds tabindex",
  form: "autocomplete data-embed method",
  label: "for",
  input: `${field} ${typing} data-challenge type value`,
  select: field,
  optgroup: "data-country label",
  option: "selected value",
  button: "data-busy data-method data-request data-type type",
};

const attributesOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(elements).map(([name, own]) => [name, new Set(`${everywhere} ${own}`.split(" "))]),
);

type Values = Readonly<Record<string, string | undefined>>;
type IsOwn = (values: Values, facts: PageFacts) => boolean;

const targets: ReadonlyMap<string, IsOwn> = new Map(
  Object.entries<IsOwn>({
    script: (values, { assets, folder }) => isFile(assets.script, folder, values),
    link: (values, facts) => isOwnLink(values, facts),
    meta: (values, facts) => isOwnMeta(values, facts),
    img: ({ src = "" }) => picture.test(src),
    use: ({ href = "" }) => /^#mark-\w+$/.test(href),
    form: ({ method, "data-embed": origins = "" }, { embedOrigins }) =>
      method === "post" && areSameWords(origins, embedOrigins.join(" ")),
    button: ({ "data-method": method }, { walletMethods }) =>
      method === undefined || walletMethods.map(escapeHtml).includes(method),
  }),
);

export function isKnownTag(tag: Tag, facts: PageFacts): boolean {
  const { source, name, attributes, text } = tag;
  if (source.lastIndexOf("<") > 0) return false;
  if (name === "") return source === "<!doctype html>" || /^<!--[^<>]*-->$/.test(source);
  if (name.startsWith("/")) return attributesOf.has(name.slice(1)) && attributes.size === 0;
  const known = attributesOf.get(name);
  if (known === undefined || !attributes.keys().every((each) => known.has(each))) return false;
  if (name === "script" && text.trim() !== "") return false;
  if (name in drawn && !attributes.values().every((value) => shape.test(value))) return false;
  return targets.get(name)?.(Object.fromEntries(attributes), facts) ?? true;
}

/** The style sheet or the script that the tag loads, if it is one of the page's. */
export function findLoaded(tag: Tag, facts: PageFacts): Asset | undefined {
  const loads = tag.name === "script" || tag.attributes.get("rel") === "stylesheet";
  if (!loads || !isKnownTag(tag, facts)) return undefined;
  return tag.name === "script" ? facts.assets.script : styleOf(tag.attributes.get("href"), facts);
}

/** Without colons and slashes it leads nowhere. */
const shape = /^[-#\w\s.,()]*$/;
const picture = /^data:image\/(?:png|svg\+xml)(?:;base64)?,[\w%.!~*()+/=-]+$/;

function isOwnLink(values: Values, facts: PageFacts): boolean {
  const { rel, href = "", integrity } = values;
  if (rel === "icon") return picture.test(href);
  const style = styleOf(href, facts);
  return rel === "stylesheet" && isFile(style, facts.folder, { src: href, integrity });
}

function styleOf(href = "", { assets, folder }: PageFacts): Asset | undefined {
  const found = assets.find(href.slice(folder.length));
  return found?.type === "text/css" ? found : undefined;
}

function isFile(asset: Asset | undefined, folder: string, { src, integrity }: Values): boolean {
  return asset !== undefined && src === folder + asset.name && integrity === asset.integrity;
}

/** A page that expires is loaded again by browsers without scripts. */
function isOwnMeta(values: Values, { here }: PageFacts): boolean {
  const { charset = "utf-8", name = "robots", content = "", "http-equiv": effect } = values;
  const [, address] = /^\d{1,9};url=(.*)$/.exec(content) ?? [];
  if (effect !== undefined && (effect !== "refresh" || address !== here)) return false;
  return charset === "utf-8" && ["viewport", "color-scheme", "robots"].includes(name);
}

export function areSameWords(left: string, right: string): boolean {
  const sorted = (text: string) => text.split(" ").toSorted().join(" ");
  return sorted(left) === sorted(right);
}

type Tag = {
  readonly source: string;
  /** In lower case, with a slash before it in an end tag; empty for all that is no whole tag. */
  readonly name: string;
  /** In lower case, with values as they are written: character references are not replaced. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Up to the next tag. */
  readonly text: string;
};

/**
 * Reads the tags of an HTML document as browsers do: attributes in any quotes or in none, behind
 * blanks or slashes, the first of a name. It does not know that the content of some elements is
 * text, as that of a title: a `<` begins a tag everywhere, so that no tag of a browser is missed.
 */
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
