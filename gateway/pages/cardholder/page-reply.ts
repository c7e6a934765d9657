/**
 * Sends a page to the cardholder in the browser's language. Its policy lets it post only to the
 * issuer or the shop. Its URL grants access to the payment, so the browser sends the URL to no
 * other site.
 */
import type { HttpReply, HttpRequest } from "../../http/router.ts";
import { type Page, pageHeaders, renderPage, type Theme } from "../design.ts";
import { english, type Texts } from "./english.ts";
import { german } from "./german.ts";

export type CardholderPage = Pick<Page, "title" | "content" | "script" | "refresh"> & {
  readonly status?: 200 | 400 | 404 | 429 | 503;
  /** The issuer's or shop's URL to which the page posts. */
  readonly postsTo?: string;
  readonly isFraming?: boolean;
  /** Whether the page asks the gateway repeatedly whether its step is over. */
  readonly isPolling?: boolean;
  /** The origins that may show the page in a frame. By default, there are none. */
  readonly framedBy?: "any" | readonly string[];
};

type PageRequest = Pick<HttpRequest, "headers">;

export function makePageReply(request: PageRequest, theme: Theme) {
  const { language, texts } = chooseLanguage(request.headers["accept-language"]);
  const show = ({ status = 200, ...page }: CardholderPage): HttpReply => {
    const policy = { "style-src": theme.styleSource, ...policyOf(page) };
    const own = { "content-language": language, "vary": "Accept-Language" };
    const later = status === 429 || status === 503 ? { "retry-after": "5" } : undefined;
    const headers = { ...pageHeaders({ policy }), ...own, ...later };
    return {
      status,
      headers,
      body: renderPage({
        ...page,
        language,
        direction: texts.direction,
        theme,
        warning: theme.isRehearsal ? texts.rehearsal : undefined,
      }).text,
    };
  };
  /**
   * Answers an issuer's post, which may come from a frame of the gateway's or of a shop's page. A
   * frame does not go on to the next page by itself, because that page must not be shown in a
   * frame.
   */
  const showFramed = ({ refresh, ...page }: CardholderPage) => {
    const onward = refresh !== undefined && !isFramed(request) ? { refresh } : {};
    return show({ ...page, ...onward, framedBy: "any" });
  };
  return { texts, show, showFramed };
}

export function isFramed({ headers }: PageRequest): boolean {
  return /^i?frame$/.test(String(headers["sec-fetch-dest"]));
}

function policyOf({ script, postsTo, isFraming, isPolling, framedBy }: Partial<CardholderPage>) {
  const sources = postsTo === undefined ? "'self'" : `'self' ${sourcesOf(postsTo)}`;
  return {
    ...(script && { "script-src": script.source }),
    "form-action": sources,
    ...(isFraming && { "frame-src": sources }),
    ...(isPolling && { "connect-src": "'self'" }),
    "frame-ancestors": ancestorsOf(framedBy),
  };
}

/** `any` omits `frame-ancestors`, because under `*` an app's built-in browser shows no frames. */
function ancestorsOf(framedBy: CardholderPage["framedBy"] = []): string {
  if (framedBy === "any") return "";
  return framedBy.length === 0 ? "'none'" : framedBy.join(" ");
}

/**
 * Browsers check redirects of a form against the policy too, and an issuer or a shop may redirect
 * to another of its hosts, so no host is named. A form for https must not be redirected to http.
 */
function sourcesOf(url: string): string {
  return URL.parse(url)?.protocol === "http:" ? "http: https:" : "https:";
}

/**
 * Returns a relative link to `path`, `foldersUp` folders above the requested page, which also works
 * behind a proxy that adds folders. A page whose URL ends with a slash needs one more `../`.
 */
export function linkFrom({ url }: Pick<HttpRequest, "url">, foldersUp: number, path: string) {
  const hasSlash = /^[^?]*\/(\?|$)/.test(url);
  return "../".repeat(foldersUp + (hasSlash ? 1 : 0)) + path;
}

const languages: ReadonlyMap<string, Texts> = new Map([
  ["en", english],
  ["de", german],
]);

/** Returns the language that the browser prefers among the pages' languages, or English. */
export function chooseLanguage(acceptLanguage = "") {
  const preferences = preferencesOf(acceptLanguage);
  const named = preferences.map(({ primary }) => primary);
  const known = preferences.flatMap(({ primary, weight }) => {
    if (weight === 0) return [];
    // A star stands for all languages that the header does not name.
    if (primary === "*") return [...languages.keys()].filter((each) => !named.includes(each));
    return languages.has(primary) ? [primary] : [];
  });
  const language = known[0] ?? "en";
  return { language, texts: languages.get(language) ?? english };
}

/** Returns languages without regions, the preferred one first: `de-AT;q=0.8, en` gives en, de. */
function preferencesOf(header: string) {
  return header
    .split(",", 20)
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";");
      const weight = parameters.find((parameter) => /^\s*q=/i.test(parameter))?.split("=")[1];
      const [primary = ""] = tag.trim().toLowerCase().split("-");
      return { primary, weight: weight === undefined ? 1 : Number.parseFloat(weight) };
    })
    .filter(({ weight }) => weight >= 0)
    .sort((left, right) => right.weight - left.weight);
}
