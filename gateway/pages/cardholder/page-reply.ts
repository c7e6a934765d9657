/**
 * Sends a page to the cardholder in the browser's language. The page's policy lets it post to the
 * issuer or to the shop only. The page's URL grants access to the payment, so the browser does not
 * send the URL to other sites.
 */
import type { HttpReply, HttpRequest } from "../../http/router.ts";
import { type Page, pageHeaders, renderPage, type Theme } from "../design.ts";
import { english, type Texts } from "./english.ts";
import { german } from "./german.ts";

export type CardholderPage = Pick<Page, "title" | "content" | "script" | "refresh"> & {
  readonly status?: 200 | 400 | 404 | 429 | 503;
  /** The URL of the issuer or the shop to which the page posts. */
  readonly postsTo?: string;
  /** Whether the page shows `postsTo` in a frame. */
  readonly isFraming?: boolean;
  /** Whether the page asks the gateway repeatedly if its step is over. */
  readonly isPolling?: boolean;
  /** The origins that may show the page in a frame, or `any`. By default, no page may show it. */
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
   * Shows the page that answers an issuer's post. The issuer may post from a frame that belongs to
   * the gateway's page or to a shop. In a frame, the answer does not go on to the next page by
   * itself, because the next page must not be shown in a frame.
   */
  const showFramed = ({ refresh, ...page }: CardholderPage) => {
    const onward = refresh !== undefined && !isFramed(request) ? { refresh } : {};
    return show({ ...page, ...onward, framedBy: "any" });
  };
  return { texts, show, showFramed };
}

/** Whether the browser will show the reply in a frame. */
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

/**
 * Returns the value of the directive `frame-ancestors`, or an empty text for `any`, because the
 * directive is then left out. With the value `*`, an app's built-in browser could not embed the
 * page.
 */
function ancestorsOf(framedBy: CardholderPage["framedBy"] = []): string {
  if (framedBy === "any") return "";
  return framedBy.length === 0 ? "'none'" : framedBy.join(" ");
}

/**
 * Returns the permitted targets of the page's form. Browsers apply these targets to redirects too,
 * and an issuer or a shop may redirect to another of its hosts, so no host is named. If the form's
 * target uses https, redirects must use it too.
 */
function sourcesOf(url: string): string {
  return URL.parse(url)?.protocol === "http:" ? "http: https:" : "https:";
}

/**
 * Returns a relative link to `path`, which starts `foldersUp` folders above the requested page. A
 * relative link also works behind a proxy that adds folders. If the page's URL ends with a slash,
 * the browser takes the page to be one folder deeper.
 */
export function linkFrom({ url }: Pick<HttpRequest, "url">, foldersUp: number, path: string) {
  const hasSlash = /^[^?]*\/(\?|$)/.test(url);
  return "../".repeat(foldersUp + (hasSlash ? 1 : 0)) + path;
}

/** The languages of the pages. The compiler checks that each table has all texts. */
const languages: ReadonlyMap<string, Texts> = new Map([
  ["en", english],
  ["de", german],
]);

/** Returns the browser's most preferred language that the pages have, or English. */
export function chooseLanguage(acceptLanguage = "") {
  const preferences = preferencesOf(acceptLanguage);
  const named = preferences.map(({ primary }) => primary);
  const known = preferences.flatMap(({ primary, weight }) => {
    if (weight === 0) return [];
    // A star in the header stands for all languages that the header does not name.
    if (primary === "*") return [...languages.keys()].filter((each) => !named.includes(each));
    return languages.has(primary) ? [primary] : [];
  });
  const language = known[0] ?? "en";
  return { language, texts: languages.get(language) ?? english };
}

/**
 * Returns the languages of the header, without regions, the most preferred first. The header
 * `de-AT;q=0.8, en` means English, then German.
 */
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
