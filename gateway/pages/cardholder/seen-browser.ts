/**
 * The cardholder's browser as 3-D Secure wants to know it: what its request says, and what the
 * page's script has found out. Nothing of it is believed for more than it is.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { SeenBrowser } from "../../orders/authentication.ts";

/** Its address may be a proxy's: the one that counts is the merchant's word of it. */
export type BrowserRequest = { readonly headers: IncomingHttpHeaders };

/** What only a script can find out. */
const scripted = [
  "browserJavascriptEnabled",
  "browserJavaEnabled",
  "browserLanguage",
  "browserColorDepth",
  "browserTZ",
  "browserScreenHeight",
  "browserScreenWidth",
];

const charactersMax = 2048;

/** `sent` is the report of our own page; nothing where only the request itself can tell. */
export function seenBrowser(
  { headers }: BrowserRequest,
  completion: "Y" | "N",
  sent: ReadonlyMap<string, string> = new Map(),
): SeenBrowser {
  const language = headers["accept-language"]?.split(/[,;]/)[0]?.trim();
  const told: readonly (readonly [name: string, value: string | undefined])[] = [
    ["browserUserAgent", headers["user-agent"]],
    ["browserAcceptHeader", headers.accept],
    ["browserLanguage", language],
    ...scripted.map((name) => [name, sent.get(name)] as const),
  ];
  const known = told.flatMap(([name, value]) =>
    value ? [[name, value.slice(0, charactersMax)]] : [],
  );
  return { completion, properties: Object.fromEntries(known) };
}
