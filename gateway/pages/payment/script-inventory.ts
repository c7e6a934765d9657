/**
 * Every script that cardholders' browsers run on pages of the gateway, with the reason for it. The
 * compiler demands a reason for each inline script. `npm run docs` writes the table to
 * `docs/payment-page.md`, and `gw page watch` compares what a browser receives with it.
 */
import * as inline from "../cardholder/scripts.ts";
import { makeAssets } from "./assets.ts";

type InventoriedScript = {
  readonly name: string;
  readonly page: string;
  /** The digest in the form of the page's `integrity` or policy. */
  readonly digest: string;
  readonly reason: string;
};

// biome-ignore format: a table
const files: Readonly<Record<string, readonly [page: string, reason: string]>> = {
  "pay.js":   ["payment page",      "groups and checks the card fields, posts the form once and empties it (`card-form.js`); opens wallets by the browser's Payment Request API (`wallet-buttons.js`); finds the proof of work against card testing (`proof.js`)"],
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

/** Staging adds the script that plays wallets. */
export function listScripts(): readonly InventoriedScript[] {
  const assets = makeAssets();
  const loaded = Object.entries(files).map(([name, [page, reason]]) => {
    const asset = name === "pay.js" ? assets.script : assets.find(name);
    return { name, page, digest: asset?.integrity ?? "", reason };
  });
  const own = Object.entries(inline).map(([name, { source }]) => {
    // The table has every name of the module.
    const [page, reason] = inlineReasons[name as keyof typeof inline];
    return { name, page, digest: source.replaceAll("'", ""), reason };
  });
  return [...loaded, ...own];
}
