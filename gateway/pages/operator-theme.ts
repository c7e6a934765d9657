/**
 * The operator's name, logo and colour above the cardholder's pages. The logo is part of every
 * page, so it has to be small; as an image it can neither run scripts nor load anything.
 */
import { readFileSync, statSync } from "node:fs";
import { html } from "../values/html.ts";
import { readPicture } from "../values/picture.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { makeTheme, type Theme } from "./design.ts";

type Options = {
  readonly name: string;
  /** The pages' host: the alternative text of a logo without a name. */
  readonly host: string;
  readonly accent: string;
  readonly logoFile: string;
  readonly isRehearsal: boolean;
  /** A logo that cannot be shown does not stop payments. */
  readonly onBadLogo: (cause: string) => void;
};

const logoBytesMax = 64 * 1024;

export function openTheme({ isRehearsal, ...options }: Options): Theme {
  return { ...makeTheme(options.accent, renderBanner(options)), isRehearsal };
}

function renderBanner({ name, host, logoFile, onBadLogo }: Omit<Options, "isRehearsal">) {
  const logo = logoFile === "" ? undefined : readLogo(logoFile);
  if (logo instanceof Problem) onBadLogo(logo.sentence);
  const address = typeof logo === "string" ? logo : undefined;
  if (address === undefined && name === "") return undefined;
  // Beside the name the image is decoration; alone, it stands for the name.
  const image = address && html`<img src="${address}" alt="${name === "" ? host : ""}">`;
  const words = name === "" ? undefined : html`<span>${name}</span>`;
  return html`<header class="banner">${image}${words}</header>\n`;
}

function readLogo(path: string): string | Problem {
  try {
    if (statSync(path).size > logoBytesMax) return new Problem("it is larger than 64 KiB");
    return readPicture(readFileSync(path), logoBytesMax);
  } catch (error) {
    return new Problem(messageOf(error));
  }
}
