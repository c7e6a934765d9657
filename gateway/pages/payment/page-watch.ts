/**
 * Compares a payment page, as a browser receives it, with the page that the gateway sends: a proxy,
 * a content network or an intruder may have changed headers or markup. Each part that the gateway
 * does not send is a fault. No script is run: the page's policy blocks scripts that a script would
 * load, and browsers report them.
 */
import { createHash } from "node:crypto";
import { escapeHtml } from "../../values/html.ts";
import { linkFrom } from "../cardholder/page-reply.ts";
import { type Asset, type Assets, preloadOf } from "./assets.ts";
import { headersFor, reportsName, walletSources } from "./routes.ts";

export type ReceivedPage = {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
};

/** The parts of a correct page that differ between installations. */
export type Expected = Pick<PageFacts, "embedOrigins" | "walletMethods"> & {
  /** Headers that the operator's own proxy adds, in lower case. They are no faults. */
  readonly otherHeaders: readonly string[];
};

export function checkPage(page: ReceivedPage, expected: Expected, assets: Assets) {
  const facts = factsOf(page, expected, assets);
  const tags = readTags(page.body);
  const hasForm = tags.some(({ name, attributes }) => {
    return name === "form" && attributes.get("id") === "pay";
  });
  // A page in UTF-16 could hide tags. It is refused, because its first bytes are different.
  if (page.status !== 200 || !hasForm || !page.body.startsWith("<!doctype html>")) {
    return { files: [], faults: [`The answer, of status ${page.status}, is no payment page.`] };
  }
  const unknown = tags.filter((tag) => !isKnownTag(tag, facts));
  const loaded = tags.flatMap((tag) => findLoaded(tag, facts)?.name ?? []);
  const { name: script } = assets.script;
  const faults = [
    ...findHeaderFaults(page.headers, facts, expected.otherHeaders),
    ...(page.url.protocol === "https:" ? findTransportFaults(page.headers) : []),
    ...unknown.map(({ source, text }) => {
      return `The page has ${source}${text.trim()}, which is not in the inventory.`;
    }),
    ...(loaded.includes(script) ? [] : [`The page does not load ${script}.`]),
  ];
  return {
    /** The names of the script and the style sheet that the page loads. */
    files: [...new Set(loaded)],
    faults: faults.map((fault) => fault.replace(/[^ -~]/g, " ").slice(0, 300)),
  };
}

/** The links in a correct page start with `../` if the page's URL ends with a slash. */
function factsOf({ url }: ReceivedPage, expected: Expected, assets: Assets): PageFacts {
  const token = url.pathname.split("/").findLast((part) => part !== "") ?? "";
  const linkTo = (path: string) => linkFrom({ url: url.pathname }, 0, path);
  return { ...expected, folder: linkTo(""), here: linkTo(token), assets };
}

/** These headers may differ, because they concern only the transport of the page. */
const plainHeaders = new Set([
  ...["age", "connection", "content-encoding", "content-language", "content-length", "date"],
  ...["keep-alive", "server", "transfer-encoding", "vary", "via"],
]);

function findHeaderFaults(
  headers: Headers,
  facts: PageFacts,
  otherHeaders: readonly string[],
): readonly string[] {
  const { embedOrigins: framedBy, folder } = facts;
  const { "content-security-policy": policy, ...same } = headersFor(
    { framedBy },
    `${folder}${reportsName}`,
  );
  const changed = Object.entries(same).filter(([name, value]) => headers.get(name) !== value);
  const judged = ["content-security-policy", "strict-transport-security", "link"];
  const known = new Set([...plainHeaders, ...Object.keys(same), ...judged, ...otherHeaders]);
  const links = headers.get("link")?.split(", ") ?? [];
  const foreign = links.filter((link) => !isOwnPreload(link, facts));
  return [
    ...changed.map(([name]) => `The header ${name} is ${headers.get(name) ?? "missing"}.`),
    ...findPolicyFaults(headers.get("content-security-policy") ?? "", policy, facts),
    ...foreign.map((link) => `The header link is ${link}.`),
    ...[...headers]
      .filter(([name]) => !known.has(name))
      .map(([name, value]) => `The gateway does not send the header ${name}, which is ${value}.`),
  ];
}

function isOwnPreload(link: string, { assets, folder }: PageFacts): boolean {
  const [, address = ""] = /^<([^>]*)>/.exec(link) ?? [];
  const asset = assets.find(address.slice(folder.length));
  return asset !== undefined && link === preloadOf(asset, folder);
}

/** The shortest duration for which a page may demand HTTPS. The gateway sends a year. */
const secureSecondsMin = 31_536_000;

function findTransportFaults(headers: Headers): readonly string[] {
  const found = headers.get("strict-transport-security");
  const [, seconds = ""] = /^max-age=(\d+)(;[ ;a-z]*)?$/i.exec(found ?? "") ?? [];
  if (Number(seconds) >= secureSecondsMin) return [];
  return [`The header strict-transport-security is ${found ?? "missing"}.`];
}

function findPolicyFaults(
  found: string,
  policy: string,
  { walletMethods }: PageFacts,
): readonly string[] {
  if (found.includes(",")) return [`The page has several policies: ${found}.`];
  const directives = directivesOf(found);
  // Browsers use the first of repeated directives, so the map has the first one.
  const own = new Map(directives.toReversed());
  const wanted = new Map(directivesOf(policy));
  const sources = walletMethods.flatMap((method) => walletSources({ method }).split(" "));
  const connectable = new Set(["'self'", ...sources]);
  const isGood = (name: string, given: string | undefined) => {
    // Pages differ in `connect-src`, which names their wallets, so each source is checked.
    if (name === "connect-src") return given?.split(" ").every((each) => connectable.has(each));
    const value = wanted.get(name);
    return given !== undefined && value !== undefined && areSameWords(given, value);
  };
  const names = new Set([...wanted.keys(), ...own.keys()]);
  const changed = [...names].flatMap((name) => {
    const given = own.get(name);
    if (isGood(name, given)) return [];
    return [`The directive ${name} of the policy is ${given ?? "missing"}.`];
  });
  return [
    ...changed,
    ...(own.size < directives.length ? [`The policy has a directive twice: ${found}.`] : []),
  ];
}

function directivesOf(policy: string): readonly (readonly [name: string, value: string])[] {
  return policy.split(";").flatMap((directive) => {
    const [name, ...values] = directive.split(/[\t\n\f\r ]/).filter((word) => word !== "");
    return name === undefined ? [] : [[name.toLowerCase(), values.join(" ")] as const];
  });
}

export function findFileFault(name: string, content: Uint8Array, assets: Assets) {
  const digest = `sha384-${createHash("sha384").update(content).digest("base64")}`;
  return assets.find(name)?.integrity === digest ? undefined : `${name} has another content.`;
}

type PageFacts = {
  /** The page's link to itself. `folder` is its link to the folder of its files. */
  readonly here: string;
  readonly folder: string;
  readonly assets: Assets;
  readonly embedOrigins: readonly string[];
  /** The payment methods of the wallets that the page may offer. */
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

/**
 * Whether the gateway's page contains the tag, with the same attributes and link targets. A tag
 * with a second `<`, or a link with a character reference, is never the gateway's.
 */
function isKnownTag(tag: Tag, facts: PageFacts): boolean {
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

/** Returns the gateway's own style sheet or script that the tag loads. */
function findLoaded(tag: Tag, facts: PageFacts): Asset | undefined {
  const loads = tag.name === "script" || tag.attributes.get("rel") === "stylesheet";
  if (!loads || !isKnownTag(tag, facts)) return undefined;
  return tag.name === "script" ? facts.assets.script : styleOf(tag.attributes.get("href"), facts);
}

/** Attribute values of inline SVG have no colons and slashes, so that no value can be a link. */
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

/** The gateway's `meta` tag reloads a page when it expires, in browsers without scripts. */
function isOwnMeta(values: Values, { here }: PageFacts): boolean {
  const { charset = "utf-8", name = "robots", content = "", "http-equiv": effect } = values;
  const [, address] = /^\d{1,9};url=(.*)$/.exec(content) ?? [];
  if (effect !== undefined && (effect !== "refresh" || address !== here)) return false;
  return charset === "utf-8" && ["viewport", "color-scheme", "robots"].includes(name);
}

function areSameWords(left: string, right: string): boolean {
  const sorted = (text: string) => text.split(" ").toSorted().join(" ");
  return sorted(left) === sorted(right);
}

type Tag = {
  readonly source: string;
  /** The name in lower case, with a slash for an end tag; empty if the tag is incomplete. */
  readonly name: string;
  /** Names are in lower case. Character references in values are not replaced. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The text up to the next tag. */
  readonly text: string;
};

/**
 * Reads the tags of an HTML document as browsers do: attribute values in either kind of quotes or
 * none, attributes after spaces or slashes, the first of repeated attributes. Unlike in browsers,
 * every `<` begins a tag, even inside a title, so that no tag is missed.
 */
function readTags(document: string): readonly Tag[] {
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
/** The name is empty at the end of the tag or of the document. */
const attributeName = /[\t\n\f\r /]*(=?[^\t\n\f\r />=]*)[\t\n\f\r ]*/y;
const attributeValue = /=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >]*))/y;

function readTag(document: string, start: number) {
  const attributes = new Map<string, string>();
  const [opening, name = ""] = execAt(tagStart, document, start);
  // A comment, a declaration or a stray `<` has no name. The page may not contain a stray one.
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
