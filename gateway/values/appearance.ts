/** Colours and pictures that operators and merchants choose for pages. */
import { Problem } from "./problem.ts";

export type Colour = readonly [red: number, green: number, blue: number];

/** The light theme's darkest and the dark theme's lightest background of links and buttons. */
export const pageGrounds = { light: "#f6f7f6", dark: "#171e1c" } as const;

const readable = 4.5;
const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
const [light, dark] = [getColour(pageGrounds.light), getColour(pageGrounds.dark)];

/** Reads a colour like `#0f766e` or `#abc`. */
export function parseColour(text: string): Colour | undefined {
  const [, digits = ""] = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text) ?? [];
  const pairs = digits.match(digits.length === 3 ? /./g : /../g) ?? [];
  const [red, green, blue] = pairs.map((pair) => Number.parseInt(pair.padEnd(2, pair), 16));
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return [red, green, blue];
}

export function printColour(colour: Colour): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

export function isReadableOnLight(colour: Colour): boolean {
  return contrast(colour, light) >= readable;
}

/** Adds just enough white for the dark background. */
export function lightenUntilReadable(colour: Colour): Colour {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, white, share);
    if (contrast(mixed, dark) >= readable) return mixed;
  }
  return white;
}

/** Adds just enough black for the light background. */
export function darkenUntilReadable(colour: Colour): Colour {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, black, share);
    if (isReadableOnLight(mixed)) return mixed;
  }
  return black;
}

/** Returns 1 for equal colours and up to 21 for black and white. */
export function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number]; // The result has three parts like the argument.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(one: Colour, other: Colour, share: number): Colour {
  const part = (from: number, to: number) => Math.round(from + (to - from) * share);
  return [part(one[0], other[0]), part(one[1], other[1]), part(one[2], other[2])];
}

function getColour(text: string): Colour {
  const colour = parseColour(text);
  if (colour === undefined) throw new Error(`${text} is no colour`);
  return colour;
}

export function readPicture(bytes: Uint8Array, bytesMax: number): string | Problem {
  if (bytes.length > bytesMax) return new Problem(`it is larger than ${bytesMax / 1024} KiB`);
  const picture = Buffer.from(bytes);
  const type = typeOf(picture);
  if (type === undefined) return new Problem("it is neither SVG nor PNG");
  return `data:${type};base64,${picture.toString("base64")}`;
}

/** A configuration file contains pictures in the form that `readPicture` makes. */
export function isPictureUrl(text: string, bytesMax: number): boolean {
  const [, encoded = ""] = /^data:image\/[a-z+]+;base64,([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  return readPicture(Buffer.from(encoded, "base64"), bytesMax) === text;
}

const pngStart = Buffer.from("89504e470d0a1a0a", "hex");
/** A comment ends at its first `-->`, because it could otherwise be read in several ways. */
const svgStart =
  /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--((?!-->).)*-->\s*)*(<!doctype svg[^>]*>\s*)?<svg[\s>]/is;

function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, pngStart.length).equals(pngStart)) return "image/png";
  return svgStart.test(bytes.toString("utf8")) ? "image/svg+xml" : undefined;
}
