/**
 * A cardholder's request for a page: the language of the answer, links, and the page as it is sent,
 * with a policy that lets it post to the issuer or to the shop and nothing else. Its URL grants
 * access to the payment, so it is never sent to other sites.
 */
import type { HttpReply, HttpRequest } from "../../http/router.ts";
import { type Page, pageHeaders, renderPage, type Theme } from "../design.ts";
import { english, type Texts } from "./english.ts";
import { german } from "./german.ts";

export type CardholderPage = Pick<Page, "title" | "content" | "script" | "refresh"> & {
  readonly status?: 200 | 400 | 404 | 429 | 503;
  /** A URL of the issuer or of the shop, to which the page posts. */
  readonly postsTo?: string;
  /** The page shows the same URL in a frame. */
  readonly isFraming?: boolean;
  /** The page polls whether its step is over. */
  readonly isPolling?: boolean;
  /** The sites that may show the page in a frame, or their origins; none by default. */
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
   * Issuers return inside the frame that they were opened in, the gateway's or a shop's. The page
   * stays there: the page that it leads to must not be shown in a frame.
   */
  const showFramed = ({ refresh, ...page }: CardholderPage) => {
    const onward = refresh !== undefined && !isFramed(request) ? { refresh } : {};
    return show({ ...page, ...onward, framedBy: "any" });
  };
  return { texts, show, showFramed };
}

/** Browsers tell where the answer will be shown. */
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

/** Only without the directive can an app's built-in browser show the page in its own pages. */
function ancestorsOf(framedBy: CardholderPage["framedBy"] = []): string {
  if (framedBy === "any") return "";
  return framedBy.length === 0 ? "'none'" : framedBy.join(" ");
}

/**
 * Browsers apply the policy also to redirects: an issuer that redirects to its other host, or a
 * shop to its `www`, must not end on a blank page. So the policy names no host; a journey that
 * begins with https stays there.
 */
function sourcesOf(url: string): string {
  return URL.parse(url)?.protocol === "http:" ? "http: https:" : "https:";
}

/**
 * `path` starts `foldersUp` folders above the requested page. Links are relative, for a gateway
 * behind a proxy's folder; and each page is served with and without a slash at its end, which the
 * browser counts as one more folder.
 */
export function linkFrom({ url }: Pick<HttpRequest, "url">, foldersUp: number, path: string) {
  const hasSlash = /^[^?]*\/(\?|$)/.test(url);
  return "../".repeat(foldersUp + (hasSlash ? 1 : 0)) + path;
}

/** A language is one more table; the compiler checks that it has all rows. */
const languages: ReadonlyMap<string, Texts> = new Map([
  ["en", english],
  ["de", german],
]);

/** Returns the most preferred language that has a table, or English. */
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

/** `de-AT;q=0.8, en` means en, then de: regions are ignored, and weights sort. */
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
