/**
 * A page for the cardholder as it goes out: with a policy that lets it post to the issuer or to the
 * shop where it has to, and do nothing else. Its address is a key to the payment, so no other site
 * learns it.
 */
import type { FastifyReply } from "fastify";
import type { Html } from "../../values/html.ts";
import { type Look, type Refresh, renderPage, type Script } from "../design.ts";
import { pageHeaders } from "../page-headers.ts";

export type CardholderPage = {
  readonly title: string;
  readonly content: Html;
  readonly script?: Script;
  readonly refresh?: Refresh;
  readonly status?: 200 | 400 | 404 | 429 | 503;
  /** An address of the issuer or of the shop, to which the page posts. */
  readonly postsTo?: string;
  /** The same address is shown inside the page. */
  readonly isFraming?: boolean;
  /** Looks from time to time whether its step is over. */
  readonly isWatching?: boolean;
  /** Who may show the page in a frame: nobody when nothing is said. */
  readonly framedBy?: "us" | "anybody";
};

const retryAfterSeconds = 5;

export function sendPage(
  reply: FastifyReply,
  { status = 200, ...page }: CardholderPage,
  { language, look }: { readonly language: string; readonly look: Look },
): FastifyReply {
  const policy = { "style-src": look.styleSource, ...policyOf(page) };
  reply.code(status).headers(pageHeaders({ policy }));
  reply.header("content-language", language).header("vary", "Accept-Language");
  if (status === 429 || status === 503) reply.header("retry-after", String(retryAfterSeconds));
  return reply.send(renderPage({ ...page, language, look }).text);
}

function policyOf({ script, postsTo, isFraming, isWatching, framedBy }: CardholderPage) {
  const reach = postsTo === undefined ? "" : ` ${sourcesOf(postsTo)}`;
  return {
    ...(script && { "script-src": script.source }),
    "form-action": `'self'${reach}`,
    ...(isFraming && { "frame-src": `'self'${reach}` }),
    ...(isWatching && { "connect-src": "'self'" }),
    "frame-ancestors": ancestors[framedBy ?? "nobody"],
  };
}

/** No directive at all is the only way to let in the pages of an app's built-in browser. */
const ancestors = { nobody: "'none'", us: "'self'", anybody: "" } as const;

/**
 * Browsers hold a form, and a frame, to the policy also where the receiver redirects: a bank that
 * leads on to its other host, or a shop to its `www`, must not end on a blank page. So the policy
 * names no host, and what has begun with https stays there.
 */
function sourcesOf(address: string): string {
  const { protocol } = URL.parse(address) ?? {};
  return protocol === "http:" ? "http: https:" : "https:";
}
