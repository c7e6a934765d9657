/**
 * The cardholder's browser as an AReq wants it. The sale told of it by the merchant's names, the
 * step of the method by those of 3-D Secure, and the later word counts. What does not fit the
 * protocol is made to fit, or left out: a strange screen is no reason to lose a payment.
 */
import type { SeenBrowser } from "../../orders/authentication.ts";
import type { Purchase } from "../../orders/order.ts";

type Properties = Readonly<Record<string, string | undefined>>;
export type BrowserElements = Readonly<Record<string, string | boolean | readonly string[]>>;

// biome-ignore format: a table
const saleNames: readonly (readonly [property: string, saleName: string])[] = [
  ["browserAcceptHeader",      "customer_browser_accept_header"],
  ["browserColorDepth",        "customer_browser_color_depth"],
  ["browserJavaEnabled",       "customer_browser_java_enabled"],
  ["browserJavascriptEnabled", "customer_browser_javascript_enabled"],
  ["browserLanguage",          "customer_browser_accept_language"],
  ["browserScreenHeight",      "customer_browser_screen_height"],
  ["browserScreenWidth",       "customer_browser_screen_width"],
  ["browserTZ",                "customer_browser_time_zone"],
  ["browserUserAgent",         "customer_browser_user_agent"],
];

const colorDepths = [48, 32, 24, 16, 15, 8, 4, 1];
const headerMax = 2048;
const languageMax = 8;

export function browserElements(
  { browser, ipAddress }: Pick<Purchase, "browser" | "ipAddress">,
  seen: SeenBrowser | undefined,
  version: string,
): BrowserElements {
  const told: Properties = {
    ...Object.fromEntries(saleNames.map(([property, name]) => [property, browser?.[name]])),
    ...seen?.properties,
  };
  const always = {
    browserAcceptHeader: headerOf(told["browserAcceptHeader"]) ?? "*/*",
    browserUserAgent: headerOf(told["browserUserAgent"]) ?? "unknown",
    browserIP: told["browserIP"] ?? ipAddress,
  };
  const scripted = scriptedElements(told);
  const language = languageOf(told["browserLanguage"]) ?? "en";
  if (version === "2.1.0") {
    return { ...always, ...unscripted, ...scripted, browserLanguage: language };
  }

  const runsScripts = told["browserJavascriptEnabled"] === "true" && scripted !== undefined;
  const spoken = version === "2.3.1" ? { acceptLanguage: [language] } : {};
  return {
    ...always,
    ...spoken,
    browserJavascriptEnabled: runsScripts,
    ...(runsScripts ? scripted : {}),
    // Up to 2.2.0 it is asked for with or without scripts.
    ...(runsScripts || version === "2.2.0" ? { browserLanguage: language } : {}),
  };
}

/** 2.1.0 wants these of every browser, also of one that could not tell. */
const unscripted = {
  browserJavaEnabled: false,
  browserColorDepth: "24",
  browserScreenHeight: "0",
  browserScreenWidth: "0",
  browserTZ: "0",
};

/** What only scripts can find out; nothing when any of it is missing. */
function scriptedElements(told: Properties): BrowserElements | undefined {
  const depth = depthOf(told["browserColorDepth"]);
  const height = pixelsOf(told["browserScreenHeight"]);
  const width = pixelsOf(told["browserScreenWidth"]);
  const zone = /^[+-]?\d{1,4}$/.test(told["browserTZ"] ?? "") ? told["browserTZ"] : undefined;
  if (!depth || !height || !width || zone === undefined) return undefined;
  return {
    browserJavaEnabled: told["browserJavaEnabled"] === "true",
    browserColorDepth: depth,
    browserScreenHeight: height,
    browserScreenWidth: width,
    browserTZ: zone,
  };
}

/** The next that the protocol knows below it: screens of 30 bits exist, and it does not. */
function depthOf(told: string | undefined): string | undefined {
  if (told === undefined || !/^\d{1,4}$/.test(told)) return undefined;
  return String(colorDepths.find((depth) => depth <= Number(told)) ?? 24);
}

function pixelsOf(told: string | undefined): string | undefined {
  return told !== undefined && /^\d{1,6}$/.test(told) ? String(Number(told)) : undefined;
}

function headerOf(told: string | undefined): string | undefined {
  const line = told
    ?.replaceAll(/[^\x20-\x7e]/g, "")
    .trim()
    .slice(0, headerMax);
  return line === "" ? undefined : line;
}

/** The first tag of a list; its language alone when the whole is longer than the protocol takes. */
function languageOf(told: string | undefined): string | undefined {
  const [tag] = /[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*/.exec(told ?? "") ?? [];
  if (tag === undefined) return undefined;
  return tag.length <= languageMax ? tag : (tag.split("-")[0] ?? "en");
}
