/** Colours that are readable by the numbers of WCAG 2, and files that are logos. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  contrast,
  isReadableOnLight,
  lightenUntilReadable,
  pageGrounds,
  parseColour,
  printColour,
  readPicture,
} from "./appearance.ts";
import { Problem } from "./problem.ts";

const black = [0, 0, 0] as const;
const white = [255, 255, 255] as const;

test("colours are three or six hexadecimal digits", () => {
  assert.deepEqual(parseColour("#0f766e"), [15, 118, 110]);
  assert.deepEqual(parseColour("#ABC"), [170, 187, 204]);
  for (const text of ["", "red", "0f766e", "#0f76", "#0f766g", "#0f766e;}", "#0f766e00"]) {
    assert.equal(parseColour(text), undefined, text);
  }
});

test("contrast goes from one to twenty-one", () => {
  assert.equal(contrast(black, white), 21);
  assert.equal(contrast(white, black), 21);
  assert.equal(contrast(white, white), 1);
  assert.equal(contrast([118, 118, 118], white).toFixed(2), "4.54");
});

test("what cannot be read on the light ground is told, what can is lightened for the dark", () => {
  // biome-ignore format: a table
  const colours = [
    ["#0f766e", true], ["#000000", true], ["#1d4ed8", true], ["#7c2d12", true],
    ["#ffffff", false], ["#ffd400", false], ["#4fd1c0", false], ["#808080", false],
  ] as const;
  const dark = parseColour(pageGrounds.dark) ?? black;

  for (const [text, expected] of colours) {
    const colour = parseColour(text) ?? black;
    assert.equal(isReadableOnLight(colour), expected, text);
    const lightened = lightenUntilReadable(colour);
    assert.ok(contrast(lightened, dark) >= 4.5, printColour(lightened));
  }
});

const bytesMax = 65_536;
const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
const comments = `<!--${"-> ".repeat(115)}-->`.repeat(60);

// biome-ignore format: a table
const files: readonly (readonly [what: string, text: string, isPicture: boolean])[] = [
  ["an SVG",                                  svg,                                              true],
  ["an SVG with all that may come before it", `\uFEFF<?xml version="1.0"?>\n<!-- a -->\n<!-- b --><!DOCTYPE svg>\n${svg}`, true],
  ["an SVG after sixty comments",             `${comments}${svg}`,                              true],
  ["sixty comments and no SVG",               `${comments}<html>`,                              false],
  ["a comment that does not end",             `<!--${"<!--".repeat(10_000)}`,                   false],
  ["a page",                                  "<html><svg></svg></html>",                       false],
];

for (const [what, text, isPicture] of files) {
  test(`${what} is ${isPicture ? "a" : "no"} picture, and is read in linear time`, () => {
    const before = process.threadCpuUsage();

    const read = readPicture(Buffer.from(text), bytesMax);

    assert.equal(!(read instanceof Problem), isPicture);
    assert.ok(process.threadCpuUsage(before).user < 100_000);
  });
}
