/** Another library reads the codes from the pictures as they are shown. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import jsQr from "jsqr";
import { renderQrSvg, renderQrText } from "./qr-code.ts";

const urls = [
  "https://pay.example/pay/AAAAAAAAAAAAAAAAAAAAAA",
  `https://pay.example/${"w".repeat(400)}`,
  "http://localhost:8080/pay/-_09azAZ-_09azAZ-_09aw?ä=ß",
];

test("the SVG is read as the URL", () => {
  for (const url of urls) {
    const svg = renderQrSvg(url);
    const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
    const dark = new Set<number>();
    for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
      for (let at = 0; at < Number(length); at += 1) dark.add(Number(y) * size + Number(x) + at);
    }

    assert.equal(
      read(size, (x, y) => dark.has(y * size + x)),
      url,
    );
  }
});

test("the terminal's picture is read as the URL, also on a dark ground", () => {
  for (const url of urls) {
    const lines = renderQrText(url).split("\n");
    const cells = lines.map((line) => [...stripVTControlCharacters(line)]);
    const size = cells[0]?.length ?? 0;
    const isDark = (x: number, y: number) =>
      (y % 2 === 0 ? ["█", "▀"] : ["█", "▄"]).includes(cells[y >> 1]?.[x] ?? " ");

    assert.equal(read(size, isDark), url);
  }
});

/** Draws each module as a square of 4 pixels. */
function read(size: number, isDark: (x: number, y: number) => boolean): string | undefined {
  const side = size * 4;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      if (isDark(x >> 2, y >> 2)) pixels.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
    }
  }
  const code = jsQr.default(pixels, side, side);
  return code === null ? undefined : Buffer.from(code.binaryData).toString();
}
