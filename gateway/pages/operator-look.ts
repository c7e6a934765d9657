/**
 * The operator's name, logo and colour above the cardholder's pages. The logo is put into every
 * page, so it has to be small; shown as an image it can neither run nor load anything.
 */
import { readFileSync, statSync } from "node:fs";
import { html } from "../values/html.ts";
import { type Look, makeLook } from "./design.ts";

export type OperatorLook = {
  readonly name: string;
  /** Where the pages are: by it a logo without a name is told to who cannot see it. */
  readonly host: string;
  readonly accent: string;
  readonly logoFile: string;
  /** A logo that cannot be shown keeps nobody from paying. */
  readonly onBadLogo: (cause: string) => void;
};

const logoBytesMax = 64 * 1024;

export function openLook({ name, host, accent, logoFile, onBadLogo }: OperatorLook): Look {
  const logo = logoFile === "" ? undefined : readLogo(logoFile);
  if (logo instanceof BadLogo) onBadLogo(logo.cause);
  const address = typeof logo === "string" ? logo : undefined;
  if (address === undefined && name === "") return makeLook(accent);
  // Beside its name the image has nothing to add for who cannot see it; alone, it is the name.
  const spoken = name === "" ? host : "";
  const image = address && html`<img src="${address}" alt="${spoken}">`;
  const words = name === "" ? undefined : html`<span>${name}</span>`;
  return makeLook(accent, html`<header class="banner">${image}${words}</header>\n`);
}

class BadLogo {
  readonly cause: string;

  constructor(cause: string) {
    this.cause = cause;
  }
}

function readLogo(path: string): string | BadLogo {
  try {
    if (statSync(path).size > logoBytesMax) return new BadLogo("it is larger than 64 KiB");
    const bytes = readFileSync(path);
    const type = typeOf(bytes);
    if (type === undefined) return new BadLogo("it is neither SVG nor PNG");
    return `data:${type};base64,${bytes.toString("base64")}`;
  } catch (error) {
    return new BadLogo(error instanceof Error ? error.message : String(error));
  }
}

const pngStart = Buffer.from("89504e470d0a1a0a", "hex");
const svgStart =
  /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype svg[^>]*>\s*)?<svg[\s>]/is;

function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, pngStart.length).equals(pngStart)) return "image/png";
  return svgStart.test(bytes.toString("utf8")) ? "image/svg+xml" : undefined;
}
