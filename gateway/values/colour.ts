/** Colours of pages, and whether they have the contrast that WCAG 2 requires of text. */

export type Colour = readonly [red: number, green: number, blue: number];

/** Backgrounds of links and buttons: the darker of the light ones, the lighter of the dark ones. */
export const pageGrounds = { light: "#f6f7f6", dark: "#171e1c" } as const;

const readable = 4.5;
const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
const [light, dark] = [getColour(pageGrounds.light), getColour(pageGrounds.dark)];

/** `#0f766e` or `#abc`; nothing for anything else. */
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

/** Mixes in the least white that makes the colour readable on the dark background. */
export function lightenUntilReadable(colour: Colour): Colour {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, white, share);
    if (contrast(mixed, dark) >= readable) return mixed;
  }
  return white;
}

/** Mixes in the least black that makes the colour readable on the light background. */
export function darkenUntilReadable(colour: Colour): Colour {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, black, share);
    if (isReadableOnLight(mixed)) return mixed;
  }
  return black;
}

/** From 1 for the same colour to 21 for black and white. */
export function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number]; // Three parts in, three out.
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
