/**
 * The networks' marks as the page shows them beside the card number: simple shapes, drawn here, so
 * that the page loads no picture. `name` is what a screen reader says.
 */
import type { Network } from "../../values/card-number.ts";
import { Html, html } from "../../values/html.ts";

type Mark = { readonly name: string; readonly shape: string };

const plate = (fill: string) => `<rect width="36" height="24" rx="4" fill="${fill}"/>`;
const frame = '<rect x=".5" y=".5" width="35" height="23" rx="3.5" fill="#fff" stroke="#c4ccc9"/>';
const word = (text: string, fill: string, size = 9) =>
  `<text x="18" y="${12 + size * 0.36}" font-family="Arial, Helvetica, sans-serif" ` +
  `font-weight="700" font-size="${size}" text-anchor="middle" fill="${fill}">${text}</text>`;
const discs = (left: string, right: string) =>
  `<circle cx="14" cy="12" r="7" fill="${left}"/><circle cx="22" cy="12" r="7" fill="${right}"/>` +
  '<path d="M18 6.26a7 7 0 0 1 0 11.48 7 7 0 0 1 0-11.48z" fill="#fff" fill-opacity=".35"/>';

// biome-ignore format: a table
export const networkMarks: Readonly<Record<Network, Mark>> = {
  VISA:       { name: "Visa",             shape: `${frame}<g transform="skewX(-12) translate(2.6 0)">${word("VISA", "#1a3fb0", 10)}</g>` },
  MASTERCARD: { name: "Mastercard",       shape: `${frame}${discs("#e2231a", "#f5a01d")}` },
  MAESTRO:    { name: "Maestro",          shape: `${frame}${discs("#1f72c9", "#e2231a")}` },
  AMEX:       { name: "American Express", shape: `${plate("#1f6fc4")}${word("AMEX", "#fff", 9)}` },
  DISCOVER:   { name: "Discover",         shape: `${frame}${word("DISC", "#333", 8)}<circle cx="29.5" cy="18" r="3.5" fill="#f58220"/>` },
  DINERS:     { name: "Diners Club",      shape: `${frame}<circle cx="18" cy="12" r="8" fill="#1b4f9c"/><path d="M16 7a5.4 5.4 0 0 0 0 10zM20 7a5.4 5.4 0 0 1 0 10z" fill="#fff"/>` },
  JCB:        { name: "JCB",              shape: `${frame}<rect x="6" y="4" width="7.4" height="16" rx="2.4" fill="#1f5fb4"/><rect x="14.3" y="4" width="7.4" height="16" rx="2.4" fill="#d6263c"/><rect x="22.6" y="4" width="7.4" height="16" rx="2.4" fill="#2a9c4b"/>` },
  UNIONPAY:   { name: "UnionPay",         shape: `${frame}<path d="M9 4h7l-3.4 16h-7z" fill="#d6263c"/><path d="M16.5 4h7l-3.4 16h-7z" fill="#1c5a8f"/><path d="M24 4h7l-3.4 16h-7z" fill="#15807c"/>` },
  MIR:        { name: "Mir",              shape: `${frame}${word("MIR", "#1f8a4c", 10)}` },
};

/** A card of any network. */
const plainMark =
  '<g fill="none" stroke="#7d8a86" stroke-width="1.5" stroke-linecap="round">' +
  '<rect x="1" y="2" width="34" height="20" rx="3"/><path d="M6 16h8"/>' +
  '<path d="M1 8.5h34" stroke-width="3" stroke-linecap="butt"/></g>';

/** Every mark once, for `<use>` to show one of them. */
export function renderMarks(): Html {
  const all = { none: { name: "", shape: plainMark }, ...networkMarks };
  const symbols = Object.entries(all).map(([key, { name, shape }]) => {
    const marked = html`<symbol id="mark-${key}" data-name="${name}" viewBox="0 0 36 24">`;
    return html`${marked}${new Html(shape)}</symbol>\n`;
  });
  return html`<svg width="0" height="0" aria-hidden="true" focusable="false">${symbols}</svg>`;
}
