/** The form fields PaReq and PaRes: what browsers do to them, and what attackers do. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { packPa, ThreeDsFault, unpackPa, writePaReq } from "./index.ts";
import { paReq } from "./samples.ts";

const xml = writePaReq(paReq);

test("a packed message is a zlib stream in base64 and comes back", () => {
  const packed = packPa(xml);

  assert.match(packed, /^eJ[A-Za-z0-9+/]+=*$/);
  assert.equal(unpackPa(packed), xml);
});

test("any text comes back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      assert.equal(unpackPa(packPa(`<a>${text}`)), `<a>${text}`);
    }),
  );
});

test("pluses that a form turned into spaces are restored", () => {
  const packed = packPa(vary("+"));

  assert.match(packed, /\+/);
  assert.equal(unpackPa(packed.replaceAll("+", " ")), vary("+"));
});

test("base64 in lines is read", () => {
  const packed = packPa(xml);

  assert.equal(unpackPa(packed.replace(/.{76}/g, "$&\r\n")), xml);
  assert.equal(unpackPa(`${packed.replace(/.{64}/g, "$&\n")}\n`), xml);
});

test("raw deflate is read as well", () => {
  assert.equal(unpackPa(deflateRawSync(xml).toString("base64")), xml);
  assert.equal(unpackPa(deflateRawSync(xml, { level: 0 }).toString("base64")), xml);
});

// biome-ignore format: a table
const broken: readonly (readonly [what: string, text: string])[] = [
  ["empty",               ""],
  ["no base64",           "eJ-_"],
  ["cut base64",          packPa(xml).slice(0, -3)],
  ["padding inside",      `eJ==${packPa(xml)}`],
  ["plain XML",           Buffer.from(xml).toString("base64")],
  ["gzip",                gzipSync(xml).toString("base64")],
  ["cut stream",          deflateSync(xml).subarray(0, 100).toString("base64")],
  ["wrong checksum",      Buffer.concat([deflateSync(xml).subarray(0, -4), Buffer.alloc(4)]).toString("base64")],
  ["bytes outside UTF-8", deflateSync(Buffer.from([0x3c, 0xe4, 0x3e])).toString("base64")],
];

test("broken base64, streams and characters are refused", () => {
  for (const [what, text] of broken) {
    assert.deepEqual(unpackPa(text), new ThreeDsFault("malformed_encoding"), what);
  }
});

test("a bomb is refused without being inflated", () => {
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024)).toString("base64");
  const raw = deflateRawSync(Buffer.alloc(1024 * 1024)).toString("base64");
  const before = process.memoryUsage().arrayBuffers;

  assert.deepEqual(unpackPa(bomb), new ThreeDsFault("too_large"));
  assert.deepEqual(unpackPa(bomb, { maxBytes: 1024 * 1024 }), new ThreeDsFault("too_large"));
  assert.deepEqual(unpackPa(raw), new ThreeDsFault("too_large"));
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
});

test("the limit is the size of the XML, to the byte", () => {
  const packed = packPa("x".repeat(1000));

  assert.equal(unpackPa(packed, { maxBytes: 1000 }), "x".repeat(1000));
  assert.deepEqual(unpackPa(packed, { maxBytes: 999 }), new ThreeDsFault("too_large"));
  assert.deepEqual(unpackPa("A".repeat(1_000_000)), new ThreeDsFault("too_large"));
});

test("whatever is posted, unpacking answers", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      const result = unpackPa(text);
      assert.ok(typeof result === "string" || result instanceof ThreeDsFault);
    }),
  );
});

/** A message whose packed form has the character in question. */
function vary(wanted: string): string {
  for (let count = 0; ; count += 1) {
    const text = `${xml}${count}`;
    if (packPa(text).includes(wanted)) return text;
  }
}
