/**
 * The payment page's style sheet and script. Browsers cache a file for ever, by a name with a
 * digest of its content, and refuse any other content (subresource integrity). A shop with its own
 * colour has its own style sheet, because the page's policy permits no inline styles.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { HttpReply, HttpRequest } from "../../http/router.ts";
import {
  type Colour,
  contrast,
  darkenUntilReadable,
  lightenUntilReadable,
  pageGrounds,
  parseColour,
  printColour,
} from "../../values/appearance.ts";
import {
  isLuhnValid,
  longestFirst,
  networkOf,
  prefixDigits,
  splitExpiry,
} from "../../values/card-number.ts";
import { type Html, html } from "../../values/html.ts";
import { networkLengths } from "../../values/mask-card-numbers.ts";
import * as inline from "../cardholder/scripts.ts";
import { makeStyleSheet } from "../style-sheet.ts";

export type Asset = {
  readonly name: string;
  /** The content's digest, for the attribute `integrity`. */
  readonly integrity: string;
  readonly type: string;
  readonly text: string;
  /** Whether other origins may load the file. Its name never changes, so caches keep it briefly. */
  readonly isOpen?: boolean;
};

export type Assets = ReturnType<typeof makeAssets>;

/** The most style sheets in the cache, one for each colour. A client may request many colours. */
const stylesMax = 200;

/** The script `sandbox` simulates wallets in staging. It runs before the page's own script. */
export function makeAssets(sandbox?: string) {
  const script = makeAsset("pay", "js", readScript("wallet-buttons.js", "card-form.js"));
  const embed = {
    ...makeAsset("embed", "js", readFile("embed.js")),
    name: "embed.js",
    isOpen: true,
  };
  const sheet = sandbox === undefined ? undefined : makeAsset("sandbox", "js", sandbox);
  const own = [script, embed, sheet ?? []].flat();
  const fixed = new Map<string, Asset>(own.map((asset) => [asset.name, asset]));
  const styles = new Map<string, Asset>();

  /** A text that is no colour gets the default colour's style sheet. */
  function styleFor(colour = ""): Asset {
    const parsed = parseColour(colour);
    const key = parsed === undefined ? "" : printColour(parsed);
    const known = styles.get(key);
    if (known !== undefined) return known;
    if (styles.size >= stylesMax) styles.clear();
    const word = key === "" ? "style" : `style-${key.slice(1)}`;
    const made = makeAsset(word, "css", ownStyle + colourRules(parsed));
    styles.set(key, made);
    return made;
  }

  /** Returns undefined for a file that this release does not have. Another release may have it. */
  function find(name: string): Asset | undefined {
    const [, colour = ""] = /^style(?:-([0-9a-f]{6}))?\.[0-9a-f]{16}\.css$/.exec(name) ?? [];
    if (!name.startsWith("style")) return fixed.get(name);
    const style = styleFor(colour && `#${colour}`);
    return style.name === name ? style : undefined;
  }

  return { script, sheet, styleFor, find };
}

/** The script that a shop loads for hosted fields, and what the document of a field loads. */
export function makeFieldAssets() {
  return {
    sdk: { ...makeAsset("sdk", "js", readOwn("../fields/sdk.js")), isOpen: true },
    script: makeAsset("field", "js", readScript("../fields/field.js")),
    style: makeAsset("field", "css", readOwn("../fields/field.css")),
  };
}

/** Whether a path ends with a file's name. A payment's token never ends in these letters. */
export function isAssetName(name: string): boolean {
  return /\.(js|css)$/.test(name);
}

/** Anyone can request a new colour's style sheet, so its compression must be fast. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const encoders = {
  br: (text: string) => brotliCompressSync(text, quality),
  gzip: (text: string) => gzipSync(text),
} as const;
const encoded = new WeakMap<Asset, Map<string, Uint8Array>>();

type Asking = Pick<HttpRequest, "headers">;

function codingFor({ headers }: Asking): keyof typeof encoders | undefined {
  const accepted = String(headers["accept-encoding"] ?? "");
  return (["br", "gzip"] as const).find((each) => accepted.includes(each));
}

/**
 * Compresses a page. Its compressed length reveals nothing secret: a client that can request the
 * page knows its token, and the page has no card number.
 */
export function compressed<Reply extends HttpReply & { readonly body: string }>(
  reply: Reply,
  request: Asking,
): HttpReply {
  const coding = codingFor(request);
  const vary = [reply.headers["vary"] ?? [], "Accept-Encoding"].flat().join(", ");
  if (coding === undefined) return { ...reply, headers: { ...reply.headers, vary } };
  const headers = { ...reply.headers, vary, "content-encoding": coding };
  return { ...reply, headers, body: encoders[coding](reply.body) };
}

export function assetReply(asset: Asset, request: Asking): HttpReply {
  const coding = codingFor(request);
  return {
    status: 200,
    headers: {
      "content-type": `${asset.type}; charset=utf-8`,
      ...(asset.isOpen === true ? openHeaders : ownHeaders),
      "vary": "Accept-Encoding",
      ...(coding && { "content-encoding": coding }),
    },
    body: coding === undefined ? asset.text : encode(asset, coding),
  };
}

const ownHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  "cross-origin-resource-policy": "same-origin",
};
const openHeaders = {
  "cache-control": "public, max-age=300",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
};

/** Each file is compressed once and kept, because it never changes. */
function encode(asset: Asset, coding: keyof typeof encoders): Uint8Array {
  const known = encoded.get(asset) ?? new Map<string, Uint8Array>();
  const bytes = known.get(coding) ?? encoders[coding](asset.text);
  encoded.set(asset, known.set(coding, bytes));
  return bytes;
}

function makeAsset(word: string, ending: "js" | "css", text: string): Asset {
  const digest = (algorithm: string) => createHash(algorithm).update(text);
  return {
    name: `${word}.${digest("sha256").digest("hex").slice(0, 16)}.${ending}`,
    integrity: `sha384-${digest("sha384").digest("base64")}`,
    type: ending === "js" ? "text/javascript" : "text/css",
    text,
  };
}

/** `folder` is the path from the page to `/pay/`. */
export function styleLink({ name, integrity }: Asset, folder: string): Html {
  return html`<link rel="stylesheet" href="${folder}${name}" integrity="${integrity}">`;
}

export function scriptLink({ name, integrity }: Asset, folder: string): Html {
  return html`<script src="${folder}${name}" integrity="${integrity}" defer></script>`;
}

/** With this `Link` header, the browser requests the files before it has read the page. */
export function preloadOf({ name, integrity, type }: Asset, folder: string): string {
  const kind = type === "text/css" ? "style" : "script";
  return `<${folder}${name}>; rel=preload; as=${kind}; integrity="${integrity}"`;
}

const ownStyle = makeStyleSheet() + readOwn("payment.css");

/**
 * A shop's button has the shop's colour, with black or white text. Where text in this colour would
 * contrast too little with the background, the text is darker or lighter.
 */
function colourRules(colour: Colour | undefined): string {
  if (colour === undefined) return "";
  const onLight = printColour(darkenUntilReadable(colour));
  const lightened = lightenUntilReadable(colour);
  const isSeenInDark = contrast(colour, darkSurface) >= 3;
  const button = (shown: Colour) => {
    const words = contrast(shown, white) >= 4.5 ? "#fff" : "#000";
    return `--button: ${printColour(shown)}; --on-button: ${words}`;
  };
  const dark = `--accent: ${printColour(lightened)}; ${button(isSeenInDark ? colour : lightened)}`;
  return `:root { --accent: ${onLight}; ${button(colour)} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
`;
}

const white: Colour = [255, 255, 255];
const darkSurface = parseColour(pageGrounds.dark) ?? white;

/** Functions that check card numbers are copied into the script from the gateway's sources. */
function readScript(...names: readonly string[]): string {
  const tables = { prefixDigits, longestFirst, lengths: networkLengths };
  const declared = Object.entries(tables).map(
    ([name, value]) => `const ${name} = ${JSON.stringify(value)};`,
  );
  const shared = [...declared, isLuhnValid, networkOf, splitExpiry].join("\n");
  const own = ["proof.js", "card-number.js", ...names].map(readOwn).join("\n");
  return `(() => {\n"use strict";\n${shared}\n${own}})();\n`;
}

/** Reads a file without the comment at its top, which browsers do not need. */
function readOwn(name: string): string {
  return readFile(name).replace(/^\/\*[\s\S]*?\*\/\n/, "");
}

function readFile(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}

type InventoriedScript = {
  readonly name: string;
  readonly page: string;
  /** The digest, as the attribute `integrity` or the page's policy contains it. */
  readonly digest: string;
  readonly reason: string;
};

// biome-ignore format: a table
const files: Readonly<Record<string, readonly [page: string, reason: string]>> = {
  "pay.js":   ["payment page",      "groups and checks the card fields, posts the form once and empties it (`card-form.js`); opens wallets by the browser's Payment Request API (`wallet-buttons.js`); finds the proof of work against card testing (`proof.js`)"],
  "sdk.js":   ["the shop's own page", "puts the frames of hosted fields into the shop's form and passes on focus, styles, ticket, token and errors; the shop loads it (`/sdk/hosted-fields/v1/index.js`), and it sees no card data"],
  "field.js": ["hosted field",      "formats and checks one card field; that of the number reads its two siblings and sends the card to the gateway (`field.js`); finds the proof of work against card testing (`proof.js`)"],
  "embed.js": ["the shop's own page", "puts the payment page into a frame and passes its result on; the shop loads it, and it sees no card data"],
};

// biome-ignore format: a table
const inlineReasons: Readonly<Record<keyof typeof inline, readonly [page: string, reason: string]>> = {
  tellShop:         ["result",           "tells the shop's page around the frame the result"],
  tellShopOrReturn: ["result",           "tells the shop's page the result, or leads the browser back to the shop"],
  submitAtOnce:     ["3-D Secure, return", "posts the form to the issuer or to the shop without a click"],
  runMethod:        ["3-D Secure method", "loads the issuer's method frame and reports the browser's properties"],
  openChallenge:    ["3-D Secure challenge", "opens the issuer's challenge in a frame where it fits, and goes on when it is over"],
  reloadSoon:       ["waiting",          "loads the page again until the payment has gone on"],
  goOn:             ["issuer's return",  "leads the page around the issuer's frame on"],
  goOnSoon:         ["issuer's return",  "leads on after five seconds, while the gateway cannot answer"],
  goOnWhenClicked:  ["issuer's return",  "leads the page around the frame on when the cardholder clicks"],
  reportMethodDone: ["3-D Secure method", "tells the page around the frame that the issuer's method is done"],
  printWhenClicked: ["receipt",          "prints the receipt"],
};

/**
 * Lists every script that runs in cardholders' browsers, and why; the compiler demands a reason for
 * each inline script. `npm run docs` writes the list to `docs/payment-page.md`, and `gw page watch`
 * compares a browser's scripts with it. Staging has one more script, which simulates wallets.
 */
export function listScripts(): readonly InventoriedScript[] {
  const assets = makeAssets();
  const fields = makeFieldAssets();
  const loaded = Object.entries(files).map(([name, [page, reason]]) => {
    const named = {
      "pay.js": assets.script,
      "sdk.js": fields.sdk,
      "field.js": fields.script,
    };
    const asset = named[name as keyof typeof named] ?? assets.find(name);
    return { name, page, digest: asset?.integrity ?? "", reason };
  });
  const own = Object.entries(inline).map(([name, { source }]) => {
    // The compiler ensures that the table of reasons has a row for each inline script.
    const [page, reason] = inlineReasons[name as keyof typeof inline];
    return { name, page, digest: source.replaceAll("'", ""), reason };
  });
  return [...loaded, ...own];
}
