/** Checks that text in both themes of `portal.css` is readable on its background. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { statusColours } from "../language/money-states.ts";

const css = readFileSync(join(import.meta.dirname, "portal.css"), "utf8");

/** The dark theme inherits the variables that it does not set. */
const [light = {}, dark = {}] = [...css.matchAll(/^:root\[data-mantine[^{]*\{([^}]*)\}/gm)].map(
  ([, body = ""]): Readonly<Record<string, string>> =>
    Object.fromEntries(
      [...body.matchAll(/--([\w-]+): (#\w+);/g)].map(([, name, value]) => [name, value]),
    ),
);

function luminance(colour: string): number {
  const hex = colour.length === 4 ? colour.replaceAll(/[0-9a-f]/g, "$&$&") : colour;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
}

// biome-ignore format: a table
const pairs = [
  ...["ground", "side", "raised", "hover", "chosen"].flatMap((on) => [["ink", on], ["quiet", on], ["accent-ink", on]]),
  ...["approved", "declined", "filtered", "processing", "held", "part", "refunded"].flatMap((state) => [[state, `${state}-ground`], [state, "ground"], [state, "raised"]]),
  ["mantine-color-placeholder", "raised"],
];

for (const [name, theme] of [
  ["light", light],
  ["dark", { ...light, ...dark }],
] as const) {
  test(`every text of the ${name} theme has the contrast that WCAG AA requires`, () => {
    const faint = pairs.flatMap(([text = "", ground = ""]) => {
      const [ink = assert.fail(text), paper = assert.fail(ground)] = [theme[text], theme[ground]];
      const ratio = contrast(ink, paper);
      return ratio >= 4.5 ? [] : [`${text} on ${ground}: ${ratio.toFixed(2)}`];
    });

    assert.deepEqual(faint, []);
  });
}

const lists = readFileSync(join(import.meta.dirname, "lists.css"), "utf8");
const lookOf = (selector: string, sheet: string) =>
  sheet.split(`${selector} {`)[1]?.split("}")[0]?.trim() ?? assert.fail(selector);

test("captured, held, refunded, charged back and doubtful money have different colours", () => {
  const { captured, held, partly_refunded, refunded, charged_back, in_doubt, declined } =
    statusColours;
  const shown = [captured, held, partly_refunded, refunded, charged_back, in_doubt, declined];

  const looks = shown.map((colour) => lookOf(`.status[data-status="${colour}"]`, lists));
  assert.equal(new Set(looks).size, shown.length);
});

test("the mark of the production environment does not have the colour of success", () => {
  const production = lookOf('.environment[data-environment="production"]', css);

  assert.doesNotMatch(production, /approved/);
});

test("the contrast ratio is computed as WCAG defines it", () => {
  assert.equal(contrast("#000", "#fff"), 21);
  assert.ok(Math.abs(contrast("#767676", "#ffffff") - 4.54) < 0.01);
});
