/** Which files are logos, and that a file that was made for it does not keep a process busy. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readPicture } from "./picture.ts";
import { Problem } from "./problem.ts";

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
