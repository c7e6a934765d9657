/**
 * The cardholder's browser as the merchant saw it: what 3-D Secure will want to know. Three of the
 * fields have older names, which are read as the newer ones.
 */
import { choice, conditional, digits, line, optional, pattern } from "./fields.ts";

const truth = ["true", "false"] as const;

// biome-ignore format: a table
export const browserFields = {
  customer_browser_info:               optional(choice(truth, "`true` when the browser's fields are sent")),
  customer_browser_color_depth:        conditional(digits(1, 2, "colour depth of the screen in bits")),
  customer_browser_java_enabled:       conditional(choice(truth, "whether Java runs in the browser")),
  customer_browser_javascript_enabled: conditional(choice(truth, "whether JavaScript runs in the browser")),
  customer_browser_screen_height:      conditional(digits(1, 6, "height of the screen in pixels")),
  customer_browser_screen_width:       conditional(digits(1, 6, "width of the screen in pixels")),
  customer_browser_time_zone:          conditional(pattern("5/String", /^[+-]?\d{1,4}$/, "minutes between UTC and the browser's time")),
  customer_browser_accept_header:      conditional(line(2048, "the browser's Accept header")),
  customer_browser_accept_language:    conditional(line(100, "the browser's Accept-Language header")),
  customer_browser_user_agent:         conditional(line(2048, "the browser's User-Agent header")),
  customer_accept:                     optional(line(2048, "older name of customer_browser_accept_header")),
  customer_accept_language:            optional(line(100, "older name of customer_browser_accept_language")),
  customer_user_agent:                 optional(line(2048, "older name of customer_browser_user_agent")),
} as const;

// biome-ignore format: a table
const olderNames: Readonly<Record<string, string>> = {
  customer_browser_accept_header:   "customer_accept",
  customer_browser_accept_language: "customer_accept_language",
  customer_browser_user_agent:      "customer_user_agent",
};

const names = Object.keys(browserFields).filter((name) => name.startsWith("customer_browser_"));

type Given = Readonly<Record<string, unknown>>;

/** What is known of the browser by its newer names; nothing when nothing was sent. */
export function readBrowser(request: Given): Readonly<Record<string, string>> | undefined {
  const known = names.flatMap((name) => {
    const value = request[name] ?? request[olderNames[name] ?? name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/** A merchant who says that he sends the browser's fields must send them all. */
export function missingBrowserFields(request: Given): readonly string[] {
  if (request["customer_browser_info"] !== "true") return [];
  const browser = readBrowser(request) ?? {};
  return names.filter((name) => browser[name] === undefined);
}
